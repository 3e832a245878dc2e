package kubeapi

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	internalscheme "k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme"
	internalvalidation "k8s.io/apimachinery/pkg/apis/meta/internalversion/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The real server's words for a chunk whose list is gone.
const (
	inconsistentText = "The provided continue parameter is too old to display a consistent list result. You can start a new list without " +
		"the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the " +
		"provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk " +
		"was returned and now may show up in the list."
	expiredText = "The resourceVersion for the provided list is too old."
)

// listQuery holds the parameters of a list, a watch or a deletion of a collection.
type listQuery struct {
	internalversion.ListOptions
	resource  *resource
	namespace string
	labels    labels.Selector
	fields    fields.Selector
}

// readListQuery reads and checks the parameters.
func readListQuery(c *call, r *resource) (*listQuery, error) {
	q := &listQuery{resource: r, namespace: c.objectNamespace(r), labels: labels.Everything(), fields: fields.Everything()}
	if err := readListOptions(c.query, &q.ListOptions); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if problems := internalvalidation.ValidateListOptions(&q.ListOptions, true); len(problems) > 0 {
		return nil, apierrors.NewInvalid(schema.GroupKind{Group: metav1.GroupName, Kind: "ListOptions"}, "", problems)
	}
	if q.LabelSelector != nil {
		q.labels = q.LabelSelector
	}
	if q.FieldSelector != nil {
		q.fields = q.FieldSelector
		for _, requirement := range q.fields.Requirements() {
			if err := r.checkFieldLabel(requirement.Field); err != nil {
				return nil, err
			}
		}
	}
	return q, nil
}

// readListOptions decodes the parameters of a list. What informers send is read here: client-go's decoder goes through all fields of two
// types, which was a fifth of the work of a watch on which nothing happens.
func readListOptions(query url.Values, options *internalversion.ListOptions) error {
	var plain internalversion.ListOptions
	for name, values := range query {
		if len(values) != 1 || !readListOption(&plain, name, values[0]) {
			return internalscheme.ParameterCodec.DecodeParameters(query, metav1.SchemeGroupVersion, options)
		}
	}
	*options = plain
	return nil
}

// readListOption reads one parameter; false if that is for client-go's decoder.
func readListOption(o *internalversion.ListOptions, name, value string) bool {
	number := func() (int64, bool) {
		n, err := strconv.ParseInt(value, 10, 64)
		return n, err == nil
	}
	ok := true
	switch name {
	case "watch":
		o.Watch, ok = true, value == "true" || value == "1"
	case "allowWatchBookmarks":
		o.AllowWatchBookmarks, ok = true, value == "true" || value == "1"
	case "resourceVersion":
		o.ResourceVersion = value
	case "resourceVersionMatch":
		o.ResourceVersionMatch = metav1.ResourceVersionMatch(value)
	case "continue":
		o.Continue = value
	case "limit":
		o.Limit, ok = number()
	case "timeoutSeconds":
		var seconds int64
		seconds, ok = number()
		o.TimeoutSeconds = &seconds
	default:
		return false
	}
	return ok
}

func (r *resource) checkFieldLabel(label string) error {
	if label == "metadata.name" || label == "metadata.namespace" && r.namespaced || slices.Contains(r.fields, label) {
		return nil
	}
	if r.custom() || r.fields != nil {
		return apierrors.NewBadRequest("field label not supported: " + label)
	}
	return apierrors.NewBadRequest(fmt.Sprintf("%q is not a known field selector: only %q, %q", label, "metadata.name", "metadata.namespace"))
}

// within tells whether an object is in the requested namespace.
func (q *listQuery) within(o *object) bool {
	n := len(q.namespace)
	return n == 0 || len(o.key) > n && o.key[n] == '/' && o.key[:n] == q.namespace
}

// matches tells whether an object is one of those requested.
func (q *listQuery) matches(o *object) bool {
	if !q.within(o) {
		return false
	}
	if !q.labels.Empty() && !q.labels.Matches(objectLabels(o.content)) {
		return false
	}
	return q.fields.Empty() || q.fields.Matches(objectFields{q.resource.shown(o).content})
}

// objectLabels returns an object's labels as label selectors read them: without a copy, for a watch looks at each pod of the cluster.
func objectLabels(content map[string]any) contentLabels {
	found, _, _ := nested(content, "metadata", "labels")
	own, _ := found.(map[string]any)
	return own
}

