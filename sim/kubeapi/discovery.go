package kubeapi

import (
	"fmt"
	"net/http"
	"sort"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/version"
)

// servePath answers a request for a path that is not a resource: health, version, discovery.
func (s *Server) servePath(c *call) {
	if c.Method != http.MethodGet && c.Method != http.MethodHead {
		writeError(c.w, errNoSuchPath())
		return
	}
	parts := strings.Split(strings.Trim(c.URL.Path, "/"), "/")
	switch {
	case len(parts) == 1 && (parts[0] == "healthz" || parts[0] == "livez" || parts[0] == "readyz"):
		c.w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprint(c.w, "ok")
	case c.URL.Path == ClockPath && s.options.TellClock:
		now, rate, speed := s.options.Clock.Reading()
		writeJSON(c.w, http.StatusOK, clockReading{now, rate, speed})
	case len(parts) == 1 && parts[0] == "version":
		writeJSON(c.w, http.StatusOK, s.version())
	case len(parts) == 1 && (parts[0] == "api" || parts[0] == "apis") && wantsAggregated(c.Request):
		s.serveAggregated(c, parts[0])
	case len(parts) == 1 && parts[0] == "api":
		writeJSON(c.w, http.StatusOK, metav1.APIVersions{
			TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"},
			ServerAddressByClientCIDRs: []metav1.ServerAddressByClientCIDR{{ClientCIDR: "0.0.0.0/0",
				ServerAddress: strings.TrimPrefix(s.URL(), "https://")}},
		})
	case len(parts) == 2 && parts[0] == "api":
		s.serveResources(c, schema.GroupVersion{Version: parts[1]})
	case len(parts) == 1 && parts[0] == "apis":
		writeJSON(c.w, http.StatusOK, metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}, Groups: s.groups()})
	case len(parts) == 2 && parts[0] == "apis":
		s.serveGroup(c, parts[1])
	case len(parts) == 3 && parts[0] == "apis":
		s.serveResources(c, schema.GroupVersion{Group: parts[1], Version: parts[2]})
	case len(parts) >= 2 && parts[0] == "openapi" && parts[1] == "v3":
		s.serveOpenAPI(c, strings.Join(parts[2:], "/"))
	default:
		http.NotFound(c.w, c.Request)
	}
}

func (s *Server) version() version.Info {
	numbers := strings.SplitN(strings.TrimPrefix(s.options.Version, "v"), ".", 3)
	info := version.Info{GitVersion: s.options.Version, GitTreeState: "clean", GoVersion: "go1.26", Compiler: "gc", Platform: "linux/amd64",
		BuildDate: "1970-01-01T00:00:00Z", Major: numbers[0]}
	if len(numbers) > 1 {
		info.Minor = numbers[1]
	}
	return info
}

// versions returns the served versions of each group; the core group is "".
func (s *Server) versions() map[string][]string {
	found := map[schema.GroupVersion]bool{}
	for _, r := range s.catalogue.all() {
		found[r.GroupVersion()] = true
	}
	for gvr := range reviews {
		found[gvr.GroupVersion()] = true
	}
	versions := map[string][]string{}
	for gv := range found {
		versions[gv.Group] = append(versions[gv.Group], gv.Version)
	}
	for _, list := range versions {
		sort.Strings(list)
	}
	return versions
}

// groups returns the API groups except the core group, in the order in which kubectl resolves short names: built-in
// groups first.
func (s *Server) groups() []metav1.APIGroup {
	groups := []metav1.APIGroup{}
	for name, versions := range s.versions() {
		if name == "" {
			continue
		}
		group := metav1.APIGroup{Name: name}
		for _, one := range versions {
			group.Versions = append(group.Versions, metav1.GroupVersionForDiscovery{GroupVersion: name + "/" + one, Version: one})
		}
		group.PreferredVersion = group.Versions[0]
		groups = append(groups, group)
	}
	rank := func(name string) int {
		switch {
		case strings.HasSuffix(name, ".k8s.io") || !strings.Contains(name, "."):
			return 0
		}
		return 1
	}
	sort.Slice(groups, func(i, j int) bool {
		if a, b := rank(groups[i].Name), rank(groups[j].Name); a != b {
			return a < b
		}
		return groups[i].Name < groups[j].Name
	})
	return groups
}

func (s *Server) serveGroup(c *call, name string) {
	for _, group := range s.groups() {
		if group.Name == name {
			group.TypeMeta = metav1.TypeMeta{Kind: "APIGroup", APIVersion: "v1"}
			writeJSON(c.w, http.StatusOK, group)
			return
		}
	}
	http.NotFound(c.w, c.Request)
}

// serveResources lists the resources of a group and version, with their subresources.
func (s *Server) serveResources(c *call, gv schema.GroupVersion) {
	resources := s.resources(gv)
	if len(resources) == 0 {
		http.NotFound(c.w, c.Request)
		return
	}
	writeJSON(c.w, http.StatusOK, metav1.APIResourceList{
		TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"}, GroupVersion: gv.String(), APIResources: resources})
}

// resources returns the resources of a group and version and their subresources, by name.
func (s *Server) resources(gv schema.GroupVersion) []metav1.APIResource {
	var list []metav1.APIResource
	for _, r := range s.catalogue.all() {
		if r.GroupVersion() == gv {
			list = append(append(list, r.apiResource()), r.subresources()...)
		}
	}
	for gvr := range reviews {
		if gvr.GroupVersion() == gv {
			kind := reviewKinds[gvr.Resource]
			list = append(list, metav1.APIResource{Name: gvr.Resource, SingularName: strings.ToLower(kind), Kind: kind,
				Verbs: metav1.Verbs{"create"}})
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list
}

// subresources returns the discovery entries of a resource's subresources.
func (r *resource) subresources() []metav1.APIResource {
	var list []metav1.APIResource
	change := metav1.Verbs{"get", "patch", "update"}
	if r.status {
		list = append(list, metav1.APIResource{Name: r.Resource + "/status", Namespaced: r.namespaced, Kind: r.kind, Verbs: change})
	}
	if r.scale {
		list = append(list, metav1.APIResource{Name: r.Resource + "/scale", Namespaced: r.namespaced,
			Group: scaled.Group, Version: scaled.Version, Kind: scaled.kind, Verbs: change})
	}
	if r.Resource == "pods" && r.Group == "" {
		list = append(list,
			metav1.APIResource{Name: "pods/eviction", Namespaced: true, Group: "policy", Version: "v1", Kind: "Eviction",
				Verbs: metav1.Verbs{"create"}},
			metav1.APIResource{Name: "pods/log", Namespaced: true, Kind: r.kind, Verbs: metav1.Verbs{"get"}})
	}
	return list
}
