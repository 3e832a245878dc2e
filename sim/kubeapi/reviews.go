package kubeapi

import (
	"fmt"
	"net/http"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/client-go/kubernetes/scheme"
)

// reviews are resources that only answer requests: nothing is stored.
var reviews = map[schema.GroupVersionResource]func(*Server, *call) error{
	{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"}: (*Server).reviewAccess,
	{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectrulesreviews"}:  (*Server).reviewRules,
	{Group: "authentication.k8s.io", Version: "v1", Resource: "selfsubjectreviews"}:      (*Server).reviewSelf,
}

// reviewKinds are the kinds of reviews, for discovery.
var reviewKinds = map[string]string{
	"selfsubjectaccessreviews": "SelfSubjectAccessReview",
	"selfsubjectrulesreviews":  "SelfSubjectRulesReview",
	"selfsubjectreviews":       "SelfSubjectReview",
}

// readReview decodes the body, in JSON or protobuf, as the kind of the request's resource.
func readReview[T runtime.Object](c *call) (T, error) {
	kind := c.info.gvr.GroupVersion().WithKind(reviewKinds[c.info.gvr.Resource])
	var none T
	decoded, _, err := scheme.Codecs.UniversalDeserializer().Decode(c.body, &kind, nil)
	if err != nil {
		return none, apierrors.NewBadRequest(err.Error())
	}
	review, ok := decoded.(T)
	if !ok {
		return none, apierrors.NewBadRequest(fmt.Sprintf("the body is no %s", kind.Kind))
	}
	return review, nil
}

// reviewAccess answers whether the user may do one thing.
func (s *Server) reviewAccess(c *call) error {
	review, err := readReview[*authorizationv1.SelfSubjectAccessReview](c)
	if err != nil {
		return err
	}
	var asked attributes
	switch spec := review.Spec; {
	case spec.ResourceAttributes != nil && spec.NonResourceAttributes == nil:
		a := spec.ResourceAttributes
		asked = attributes{verb: a.Verb, group: a.Group, resource: a.Resource, sub: a.Subresource, namespace: a.Namespace, name: a.Name}
	case spec.NonResourceAttributes != nil && spec.ResourceAttributes == nil:
		asked = attributes{verb: spec.NonResourceAttributes.Verb, path: spec.NonResourceAttributes.Path}
	default:
		return apierrors.NewInvalid(groupKind(c.info.gvr.Group, ""), "",
			field.ErrorList{field.Invalid(field.NewPath("spec", "resourceAttributes"), nil,
				"exactly one of nonResourceAttributes or resourceAttributes must be specified")})
	}
	review.Status.Allowed, review.Status.Reason = s.may(c.user, asked)
	return s.writeReview(c, review)
}

// reviewRules lists what the user may do in a namespace.
func (s *Server) reviewRules(c *call) error {
	review, err := readReview[*authorizationv1.SelfSubjectRulesReview](c)
	if err != nil {
		return err
	}
	if review.Spec.Namespace == "" {
		return apierrors.NewBadRequest("no namespace on request")
	}
	status := authorizationv1.SubjectRulesReviewStatus{ResourceRules: []authorizationv1.ResourceRule{},
		NonResourceRules: []authorizationv1.NonResourceRule{}}
	for _, rule := range s.rulesOf(c.user) {
		if len(rule.Namespaces) > 0 && !matches(rule.Namespaces, review.Spec.Namespace) {
			continue
		}
		if len(rule.Resources) > 0 {
			status.ResourceRules = append(status.ResourceRules, authorizationv1.ResourceRule{
				Verbs: rule.Verbs, APIGroups: rule.APIGroups, Resources: rule.Resources, ResourceNames: rule.ResourceNames})
		}
		if len(rule.NonResourceURLs) > 0 {
			status.NonResourceRules = append(status.NonResourceRules,
				authorizationv1.NonResourceRule{Verbs: rule.Verbs, NonResourceURLs: rule.NonResourceURLs})
		}
	}
	review.Status = status
	return s.writeReview(c, review)
}

// reviewSelf answers who the user is.
func (s *Server) reviewSelf(c *call) error {
	review, err := readReview[*authenticationv1.SelfSubjectReview](c)
	if err != nil {
		return err
	}
	review.CreationTimestamp = s.timestamp()
	review.Status.UserInfo = authenticationv1.UserInfo{Username: c.user.Name, Groups: c.user.Groups}
	return s.writeReview(c, review)
}

func (s *Server) writeReview(c *call, review runtime.Object) error {
	review.GetObjectKind().SetGroupVersionKind(c.info.gvr.GroupVersion().WithKind(reviewKinds[c.info.gvr.Resource]))
	writeJSON(c.w, http.StatusCreated, review)
	return nil
}
