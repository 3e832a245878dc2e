package cli

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"lockstep/core/fleet"
)

// access says how to open one cluster of a management cluster.
type access struct {
	Kubeconfig string `yaml:"kubeconfig"` // file; empty: that of --kubeconfig. Relative to the configuration's folder
	Context    string `yaml:"context"`    // empty: the file's current one
	// FromManagement reads the cluster's login from its Secret on the management cluster without asking first. Where neither this nor a
	// kubeconfig nor a context is named, the list asks.
	FromManagement bool   `yaml:"fromManagement"`
	OSCloud        string `yaml:"osCloud"`
	OSFromCluster  bool   `yaml:"osFromCluster"`
}

// idOfCluster is the cluster that a key of the section clusters names: its name, or project/name.
func idOfCluster(key string) fleet.ID {
	project, name, found := strings.Cut(key, "/")
	if !found {
		return fleet.ID{Name: key}
	}
	return fleet.ID{Project: project, Name: name}
}

// checkClusters says what is wrong with the section clusters; nil for nothing.
func (c *config) checkClusters() error {
	for _, key := range slices.Sorted(maps.Keys(c.Clusters)) {
		a, id := c.Clusters[key], idOfCluster(key)
		switch {
		case id.Name == "" || strings.Contains(id.Name, "/") || strings.HasPrefix(key, "/"):
			return fmt.Errorf("%q: want the name of a cluster, or project/name", key)
		case a == access{}:
			return fmt.Errorf("%s: want its context, its kubeconfig, or both; fromManagement; osCloud or osFromCluster", key)
		case a.FromManagement && a.configured():
			return fmt.Errorf("%s: want fromManagement, or its context and kubeconfig, not both", key)
		case a.OSCloud != "" && a.OSFromCluster:
			return fmt.Errorf("%s: want osCloud or osFromCluster, not both", key)
		}
	}
	return nil
}

// knownClusters are the clusters that the configuration names, by name.
func (c *config) knownClusters() []fleet.ID {
	var ids []fleet.ID
	for _, key := range slices.Sorted(maps.Keys(c.Clusters)) {
		ids = append(ids, idOfCluster(key))
	}
	return ids
}

// accessOf is how to open a cluster of those that are seen, as far as the configuration says; err says why it cannot be. A key with a
// project names one cluster. A key without one counts only where it can mean no other cluster: what is opened by it would be another's.
func (c *config) accessOf(id fleet.ID, seen *fleet.View) (a access, err error) {
	a, ok := c.Clusters[id.String()]
	if !ok {
		if a, ok = c.Clusters[id.Name]; !ok {
			return a, nil
		}
		if err := c.ambiguous(id, seen); err != nil {
			return access{}, err
		}
	}
	if a.Kubeconfig != "" && !filepath.IsAbs(a.Kubeconfig) {
		a.Kubeconfig = filepath.Join(c.folder, a.Kubeconfig)
	}
	return a, nil
}

// ambiguous says why a cluster's name alone does not tell which cluster is meant; nil where it does.
func (c *config) ambiguous(id fleet.ID, seen *fleet.View) error {
	keys := []string{}
	add := func(other fleet.ID) {
		if other.Name == id.Name && other.Project != "" {
			keys = append(keys, fmt.Sprintf("%q", other.String()))
		}
	}
	add(id)
	for _, other := range c.knownClusters() {
		add(other)
	}
	if seen != nil {
		for i := range seen.Rows {
			add(seen.Rows[i].ID)
		}
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	write := fmt.Sprintf("in the configuration's section clusters, write %s instead of %q", strings.Join(keys, " and "), id.Name)
	switch {
	case len(keys) > 1:
		return fmt.Errorf("%q is the name of more than one cluster: %s", id.Name, write)
	case seen != nil && (len(seen.Denied) > 0 || seen.Part != nil): // by itself this does not change
		return fmt.Errorf("whether another cluster is called %q is not known, because not all projects may be read: %s", id.Name, write)
	case seen == nil || !seen.Listed:
		return fmt.Errorf("whether another cluster is called %q is not known, because not all projects have been read: %s, or wait",
			id.Name, write)
	}
	return nil
}

// configured tells whether a context or a kubeconfig is named. Else the management cluster has the login.
func (a access) configured() bool { return a.Kubeconfig != "" || a.Context != "" }

// text is how a cluster is opened, in words: "context mos-fra of /home/op/fra.yaml".
func (a access) text() string {
	switch {
	case !a.configured():
		return "its Secret on the management cluster"
	case a.Kubeconfig == "":
		return "context " + a.Context
	case a.Context == "":
		return "kubeconfig " + a.Kubeconfig
	}
	return "context " + a.Context + " of " + a.Kubeconfig
}
