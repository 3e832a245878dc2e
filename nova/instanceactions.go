package nova

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"lockstep/core"
)

// instanceAction is an action on an instance: a POST to servers/{id}/action.
type instanceAction struct {
	doing  string // "stop": what comes before "instance" and its ID
	policy string
	needs  microversion
	name   string        // of the action, in the request's body
	args   any           // of the action
	limit  time.Duration // 0 means writeLimit
	ok     []int         // the statuses of a good answer; nil: 202
}

// instanceActions are the actions on instances, except the two that are on a migration.
var instanceActions = map[core.IntentKind]instanceAction{
	// The scheduler chooses the destination, and Nova chooses the kind of migration.
	//
	// It asks for 2.25, the oldest microversion that knows block_migration "auto", on purpose: from 2.25 to 2.33 Nova checks and
	// schedules before it answers, so that "no valid host was found" is a 400 with its reason. From 2.34 on it always answers 202,
	// the instance returns to ACTIVE, and only a migration record with the status error shows the failure.
	core.IntentLiveMigrate: {doing: "live-migrate", policy: "os_compute_api:os-migrate-server:migrate_live", needs: vLiveMigrate,
		name: "os-migrateLive", args: map[string]any{"host": nil, "block_migration": "auto"}, limit: scheduleLimit},
	// Nova schedules it before it answers, as a live migration.
	core.IntentColdMigrate: {doing: "migrate", policy: "os_compute_api:os-migrate-server:migrate", needs: vBase, name: "migrate",
		limit: scheduleLimit},
	core.IntentConfirmResize: {doing: "confirm the migration of", policy: "os_compute_api:servers:confirm_resize", needs: vBase,
		name: "confirmResize", ok: []int{http.StatusNoContent, http.StatusAccepted}},
	core.IntentRevertResize: {doing: "revert the migration of", policy: "os_compute_api:servers:revert_resize", needs: vBase,
		name: "revertResize"},
	core.IntentStop:   {doing: "stop", policy: "os_compute_api:servers:stop", needs: vBase, name: "os-stop"},
	core.IntentStart:  {doing: "start", policy: "os_compute_api:servers:start", needs: vBase, name: "os-start"},
	core.IntentResume: {doing: "resume", policy: "os_compute_api:os-suspend-server:resume", needs: vBase, name: "resume"},
	// It writes ACTIVE into Nova's record of the instance and clears its task. It does nothing on the host.
	core.IntentResetState: {doing: "reset the state of", policy: "os_compute_api:os-admin-actions:reset_state", needs: vBase,
		name: "os-resetState", args: map[string]any{"state": "active"}},
	core.IntentShelve: {doing: "shelve", policy: "os_compute_api:os-shelve:shelve", needs: vBase, name: "shelve"},
	// The scheduler chooses the host.
	core.IntentUnshelve: {doing: "unshelve", policy: "os_compute_api:os-shelve:unshelve", needs: vBase, name: "unshelve"},
	// The instance is rebuilt on another host that the scheduler chooses; its own has to be down. Before 2.14 Nova has to be told
	// whether the storage is shared; from then on it finds out by itself.
	core.IntentEvacuate: {doing: "evacuate", policy: "os_compute_api:os-evacuate", needs: vEvacuate, name: "evacuate",
		args: map[string]any{}, ok: []int{http.StatusOK}},
}

// act does one of Nova's actions on an instance.
func (w *Writer) act(ctx context.Context, c core.InstanceAction) error {
	id := c.Instance.UID
	switch c.Do {
	case core.IntentAbortMigration:
		return w.abortMigration(ctx, id, c.MigrationID)
	case core.IntentForceComplete:
		return w.forceComplete(ctx, id, c.MigrationID)
	}
	i, ok := instanceActions[c.Do]
	if !ok {
		return &core.APIError{Kind: core.ErrInvalid, Server: core.ServerOpenStack, Call: "write",
			Message: fmt.Sprintf("nothing was sent: %q is not an action on an instance", c.Do)}
	}
	status := i.ok
	if status == nil {
		status = []int{http.StatusAccepted}
	}
	a := action{call: i.doing + " instance " + id, policy: i.policy, limit: i.limit}
	return w.send(ctx, a, i.needs, func(ctx context.Context, s *session) error {
		sc := at(s.compute, s.versions.best(i.needs))
		return w.c.send(ctx, sc, http.MethodPost, sc.ServiceURL("servers", id, "action"), map[string]any{i.name: i.args}, status...)
	})
}

// abortMigration aborts a live migration. One that is queued can be aborted from 2.65 on, a running one from 2.24.
func (w *Writer) abortMigration(ctx context.Context, instanceID string, migrationID int) error {
	a := action{call: fmt.Sprintf("abort migration %d of instance %s", migrationID, instanceID),
		policy: "os_compute_api:servers:migrations:delete"}
	return w.send(ctx, a, vAbort, func(ctx context.Context, s *session) error {
		sc := at(s.compute, s.versions.best(vAbortQueued, vAbort))
		url := sc.ServiceURL("servers", instanceID, "migrations", fmt.Sprint(migrationID))
		return w.c.send(ctx, sc, http.MethodDelete, url, nil, http.StatusAccepted)
	})
}

// forceComplete makes a running live migration complete.
func (w *Writer) forceComplete(ctx context.Context, instanceID string, migrationID int) error {
	a := action{call: fmt.Sprintf("force migration %d of instance %s to complete", migrationID, instanceID),
		policy: "os_compute_api:servers:migrations:force_complete"}
	return w.send(ctx, a, vForceComplete, func(ctx context.Context, s *session) error {
		sc := at(s.compute, s.versions.best(vForceComplete))
		url := sc.ServiceURL("servers", instanceID, "migrations", fmt.Sprint(migrationID), "action")
		return w.c.send(ctx, sc, http.MethodPost, url, map[string]any{"force_complete": nil}, http.StatusAccepted)
	})
}

// setTags replaces all tags of an instance in one call. It refuses tags that were never read: all others would be lost.
func (w *Writer) setTags(ctx context.Context, c core.SetMaintenanceTags) error {
	a := action{call: "set the tags of instance " + c.Instance.UID, policy: "os_compute_api:os-server-tags:update_all"}
	if c.All == nil {
		return &core.APIError{Kind: core.ErrInvalid, Server: core.ServerOpenStack, Call: a.call,
			Message: "nothing was sent: its tags were not read before"}
	}
	return w.send(ctx, a, vTags, func(ctx context.Context, s *session) error {
		defer w.c.retagged.add(c.Instance.UID) // whatever the answer is, or none
		sc := at(s.compute, s.versions.best(vTags))
		return w.c.send(ctx, sc, http.MethodPut, sc.ServiceURL("servers", c.Instance.UID, "tags"), map[string]any{"tags": c.All}, http.StatusOK)
	})
}
