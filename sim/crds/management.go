package crds

import (
	"embed"
	"fmt"
	"strings"
)

//go:embed management/*.yaml
var managementFiles embed.FS

// Management returns every definition of the management cluster that an update reads and writes, sorted by name:
// clusters and machines, LCM's own objects for them, releases, update plans, groups and pauses, and reboot requests.
// Fields that the public types do not have pass unchanged. The caller may keep and change the result.
func Management() []CRD {
	entries, err := managementFiles.ReadDir("management")
	if err != nil {
		panic(fmt.Sprintf("crds: read the embedded folder: %v", err)) // the folder is part of the binary
	}
	all := make([]CRD, 0, len(entries))
	for _, entry := range entries {
		raw, err := managementFiles.ReadFile("management/" + entry.Name())
		if err != nil {
			panic(fmt.Sprintf("crds: read the embedded %s: %v", entry.Name(), err))
		}
		all = append(all, CRD{Name: strings.TrimSuffix(entry.Name(), ".yaml"), YAML: raw})
	}
	return all
}