type contentLabels map[string]any

// Has implements labels.Labels.
func (l contentLabels) Has(label string) bool {
	_, has := l[label]
	return has
}

// Get implements labels.Labels.
func (l contentLabels) Get(label string) string {
	value, _ := l[label].(string)
	return value
}

// Lookup implements labels.Labels.
func (l contentLabels) Lookup(label string) (string, bool) {
	value, has := l[label]
	text, _ := value.(string)
	return text, has
}

// nodeNameField is the field by which the pods of one node are listed.
const nodeNameField = "spec.nodeName"

// objectFields gives the values that field selectors compare.
type objectFields struct{ content map[string]any }

func (f objectFields) Has(label string) bool { return true }

func (f objectFields) Get(label string) string {
	if label == "source" {
		label = "source.component"
	}
	value := any(f.content)
	for rest, more := label, true; more; { // without a slice of its parts: a list by node looks at each pod of the cluster
		var name string
		name, rest, more = strings.Cut(rest, ".")
		fields, _ := value.(map[string]any)
		value = fields[name]
	}
	switch value := value.(type) {
	case string:
		return value
	case nil:
		if label == "spec.unschedulable" || label == "spec.hostNetwork" {
			return "false"
		}
		return ""
	default:
		return fmt.Sprint(value)
	}
}

// nested reads a field of content.
func nested(content map[string]any, path ...string) (any, bool, error) {
	return unstructured.NestedFieldNoCopy(content, path...)
}

// continueToken says where the next chunk of a list starts. It has the fields of the real server's tokens.
type continueToken struct {
	APIVersion string `json:"v"`
	Revision   int64  `json:"rv"` // -1 for the current state
	Start      string `json:"start"`
}

func (t continueToken) encode() string {
	raw, _ := json.Marshal(t) // two strings and a number
	return base64.RawURLEncoding.EncodeToString(raw)
}

func decodeContinue(text string) (continueToken, error) {
	var token continueToken
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(raw, &token)
	}
	if err != nil {
		err = fmt.Errorf("continue key is not valid: %w", err)
	} else if token.APIVersion != "meta.k8s.io/v1" || token.Revision == 0 || token.Start == "" {
		err = fmt.Errorf("continue key is not valid: %s", raw)
	}
	if err != nil {
		return token, apierrors.NewBadRequest(fmt.Sprintf("invalid continue token: %v", err))
	}
	return token, nil
}

// reached refuses a resourceVersion that the server has not reached.
func (s *Server) reached(version string) error {
	revision, err := parseRevision(version)
	if err != nil {
		return err
	}
	if now := s.store.current(); revision > now {
		return tooLarge(revision, now)
	}
	return nil
}

func parseRevision(version string) (uint64, error) {
	revision, err := strconv.ParseUint(version, 10, 64)
	if err != nil {
		return 0, apierrors.NewBadRequest(fmt.Sprintf("invalid resource version: resourceVersion: Invalid value: %q: %v", version, err))
	}
	return revision, nil
}

func tooLarge(asked, now uint64) error {
	err := apierrors.NewTimeoutError(fmt.Sprintf("Too large resource version: %d, current: %d", asked, now), 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge, Message: "Too large resource version"}}
	return err
}

// list answers a GET of a collection, in chunks when the client asks for a limit.
func (s *Server) list(c *call, r *resource) error {
	q, err := readListQuery(c, r)
	if err != nil {
		return err
	}
	snap, start, err := s.snapshot(q)
	if err != nil {
		return err
	}
	if q.ResourceVersion == "0" {
		q.Limit = 0 // the real server answers this from its watch cache, which knows no pages
	}
	objects := snap.objects
	if node, one := q.fields.RequiresExactMatch(nodeNameField); one && r.view == nil {
		// Without a full page, the objects of other nodes make no difference.
		if there := snap.onNode(node); q.Limit == 0 || int64(len(there)) < q.Limit {
			objects = there
		}
	}
	first, _ := slices.BinarySearchFunc(objects, start, func(o *object, start string) int { return strings.Compare(o.key, start) })
	var page []*object
	rest := 0
	for _, o := range objects[first:] {
		switch {
		case !q.within(o):
		case q.Limit > 0 && int64(len(page)) == q.Limit:
			rest++
		case q.matches(o):
			page = append(page, o)
		}
	}
	info := metav1.ListMeta{ResourceVersion: strconv.FormatUint(snap.revision, 10)}
	if rest > 0 {
		info.Continue = continueToken{APIVersion: "meta.k8s.io/v1", Revision: int64(snap.revision),
			Start: page[len(page)-1].key + "\x00"}.encode()
		if q.labels.Empty() && q.fields.Empty() {
			left := int64(rest)
			info.RemainingItemCount = &left
		}
	}
	return s.writeList(c, r, page, info)
}

