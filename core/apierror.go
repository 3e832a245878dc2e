package core

import (
	"fmt"
	"time"
)

// ErrorKind is what an API's refusal means, for every server alike.
type ErrorKind string

// The kinds of errors.
const (
	ErrForbidden       ErrorKind = "forbidden"         // 403
	ErrUnauthorized    ErrorKind = "login refused"     // 401: the login was refused or has expired
	ErrNotFound        ErrorKind = "not found"         // 404
	ErrConflict        ErrorKind = "conflict"          // 409, or a JSON patch whose test failed
	ErrInvalid         ErrorKind = "invalid"           // 400, 422
	ErrTooManyRequests ErrorKind = "too many requests" // 429
	ErrServer          ErrorKind = "server error"      // 5xx
	ErrTimeout         ErrorKind = "timeout"           // no answer in time: the call may have been carried out
	ErrUnreachable     ErrorKind = "unreachable"       // no connection
	ErrConfiguration   ErrorKind = "configuration"     // a broken kubeconfig, a missing clouds.yaml, an unknown context
	ErrUnsupported     ErrorKind = "unsupported"       // the cloud is too old for it
	// any other: a refusal if its Status is 4xx, else an answer that does not come from the API
	ErrOther ErrorKind = "error"
)

// APIError is a call that failed, in words for the operator. Adapters make them. It holds no secret, and is not sanitised for a
// terminal.
type APIError struct {
	Kind    ErrorKind
	Server  Server
	Call    string // what was being done, "list nodes", "live-migrate web-1 (0ab4dd8f)"
	Message string // the server's own words, cut to 4 KiB
	Remedy  string // what the operator can do; may be empty
	Status  int    // the HTTP status; 0 when there was no answer
	Err     error  // the cause; may be nil

	After time.Duration // how long the server asks to wait before the next try; 0 when it asks for nothing
}

// Error is "call: kind: message".
func (e *APIError) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("%s: %s", e.Call, e.Kind)
	}
	return fmt.Sprintf("%s: %s: %s", e.Call, e.Kind, e.Message)
}

// Unwrap is the cause.
func (e *APIError) Unwrap() error { return e.Err }

// Uncertain tells whether the call may have been carried out although it failed: the answer was lost, or is not one of the API's
// (an unexpected status, an unreadable body). Only a refusal is certain.
func (e *APIError) Uncertain() bool {
	switch e.Kind {
	case ErrTimeout, ErrUnreachable, ErrServer:
		return true
	case ErrOther:
		return e.Status < 400
	}
	return false
}

// MayPass tells whether the same call may be answered a moment later: the server was there, and was not able to. A login, a right or a
// setting does not change by itself, and a server that is not reached at all is mostly the wrong one.
func (e *APIError) MayPass() bool {
	switch e.Kind {
	case ErrServer, ErrTooManyRequests:
		return true
	case ErrOther:
		return e.Status < 400
	}
	return false
}

// Cause is why a call failed, in two or three words: "login refused", "unreachable".
func (e *APIError) Cause() string {
	switch e.Kind {
	case ErrTimeout:
		return "no answer"
	case ErrConfiguration:
		return "misconfigured"
	case ErrUnsupported:
		return "not supported"
	case ErrServer:
		if e.Status != 0 {
			return fmt.Sprintf("%s %d", e.Kind, e.Status)
		}
	case ErrOther:
		return "failed"
	}
	return string(e.Kind)
}

// WholeServer tells whether the cause is the server or the login as a whole, and not the one call.
func (e *APIError) WholeServer() bool {
	switch e.Kind {
	case ErrUnauthorized, ErrUnreachable, ErrTimeout, ErrConfiguration, ErrServer:
		return true
	}
	return false
}
