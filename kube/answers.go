package kube

import (
	"fmt"
	"net/http"
	"strings"
)

// strangeError is an answer to a write that cannot be the API server's: something on the way gave it.
type strangeError struct{ text string }

func (e *strangeError) Error() string { return "the answer is not the API's: " + e.text }

// strangeAnswer rejects an answer to a write that only looks like a success: a page, or a redirection, which would be followed with
// a read. It is then unknown whether the write was made. The answer is closed.
func strangeAnswer(r *http.Request, resp *http.Response) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead || resp.StatusCode >= http.StatusBadRequest {
		return nil
	}
	kind := resp.Header.Get("Content-Type")
	if resp.StatusCode < http.StatusMultipleChoices && strings.Contains(kind, "json") {
		return nil
	}
	if kind == "" && resp.StatusCode == http.StatusOK && resp.ContentLength <= 0 && mayBeEmpty(r.Context()) {
		return nil
	}
	resp.Body.Close()
	if kind == "" {
		kind = "no type"
	}
	return &strangeError{fmt.Sprintf("%s, with %s", resp.Status, cut(kind))}
}
