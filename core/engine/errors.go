package engine

import (
	"errors"
	"fmt"

	"lockstep/core"
)

// ErrRefused is the error of a step that the gate or a check does not let through; the error that wraps it says why.
var ErrRefused = errors.New("refused")

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrRefused, fmt.Sprintf(format, args...))
}

func asAPIError(err error, call string) *core.APIError {
	var api *core.APIError
	if errors.As(err, &api) {
		return api
	}
	return &core.APIError{Kind: core.ErrOther, Call: call, Message: err.Error(), Err: err}
}

// isGone tells whether a server says that the object does not exist, or that another object has its name by now. In OpenStack objects are
// asked for by their IDs, which are never given away again: a conflict there says nothing of the object.
func isGone(err error) bool {
	var api *core.APIError
	return errors.As(err, &api) && (api.Kind == core.ErrNotFound || api.Kind == core.ErrConflict && api.Server != core.ServerOpenStack)
}

// uncertain tells whether a write may have been made although its call failed: every error that is not a clear refusal.
func uncertain(err error) bool {
	var api *core.APIError
	if errors.As(err, &api) {
		return api.Uncertain()
	}
	return !errors.Is(err, ErrRefused)
}

// errorText is an error for an operation's line: the server's own words, if there are any.
func errorText(err error) string {
	var api *core.APIError
	if errors.As(err, &api) && api.Message != "" {
		return fmt.Sprintf("%s: %s", api.Kind, api.Message)
	}
	return err.Error()
}
