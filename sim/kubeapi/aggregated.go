package kubeapi

import (
	"encoding/json"
	"mime"
	"net/http"
	"strings"

	apidiscovery "k8s.io/api/apidiscovery/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// aggregatedKind is the kind of aggregated discovery.
const aggregatedKind = "APIGroupDiscoveryList"

// wantsAggregated tells whether the client prefers aggregated discovery to the other forms served here.
func wantsAggregated(r *http.Request) bool {
	for _, clause := range strings.Split(r.Header.Get("Accept"), ",") {
		media, params, err := mime.ParseMediaType(strings.TrimSpace(clause))
		if err != nil || media != mediaJSON {
			continue
		}
		switch {
		case params["as"] == "":
			return false
		case params["as"] == aggregatedKind && params["g"] == apidiscovery.GroupName && params["v"] == "v2":
			return true
		}
	}
	return false
}

// serveAggregated answers with the groups under a root (api or apis), their versions and their resources.
func (s *Server) serveAggregated(c *call, root string) {
	list := apidiscovery.APIGroupDiscoveryList{
		TypeMeta: metav1.TypeMeta{Kind: aggregatedKind, APIVersion: apidiscovery.SchemeGroupVersion.String()},
		Items:    []apidiscovery.APIGroupDiscovery{},
	}
	groups := s.groups()
	if root == "api" {
		groups = []metav1.APIGroup{{Versions: []metav1.GroupVersionForDiscovery{{Version: "v1"}}}}
	}
	for _, group := range groups {
		item := apidiscovery.APIGroupDiscovery{ObjectMeta: metav1.ObjectMeta{Name: group.Name}}
		for _, version := range group.Versions {
			item.Versions = append(item.Versions, apidiscovery.APIVersionDiscovery{
				Version: version.Version, Freshness: apidiscovery.DiscoveryFreshnessCurrent,
				Resources: s.discovered(schema.GroupVersion{Group: group.Name, Version: version.Version}),
			})
		}
		list.Items = append(list.Items, item)
	}
	raw, err := json.Marshal(list)
	if err != nil {
		writeError(c.w, apierrors.NewInternalError(err))
		return
	}
	writeMedia(c.w, http.StatusOK, mediaJSON+";g="+apidiscovery.GroupName+";v=v2;as="+aggregatedKind, append(raw, '\n'))
}

// discovered returns the resources of a group and version, each with its subresources.
func (s *Server) discovered(gv schema.GroupVersion) []apidiscovery.APIResourceDiscovery {
	var list []apidiscovery.APIResourceDiscovery
	for _, r := range s.resources(gv) {
		kind := &metav1.GroupVersionKind{Group: gv.Group, Version: gv.Version, Kind: r.Kind}
		if r.Version != "" {
			kind.Group, kind.Version = r.Group, r.Version
		}
		scope := apidiscovery.ScopeCluster
		if r.Namespaced {
			scope = apidiscovery.ScopeNamespace
		}
		plural, sub, isSub := strings.Cut(r.Name, "/")
		if isSub { // it follows its resource, whose name is the prefix of its own
			for i := range list {
				if list[i].Resource == plural {
					list[i].Subresources = append(list[i].Subresources,
						apidiscovery.APISubresourceDiscovery{Subresource: sub, ResponseKind: kind, Verbs: r.Verbs})
				}
			}
			continue
		}
		list = append(list, apidiscovery.APIResourceDiscovery{Resource: plural, ResponseKind: kind, Scope: scope,
			SingularResource: r.SingularName,
			Verbs:            r.Verbs, ShortNames: r.ShortNames, Categories: r.Categories})
	}
	return list
}
