package controller

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
)

// openstackError marks an error that is an SDKException in the real controller.
type openstackError struct {
	doing string
	err   error
}

func (e openstackError) Error() string { return e.doing + ": " + e.err.Error() }
func (e openstackError) Unwrap() error { return e.err }

// openstackErr wraps a failure of OpenStack's APIs with the action; nil stays nil.
func openstackErr(doing string, err error) error {
	if err == nil {
		return nil
	}
	return openstackError{doing, err}
}

func isOpenStackError(err error) bool {
	var marked openstackError
	return errors.As(err, &marked)
}

var markup = regexp.MustCompile(`<[^>]*>`)

// sdkText is what openstacksdk makes of a failed request, such as
//
//	HttpException: 503: Server Error for url: http://nova.it.just.works/v2.1/os-services, 503 Service Temporarily Unavailable: nginx
//
// A request without an answer gets keystoneauth's words.
func sdkText(err error) string {
	var answer gophercloud.ErrUnexpectedResponseCode
	if !errors.As(err, &answer) {
		cause := err
		for next := errors.Unwrap(cause); next != nil; next = errors.Unwrap(next) {
			cause = next
		}
		return "Unable to establish connection: " + cause.Error()
	}
	class, side := "HttpException", "Client"
	switch answer.Actual {
	case http.StatusBadRequest:
		class = "BadRequestException"
	case http.StatusNotFound:
		class = "NotFoundException"
	case http.StatusConflict:
		class = "ConflictException"
	case http.StatusForbidden:
		class = "ForbiddenException"
	}
	if answer.Actual >= http.StatusInternalServerError {
		side = "Server"
	}
	text := fmt.Sprintf("%s: %d: %s Error for url: %s", class, answer.Actual, side, answer.URL)
	if details := sdkDetails(answer.Body); details != "" {
		text += ", " + details
	}
	return text
}

// sdkDetails is the message in an answer: from Nova's JSON, or the text of a page without its markup, each line once.
func sdkDetails(body []byte) string {
	var parsed map[string]json.RawMessage
	if json.Unmarshal(body, &parsed) == nil {
		for _, raw := range parsed {
			var fault struct{ Message string }
			if json.Unmarshal(raw, &fault) == nil && fault.Message != "" {
				return fault.Message
			}
		}
		return ""
	}
	var lines []string
	seen := map[string]bool{"": true}
	for line := range strings.Lines(string(body)) {
		line = strings.TrimSpace(markup.ReplaceAllString(line, ""))
		if !seen[line] {
			seen[line] = true
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, ": ")
}
