// Package crds holds the CustomResourceDefinitions of a MOSK cluster that an update reads and writes: the workload
// locks, the maintenance requests, the node notices, the OpenStack deployment with its status, and the resources of
// Ceph and Tungsten Fabric. They are plain apiextensions.k8s.io/v1 manifests, accepted by a real kube-apiserver and by
// the simulated one.
package crds

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed *.yaml
var files embed.FS

// CRD is one CustomResourceDefinition.
type CRD struct {
	Name string // metadata.name, for example nodeworkloadlocks.lcm.mirantis.com
	YAML []byte // the manifest, one document
}

// group is the API group of the definitions whose file does not name another.
const group = "lcm.mirantis.com"

// FS is the folder of the manifests: one file <plural>.yaml for each definition, or <plural>.<group>.yaml if the group
// is not LCM's.
func FS() embed.FS { return files }

// All returns every definition, sorted by name. The caller may keep and change the result.
func All() []CRD {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(fmt.Sprintf("crds: read the embedded folder: %v", err)) // the folder is part of the binary
	}
	all := make([]CRD, 0, len(entries))
	for _, entry := range entries {
		raw, err := files.ReadFile(entry.Name())
		if err != nil {
			panic(fmt.Sprintf("crds: read the embedded %s: %v", entry.Name(), err))
		}
		name := strings.TrimSuffix(entry.Name(), ".yaml")
		if !strings.Contains(name, ".") {
			name += "." + group
		}
		all = append(all, CRD{Name: name, YAML: raw})
	}
	return all
}
