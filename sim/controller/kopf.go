package controller

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// The real controller runs under kopf, which keeps its state in annotations of the objects it serves. So any later run
// of the controller retries a failed handler when it is due.
const (
	kopfPrefix        = "kopf.zalando.org/"
	annotationHandled = kopfPrefix + "last-handled-configuration"
)

// Why a handler is called.
const (
	purposeCreate = "create"
	purposeUpdate = "update"
	purposeResume = "resume"
	purposeDelete = "delete"
)

// progress is what kopf stores about a failed handler that will be retried. Its fields are in kopf's order.
type progress struct {
	Started string `json:"started"` // when it was first called
	Delayed string `json:"delayed"` // when it is called again; in the past: it is running
	Purpose string `json:"purpose"`
	Retries int    `json:"retries"` // how often it has failed
	Success bool   `json:"success"`
	Failure bool   `json:"failure"`
	Message string `json:"message"` // the words of the last exception
}

// due is when the handler is called again.
func (p *progress) due() time.Time {
	at, err := time.Parse(kopfTime, p.Delayed)
	if err != nil {
		return time.Time{} // not written by kopf: at once
	}
	return at
}

const kopfTime = "2006-01-02T15:04:05.000000-07:00"

func kopfStamp(t time.Time) string { return t.UTC().Format(kopfTime) }

// progressOf is what kopf has stored about a handler on an object; nil if nothing.
func progressOf(object *unstructured.Unstructured, handler string) *progress {
	kept := &progress{}
	if json.Unmarshal([]byte(object.GetAnnotations()[kopfPrefix+handler]), kept) != nil {
		return nil
	}
	return kept
}

// essence is the part of an object that kopf compares to detect a change, in kopf's form: the spec, the labels, and the
// annotations except kopf's own.
func essence(object *unstructured.Unstructured) string {
	type metadata struct {
		Labels      map[string]string `json:"labels,omitempty"`
		Annotations map[string]string `json:"annotations,omitempty"`
	}
	kept := struct {
		Spec     any       `json:"spec,omitempty"`
		Metadata *metadata `json:"metadata,omitempty"`
	}{Spec: object.Object["spec"]}
	if m := (metadata{object.GetLabels(), foreign(object.GetAnnotations())}); len(m.Labels)+len(m.Annotations) > 0 {
		kept.Metadata = &m
	}
	return compactJSON(kept) + "\n"
}

// Handled marks an object, before it is created, as already handled by the OpenStack controller.
func Handled(object *unstructured.Unstructured) {
	handled := essence(object)
	all := object.GetAnnotations()
	if all == nil {
		all = map[string]string{}
	}
	all[annotationHandled] = handled
	object.SetAnnotations(all)
}

// superseded removes the progress of the object's other handler: a deletion ends earlier tries, and kopf forgets them
// when the deletion's first try ends.
func (s service) superseded(object *unstructured.Unstructured, by handler, changes map[string]any) {
	for _, h := range []handler{s.changed, s.deleted} {
		if _, there := object.GetAnnotations()[kopfPrefix+h.name]; there && h.there() && h.name != by.name {
			changes[kopfPrefix+h.name] = nil
		}
	}
}

// foreign are the annotations that belong neither to kopf nor to kubectl.
func foreign(annotations map[string]string) map[string]string {
	left := map[string]string{}
	for key, value := range annotations {
		if !strings.HasPrefix(key, kopfPrefix) && key != "kubectl.kubernetes.io/last-applied-configuration" {
			left[key] = value
		}
	}
	return left
}

// compactJSON is what Python writes with separators=(',', ':').
func compactJSON(v any) string {
	var raw bytes.Buffer
	encoder := json.NewEncoder(&raw)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return "" // cannot happen: the value came from JSON
	}
	return asciiJSON(strings.TrimSuffix(raw.String(), "\n"))
}

// asciiJSON escapes what is not printable ASCII, as Python does by default.
func asciiJSON(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r < 0x7f:
			b.WriteRune(r) // Go has escaped the control characters
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
	}
	return b.String()
}

// exception is a Python exception that no lock shows.
type exception struct{ class, text string }

func (e exception) Error() string { return e.class + ": " + e.text }

// raised is str() of the exception with which a handler ended.
func raised(err error) string {
	var wish errLater
	var thrown exception
	var status apierrors.APIStatus
	switch {
	case errors.As(err, &wish):
		return wish.text
	case errors.As(err, &thrown):
		return thrown.text
	case isOpenStackError(err):
		return sdkText(err)
	case errors.As(err, &status) && status.Status().Message != "":
		return status.Status().Message
	}
	return err.Error()
}