// snapshot returns the state for a list, and the key where the list starts.
func (s *Server) snapshot(q *listQuery) (snapshot, string, error) {
	table := q.resource.table
	if q.Continue != "" {
		if q.ResourceVersion != "" && q.ResourceVersion != "0" {
			return snapshot{}, "", apierrors.NewBadRequest("specifying resource version is not allowed when using continue")
		}
		token, err := decodeContinue(q.Continue)
		if err != nil {
			return snapshot{}, "", err
		}
		if token.Revision < 0 {
			return table.list(), token.Start, nil
		}
		snap, err := table.listAt(uint64(token.Revision))
		if err != nil {
			expired := apierrors.NewResourceExpired(inconsistentText)
			expired.ErrStatus.ListMeta.Continue = continueToken{APIVersion: token.APIVersion, Revision: -1, Start: token.Start}.encode()
			return snapshot{}, "", expired
		}
		return snap, token.Start, nil
	}
	if q.ResourceVersion != "" && q.ResourceVersion != "0" {
		if err := s.reached(q.ResourceVersion); err != nil {
			return snapshot{}, "", err
		}
		// A page of a list that names no match is of exactly that version, as it has always been; a whole list is no older.
		if q.ResourceVersionMatch == metav1.ResourceVersionMatchExact || q.ResourceVersionMatch == "" && q.Limit > 0 {
			revision, err := parseRevision(q.ResourceVersion)
			if err != nil {
				return snapshot{}, "", err
			}
			snap, err := table.listAt(revision)
			if err != nil {
				return snapshot{}, "", apierrors.NewResourceExpired(expiredText)
			}
			return snap, "", nil
		}
	}
	return table.list(), "", nil
}

// writeList answers with a list in the form that the client requested.
func (s *Server) writeList(c *call, r *resource, objects []*object, info metav1.ListMeta) error {
	if c.form == formTable {
		include, err := includeObject(c.query)
		if err != nil {
			return err
		}
		table := s.table(r, objects, include, true)
		table.ListMeta = info
		writeJSON(c.w, http.StatusOK, table)
		return nil
	}
	kind, version := r.listKind, r.GroupVersion().String()
	if c.form == formMetadata {
		kind, version = "PartialObjectMetadataList", "meta.k8s.io/v1"
	}
	head, err := json.Marshal(info)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	items := make([][]byte, len(objects))
	length := 0
	for i, o := range objects {
		if o = r.shown(o); c.form == formMetadata {
			items[i] = partial(o)
		} else {
			items[i] = o.json()
		}
		length += len(items[i]) + 1
	}
	writeItems(c.w, fmt.Appendf(nil, `{"kind":%q,"apiVersion":%q,"metadata":%s,"items":[`, kind, version, head), items, length)
	return nil
}

// largestBody is the longest list that is put together before it is written.
const largestBody = 1 << 20

// writeItems writes a list of the given length, about. A long one is written piece by piece, as the real server does it: all pods of a
// large cluster are as much memory again as the pods themselves.
func writeItems(w http.ResponseWriter, head []byte, items [][]byte, length int) {
	body := bytes.NewBuffer(make([]byte, 0, min(length+len(head), largestBody)+256))
	body.Write(head)
	streamed := length > largestBody
	if streamed {
		w.Header().Set("Content-Type", mediaJSON)
		w.WriteHeader(http.StatusOK)
	}
	for i, item := range items {
		if i > 0 {
			body.WriteByte(',')
		}
		body.Write(item)
		if streamed && body.Len() > largestBody/4 {
			_, _ = w.Write(body.Bytes()) // the client is gone; net/http notices
			body.Reset()
		}
	}
	body.WriteString("]}\n")
	if streamed {
		_, _ = w.Write(body.Bytes())
		return
	}
	writeRaw(w, http.StatusOK, body.Bytes())
}
