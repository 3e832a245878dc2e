package kubeapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// The media types of bodies.
const (
	mediaJSON     = "application/json"
	mediaYAML     = "application/yaml"
	mediaProtobuf = "application/vnd.kubernetes.protobuf"
)

// strictCodecs decode built-in kinds and report unknown fields.
var strictCodecs = serializer.NewCodecFactory(scheme.Scheme, serializer.EnableStrict)

// unsupportedMedia is the answer to a body in an unsupported format.
func unsupportedMedia(accepted ...string) *apierrors.StatusError {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: 415, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: "the body of the request was in an unknown format - accepted media types include: " + strings.Join(accepted, ", "),
	}}
}

// body decodes the object in a request's body, checks that its kind is the resource's, and drops fields that the kind
// does not have, with a warning or an error according to the policy (a value of fieldValidation).
func (s *Server) body(c *call, r *resource, policy string) (map[string]any, error) {
	raw := c.body
	var err error
	switch c.contentType {
	case mediaJSON, "":
	case mediaYAML:
		if raw, err = yaml.YAMLToJSON(raw); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
	case mediaProtobuf:
		if r.typed {
			return decodeProtobuf(r, raw)
		}
		fallthrough
	default:
		return nil, unsupportedMedia(mediaJSON, mediaYAML, mediaProtobuf)
	}
	content, unknown, err := decodeContent(r, raw)
	if err != nil {
		return nil, err
	}
	return content, report(c, r, policy, unknown, func(problem error) error {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", r.kind, r.Version, r.kind, problem))
	})
}

// report reports unknown fields as the client requested: not at all, as warnings, or as an error built by refuse.
func report(c *call, r *resource, policy string, unknown []error, refuse func(error) error) error {
	switch {
	case len(unknown) == 0 || policy == metav1.FieldValidationIgnore:
		return nil
	case policy == metav1.FieldValidationStrict:
		return refuse(runtime.NewStrictDecodingError(unknown))
	}
	for _, one := range unknown {
		warn(c.w, []string{one.Error()})
	}
	return nil
}

// decodeContent decodes JSON as an object of the resource's kind. It drops the fields that the kind does not have, and
// returns their paths.
func decodeContent(r *resource, raw []byte) (content map[string]any, unknown []error, err error) {
	if r.typed {
		return decodeTyped(r, raw)
	}
	if err := decodeJSON(raw, &content); err != nil {
		return nil, nil, unrecognized(r, fmt.Sprintf("couldn't get version/kind; json parse error: %v", err), raw)
	}
	if accessor(content).GetKind() == "" {
		return nil, nil, unrecognized(r, fmt.Sprintf("Object 'Kind' is missing in '%s'", raw), raw)
	}
	unknown, err = clean(r, content)
	if err != nil {
		return nil, nil, err
	}
	return content, unknown, nil
}

// clean drops the fields of an untyped object that its kind does not have, and returns their paths.
func clean(r *resource, content map[string]any) (unknown []error, err error) {
	if err := checkKind(r, content); err != nil {
		return nil, err
	}
	if err := cleanMetadata(content); err != nil {
		return nil, err
	}
	if r.schema != nil {
		for _, path := range r.schema.prune(content) {
			unknown = append(unknown, fmt.Errorf("unknown field %q", path))
		}
	}
	return unknown, nil
}

// unrecognized is the answer to a body that is not an object; it quotes the beginning.
func unrecognized(r *resource, problem string, raw []byte) error {
	summary := string(raw)
	switch {
	case summary == "":
		summary = "<empty>"
	case len(summary) > 30:
		summary = summary[:30] + " ..."
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %s (%s)", r.kind, problem, summary))
}

// checkKind compares apiVersion and kind of an untyped object with those of the resource.
func checkKind(r *resource, content map[string]any) error {
	object := accessor(content)
	switch version, kind := object.GetAPIVersion(), object.GetKind(); {
	case version != r.GroupVersion().String():
		return apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)", version,
			r.GroupVersion()))
	case kind != r.kind:
		return apierrors.NewInvalid(groupKind(r.Group, kind), object.GetName(), invalidKind(kind, r.kind))
	}
	return nil
}

// cleanMetadata removes from an untyped object's metadata all fields that ObjectMeta does not have.
func cleanMetadata(content map[string]any) error {
	given, found := content["metadata"]
	if !found || given == nil {
		content["metadata"] = map[string]any{}
		return nil
	}
	if isClean(given) {
		return nil
	}
	clean, err := knownMetadata(given)
	if err != nil {
		return err
	}
	content["metadata"] = clean
	return nil
}

