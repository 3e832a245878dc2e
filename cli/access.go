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
	Kubeconfig    string `yaml:"kubeconfig"` // file; empty: that of --kubeconfig. Relative to the configuration's folder
	Context       string `yaml:"context"`    // empty: the file's current one
	OSCloud       string `yaml:"osCloud"`
	OSFromCluster bool   `yaml:"osFromCluster"`
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
		case a.Kubeconfig == "" && a.Context == "":
			return fmt.Errorf("%s: want its context, its kubeconfig, or both", key)
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

// accessOf is how to open a cluster; ok is false where the configuration does not say.
func (c *config) accessOf(id fleet.ID) (a access, ok bool) {
	if a, ok = c.Clusters[id.String()]; !ok {
		a, ok = c.Clusters[id.Name]
	}
	if ok && a.Kubeconfig != "" && !filepath.IsAbs(a.Kubeconfig) {
		a.Kubeconfig = filepath.Join(c.folder, a.Kubeconfig)
	}
	return a, ok
}

// text is how a cluster is opened, in words: "context mos-fra of /home/op/fra.yaml".
func (a access) text() string {
	switch {
	case a.Kubeconfig == "":
		return "context " + a.Context
	case a.Context == "":
		return "kubeconfig " + a.Kubeconfig
	}
	return "context " + a.Context + " of " + a.Kubeconfig
}
