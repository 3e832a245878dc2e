package nova

import (
	"context"
	"net/http"
)

// ResetState implements core.OpenStackWriter.
func (w *Writer) ResetState(ctx context.Context, instanceID string) error {
	a := action{call: "reset the state of instance " + instanceID, policy: "os_compute_api:os-admin-actions:reset_state"}
	return w.act(ctx, a, instanceID, vBase, map[string]any{"os-resetState": map[string]any{"state": "active"}}, http.StatusAccepted)
}

// Resume implements core.OpenStackWriter.
func (w *Writer) Resume(ctx context.Context, instanceID string) error {
	return w.order(ctx, instanceID, "resume", "resume", "os_compute_api:os-suspend-server:resume")
}

// Shelve implements core.OpenStackWriter.
func (w *Writer) Shelve(ctx context.Context, instanceID string) error {
	return w.order(ctx, instanceID, "shelve", "shelve", "os_compute_api:os-shelve:shelve")
}

// Unshelve implements core.OpenStackWriter. The scheduler chooses the host.
func (w *Writer) Unshelve(ctx context.Context, instanceID string) error {
	return w.order(ctx, instanceID, "unshelve", "unshelve", "os_compute_api:os-shelve:unshelve")
}

// SetTags implements core.OpenStackWriter.
func (w *Writer) SetTags(ctx context.Context, instanceID string, tags []string) error {
	a := action{call: "set the tags of instance " + instanceID, policy: "os_compute_api:os-server-tags:update_all"}
	if tags == nil {
		tags = []string{} // null is no list
	}
	return w.write(ctx, a, vTags, func(ctx context.Context, s *session) error {
		sc := at(s.compute, s.versions.best(vTags))
		return w.c.send(ctx, sc, http.MethodPut, sc.ServiceURL("servers", instanceID, "tags"), map[string]any{"tags": tags}, http.StatusOK)
	})
}
