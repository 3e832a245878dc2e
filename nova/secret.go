package nova

import (
	"errors"
	"strings"
)

// hidden stands where a secret stood.
const hidden = "(hidden)"

// redact takes secrets out of a text that came from a server or a library. A server may echo what it was sent.
func redact(text string, secrets []string) string {
	for _, s := range secrets {
		// Shorter ones would only cut words to pieces; nobody can guess a secret from them either.
		if len(s) >= 4 {
			text = strings.ReplaceAll(text, s, hidden)
		}
	}
	return text
}

// redacted is an error whose text has no secrets. It can be asked what it was, and cannot be unwrapped.
type redacted struct {
	text  string
	cause error
}

// Error is the text without secrets.
func (r *redacted) Error() string { return r.text }

// GoString keeps %#v from printing the cause.
func (r *redacted) GoString() string { return r.text }

// Is answers for the cause.
func (r *redacted) Is(target error) bool { return errors.Is(r.cause, target) }
