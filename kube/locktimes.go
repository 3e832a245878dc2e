package kube

import (
	"context"
	"encoding/json"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"lockstep/core"
)

// LockTimes reads when whoever keeps a workload lock's state wrote to it last, by the lock's UID: at that moment at the latest it came into
// the state that it has. A lock of which no manager owns the state is left out. An error is an *APIError.
func (c *Client) LockTimes(ctx context.Context) (map[string]time.Time, error) {
	out := map[string]time.Time{}
	for _, name := range []string{"nodeworkloadlocks", "clusterworkloadlocks"} {
		objects, failed := c.listAll(ctx, resource{gvr: lcm(name)})
		if failed != nil {
			return nil, failed
		}
		for _, u := range objects {
			if at := stateWritten(u); !at.IsZero() {
				out[string(u.GetUID())] = at
			}
		}
	}
	return out, nil
}

// stateWritten is when a manager that owns status.state changed any field of its own last, by metadata.managedFields.
func stateWritten(u *unstructured.Unstructured) time.Time {
	var out time.Time
	for _, m := range u.GetManagedFields() {
		var owns struct {
			Status struct {
				State json.RawMessage `json:"f:state"`
			} `json:"f:status"`
		}
		if m.Time == nil || m.FieldsV1 == nil || json.Unmarshal(m.FieldsV1.Raw, &owns) != nil || owns.Status.State == nil {
			continue
		}
		out = core.Later(out, m.Time.Time)
	}
	return out
}
