package core

import "fmt"

// Cause is why a call failed in two or three words, for where there is room for no more: "login refused", "unreachable".
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

// WholeServer tells whether the cause is the server's or the login's as a whole, and no matter of what was asked for.
func (e *APIError) WholeServer() bool {
	switch e.Kind {
	case ErrUnauthorized, ErrUnreachable, ErrTimeout, ErrConfiguration, ErrServer:
		return true
	}
	return false
}

// AsksNobody tells whether the source can be live while its server is not asked: where no node is in maintenance, no pods are listed.
func (s Source) AsksNobody() bool { return s.ID == SourceNodePods && s.State == SourceLive }

// trouble is the error of a source that is out of order for a reason; nil when it is not, or when its state says it all.
func (s Source) trouble() *APIError {
	switch s.State {
	case SourceStale, SourceFailed, SourceForbidden:
		return s.Err
	}
	return nil
}