// knownMetadata is metadata after a way through ObjectMeta.
func knownMetadata(given any) (map[string]any, error) {
	raw, err := json.Marshal(given)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	var known metav1.ObjectMeta
	if err := json.Unmarshal(raw, &known); err != nil {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("metadata: %v", err))
	}
	clean, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&known)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if known.CreationTimestamp.IsZero() {
		delete(clean, "creationTimestamp")
	}
	return clean, nil
}

// isClean tells whether metadata is as ObjectMeta would be encoded. Only fields that most objects have are looked at; any other one
// says no.
func isClean(metadata any) bool {
	fields, ok := metadata.(map[string]any)
	if !ok {
		return false
	}
	for name, value := range fields {
		ok := false
		switch name {
		case "name", "namespace", "uid", "resourceVersion", "generateName":
			text, isText := value.(string)
			ok = isText && text != ""
		case "generation":
			number, isNumber := value.(int64)
			ok = isNumber && number != 0
		case "creationTimestamp", "deletionTimestamp":
			text, _ := value.(string)
			at, err := time.Parse(time.RFC3339, text)
			ok = err == nil && !at.IsZero() && at.UTC().Format(time.RFC3339) == text
		case "labels", "annotations":
			texts, isMap := value.(map[string]any)
			ok = isMap && len(texts) > 0
			for _, one := range texts {
				_, isText := one.(string)
				ok = ok && isText
			}
		case "finalizers":
			list, isList := value.([]any)
			ok = isList && len(list) > 0
			for _, one := range list {
				_, isText := one.(string)
				ok = ok && isText
			}
		}
		if !ok {
			return false
		}
	}
	return true
}

// decodeTyped decodes a built-in kind by its Go type.
func decodeTyped(r *resource, raw []byte) (map[string]any, []error, error) {
	expected := r.kindOf()
	decoded, found, err := strictCodecs.UniversalDeserializer().Decode(raw, &expected, nil)
	var unknown []error
	if strict, ok := runtime.AsStrictDecodingError(err); ok && decoded != nil {
		unknown, err = strict.Errors(), nil
	}
	if err != nil && found != nil && found.Kind != "" {
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", found.Kind, found.Version, r.kind,
			err))
	}
	if err != nil {
		return nil, nil, unrecognized(r, err.Error(), raw)
	}
	if found != nil && found.GroupVersion() != r.GroupVersion() {
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("the API version in the data (%s) does not match the expected API version (%s)",
			found.GroupVersion(), r.GroupVersion()))
	}
	if found != nil && found.Kind != r.kind {
		return nil, nil, apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: the object is of another kind",
			found.Kind, found.Version, r.kind))
	}
	content, err := encodeTyped(r, decoded)
	return content, unknown, err
}

func decodeProtobuf(r *resource, raw []byte) (map[string]any, error) {
	expected := r.kindOf()
	decoded, found, err := scheme.Codecs.UniversalDeserializer().Decode(raw, &expected, nil)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if found != nil && *found != expected {
		return nil, apierrors.NewBadRequest(fmt.Sprintf("the body is a %s, not a %s", found, expected))
	}
	return encodeTyped(r, decoded)
}

// encodeTyped turns a typed object into content.
func encodeTyped(r *resource, typed runtime.Object) (map[string]any, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	if metadata, ok := content["metadata"].(map[string]any); ok && metadata["creationTimestamp"] == nil {
		delete(metadata, "creationTimestamp")
	}
	accessor(content).SetGroupVersionKind(r.kindOf())
	return content, nil
}

// decodeOptions decodes the options in the body of a deletion, in JSON or protobuf.
func decodeOptions(c *call, into *metav1.DeleteOptions) error {
	if len(c.body) == 0 {
		return nil
	}
	switch c.contentType {
	case mediaJSON, "":
		if err := json.Unmarshal(c.body, into); err != nil {
			return apierrors.NewBadRequest(fmt.Sprintf("decode DeleteOptions: %v", err))
		}
	case mediaProtobuf:
		kind := metav1.SchemeGroupVersion.WithKind("DeleteOptions")
		decoded, _, err := scheme.Codecs.UniversalDeserializer().Decode(c.body, &kind, nil)
		if err != nil {
			return apierrors.NewBadRequest(err.Error())
		}
		options, ok := decoded.(*metav1.DeleteOptions)
		if !ok {
			return apierrors.NewBadRequest(errors.New("the body is no DeleteOptions").Error())
		}
		*into = *options
	default:
		return unsupportedMedia(mediaJSON, mediaYAML, mediaProtobuf)
	}
	return nil
}
