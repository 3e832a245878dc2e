package kubeapi

import (
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// writeJSON answers with value as JSON.
func writeJSON(w http.ResponseWriter, code int, value any) {
	raw, err := json.Marshal(value)
	if err != nil {
		writeError(w, apierrors.NewInternalError(err))
		return
	}
	writeRaw(w, code, append(raw, '\n'))
}

func writeRaw(w http.ResponseWriter, code int, raw []byte) { writeMedia(w, code, mediaJSON, raw) }

func writeMedia(w http.ResponseWriter, code int, media string, raw []byte) {
	w.Header().Set("Content-Type", media)
	w.Header().Set("Content-Length", strconv.Itoa(len(raw)))
	w.WriteHeader(code)
	_, _ = w.Write(raw) // the client is gone; net/http notices
}

// writeError answers with a Status. An error of any other type is an internal error, as in the real server.
func writeError(w http.ResponseWriter, err error) {
	status := statusOf(err)
	if details := status.Details; details != nil && details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(int(details.RetryAfterSeconds)))
	}
	writeJSON(w, int(status.Code), status)
}

// statusOf returns the Status of an error on the wire.
func statusOf(err error) metav1.Status {
	var known apierrors.APIStatus
	status := metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}
	if errors.As(err, &known) {
		status = known.Status()
	}
	status.Kind, status.APIVersion = "Status", "v1"
	if status.Status == "" {
		status.Status = metav1.StatusFailure
	}
	if status.Code == 0 {
		status.Code = http.StatusInternalServerError
	}
	return status
}

// warn adds warnings to the answer; kubectl and client-go print warnings.
func warn(w http.ResponseWriter, warnings []string) {
	for _, text := range warnings {
		w.Header().Add("Warning", `299 - `+strconv.Quote(text))
	}
}

// form is the shape in which a client requests an object or a list.
type form int

const (
	formObject   form = iota // as it is
	formTable                // meta.k8s.io Table, for kubectl get
	formMetadata             // meta.k8s.io PartialObjectMetadata, for the metadata client
)

var errNotAcceptable = &apierrors.StatusError{ErrStatus: metav1.Status{
	Status: metav1.StatusFailure, Code: http.StatusNotAcceptable, Reason: metav1.StatusReasonNotAcceptable,
	Message: "only the following media types are accepted: application/json",
}}

// negotiate reads the Accept header and picks the first form that this server supports. Protobuf, CBOR and YAML are not
// supported; real clients also accept JSON.
func negotiate(r *http.Request) (form, error) {
	header := r.Header.Get("Accept")
	if header == "" {
		return formObject, nil
	}
	for _, clause := range strings.Split(header, ",") {
		media, params, err := mime.ParseMediaType(strings.TrimSpace(clause))
		if err != nil {
			continue
		}
		if media != "application/json" && media != "*/*" && media != "application/*" {
			continue
		}
		switch params["as"] {
		case "":
			return formObject, nil
		case "Table":
			if params["g"] == "meta.k8s.io" && params["v"] == "v1" {
				return formTable, nil
			}
		case "PartialObjectMetadata", "PartialObjectMetadataList":
			if params["g"] == "meta.k8s.io" && params["v"] == "v1" {
				return formMetadata, nil
			}
		}
	}
	return formObject, errNotAcceptable
}
