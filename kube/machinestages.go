package kube

import (
	"context"

	"lockstep/core"
)

var gvrMachineStages = lcm("lcmmachineupgradedrainstatuses")

// MachineStagePermissions are what MachineStages needs on the management cluster in a namespace, the project; empty for all namespaces.
func MachineStagePermissions(namespace string) []Permission {
	return []Permission{{Verb: "list", Group: gvrMachineStages.Group, Resource: gvrMachineStages.Resource, Namespace: namespace}}
}

// MachineStages reads, on the management cluster, when the machines of a project came to the stages of their maintenance
// (docs/mosk.md#stages). A stage that failed, or is not over, is left out. An error is an *APIError.
func (c *Client) MachineStages(ctx context.Context, namespace string) ([]core.MachineStage, error) {
	objects, failed := c.listAll(ctx, resource{gvr: gvrMachineStages, namespace: namespace})
	if failed != nil {
		return nil, failed
	}
	var out []core.MachineStage
	for _, u := range objects {
		o := fields(u.Object)
		stages := o.objects("stages")
		if len(stages) == 0 { // where newer versions may have them
			stages = o.at("status").objects("stages")
		}
		for _, st := range stages {
			over := st.truth("success")
			if word := st.text("status"); word != "" {
				over = word == "Success"
			}
			if at := st.managementTime("timestamp"); over && !at.IsZero() {
				out = append(out, core.MachineStage{Machine: u.GetName(), Name: st.text("name"), At: at})
			}
		}
	}
	return out, nil
}
