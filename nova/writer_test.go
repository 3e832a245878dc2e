package nova

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lockstep/core"
	"lockstep/sim/bubble"
)

func TestWritesAsNovaWantsThem(t *testing.T) {
	tests := []struct {
		name    string
		change  core.Change
		status  int // of the answer
		request string
		version string
		body    string
	}{
		{"live-migrate", doing(core.IntentLiveMigrate, "a"), 202,
			"POST /compute/v2.1/servers/a/action", "2.25", `{"os-migrateLive":{"block_migration":"auto","host":null}}`},
		{"migrate", doing(core.IntentColdMigrate, "a"), 202, "POST /compute/v2.1/servers/a/action", "2.1", `{"migrate":null}`},
		{"confirm", doing(core.IntentConfirmResize, "a"), 204, "POST /compute/v2.1/servers/a/action", "2.1", `{"confirmResize":null}`},
		{"reset the state", doing(core.IntentResetState, "a"), 202, "POST /compute/v2.1/servers/a/action", "2.1",
			`{"os-resetState":{"state":"active"}}`},
		{"resume", doing(core.IntentResume, "a"), 202, "POST /compute/v2.1/servers/a/action", "2.1", `{"resume":null}`},
		{"shelve", doing(core.IntentShelve, "a"), 202, "POST /compute/v2.1/servers/a/action", "2.1", `{"shelve":null}`},
		{"unshelve", doing(core.IntentUnshelve, "a"), 202, "POST /compute/v2.1/servers/a/action", "2.1", `{"unshelve":null}`},
		{"set tags", tagging("a", "x", "y=z"), 200, "PUT /compute/v2.1/servers/a/tags", "2.26", `{"tags":["x","y=z"]}`},
		{"set no tags", tagging("a"), 200, "PUT /compute/v2.1/servers/a/tags", "2.26", `{"tags":[]}`},
		{"revert", doing(core.IntentRevertResize, "a"), 202, "POST /compute/v2.1/servers/a/action", "2.1", `{"revertResize":null}`},
		{"stop", doing(core.IntentStop, "a"), 202, "POST /compute/v2.1/servers/a/action", "2.1", `{"os-stop":null}`},
		{"start", doing(core.IntentStart, "a"), 202, "POST /compute/v2.1/servers/a/action", "2.1", `{"os-start":null}`},
		{"abort", onMigration(core.IntentAbortMigration, "a", 7), 202, "DELETE /compute/v2.1/servers/a/migrations/7", "2.65", ""},
		{"force-complete", onMigration(core.IntentForceComplete, "a", 7), 202,
			"POST /compute/v2.1/servers/a/migrations/7/action", "2.22", `{"force_complete":null}`},
		{"disable", core.SetComputeService{Service: core.Ref{UID: "s"}, Reason: "disk is failing"}, 200,
			"PUT /compute/v2.1/os-services/s", "2.53", `{"disabled_reason":"disk is failing","status":"disabled"}`},
		{"disable without a reason", core.SetComputeService{Service: core.Ref{UID: "s"}}, 200,
			"PUT /compute/v2.1/os-services/s", "2.53", `{"status":"disabled"}`},
		{"enable", core.SetComputeService{Service: core.Ref{UID: "s"}, Enabled: true, Reason: "ignored"}, 200,
			"PUT /compute/v2.1/os-services/s", "2.53", `{"status":"enabled"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				f := newFakeCloud(t)
				f.answer(tt.request, tt.status, "")
				nudged := 0
				if err := writes(t, f.client(), func() { nudged++ }).write(tt.change); err != nil {
					t.Fatal(err)
				}
				seen := f.seen(tt.request + "?")
				if len(seen) != 1 || seen[0].microversion != tt.version || seen[0].body != tt.body {
					t.Errorf("sent %+v, want one %s of %s", seen, tt.body, tt.version)
				}
				if nudged != 1 {
					t.Errorf("the poller was nudged %d times", nudged)
				}
			})
		})
	}
}

func TestAnOldCloudLacksThings(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		for _, tt := range []struct {
			change core.Change
			want   string
		}{
			{onMigration(core.IntentAbortMigration, "a", 1), "needs 2.24, this cloud has 2.15"},
			{doing(core.IntentLiveMigrate, "a"), "needs 2.25, this cloud has 2.15"},
			{tagging("a"), "needs 2.26, this cloud has 2.15"},
			{onMigration(core.IntentForceComplete, "a", 1), "needs 2.22, this cloud has 2.15"},
			{core.SetComputeService{Service: core.Ref{UID: "1"}}, "needs 2.53, this cloud has 2.15"},
		} {
			f := newFakeCloud(t)
			f.max = "2.15"
			e := apiError(t, writes(t, f.client(), nil).write(tt.change))
			if e.Kind != core.ErrUnsupported || e.Message != tt.want {
				t.Errorf("%s, want %q", e, tt.want)
			}
			if e.Uncertain() {
				t.Error("nothing was sent, so nothing is uncertain")
			}
		}
	})
}

func TestAbortOnACloudWithoutQueuedAborts(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := newFakeCloud(t)
		f.max = "2.40"
		f.answer("DELETE /compute/v2.1/servers/a/migrations/7", 202, "")
		if err := writes(t, f.client(), nil).write(onMigration(core.IntentAbortMigration, "a", 7)); err != nil {
			t.Fatal(err)
		}
		if v := f.seen("DELETE")[0].microversion; v != "2.24" {
			t.Errorf("asked for %s, want 2.24", v)
		}
	})
}

func TestNovasOwnWords(t *testing.T) {
	long := strings.Repeat("ü", 5000)
	tests := []struct {
		name      string
		status    int
		body      string
		kind      core.ErrorKind
		message   string
		uncertain bool
	}{
		{"409", 409, `{"conflictingRequest": {"code": 409, "message": "Cannot 'os-migrateLive' instance a while it is in task_state migrating"}}`,
			core.ErrConflict, "Cannot 'os-migrateLive' instance a while it is in task_state migrating", false},
		{"400", 400, `{"badRequest": {"code": 400, "message": "No valid host was found. There are not enough hosts available."}}`,
			core.ErrInvalid, "No valid host was found. There are not enough hosts available.", false},
		{"403", 403,
			`{"forbidden": {"code": 403, "message": "Policy doesn't allow os_compute_api:os-migrate-server:migrate_live to be performed."}}`,
			core.ErrForbidden, "Policy doesn't allow os_compute_api:os-migrate-server:migrate_live to be performed.", false},
		{"404", 404, `{"itemNotFound": {"code": 404, "message": "Instance a could not be found."}}`, core.ErrNotFound,
			"Instance a could not be found.", false},
		{"404 of a proxy", 404, "default backend - 404\n", core.ErrServer, "404 Not Found, in words that are not the API's: a proxy or a load " +
			"balancer may have answered in its place", true},
		{"404 without a word", 404, "", core.ErrNotFound, "404 Not Found", false},
		{"406", 406, `{"computeFault": {"code": 406, "message": "Version 2.25 is not supported by the API."}}`, core.ErrUnsupported,
			"Version 2.25 is not supported by the API.", false},
		{"413", 413, `{"overLimit": {"code": 413, "message": "This request was rate-limited."}}`, core.ErrTooManyRequests,
			"This request was rate-limited.", false},
		{"429", 429, `{"overLimit": {"code": 429, "message": "This request was rate-limited."}}`, core.ErrTooManyRequests,
			"This request was rate-limited.", false},
		{"500", 500, `{"computeFault": {"code": 500, "message": "Unexpected API Error."}}`, core.ErrServer, "Unexpected API Error.", true},
		{"503 of a proxy", 503, "<html><title>503</title></html>", core.ErrServer, "503 Service Unavailable", true},
		{"504", 504, "", core.ErrTimeout, "504 Gateway Timeout", true},
		{"Neutron's shape", 409, `{"NeutronError": {"type": "X", "message": "in use", "detail": "by a port"}}`, core.ErrConflict,
			"in use: by a port", false},
		{"plain text", 400, "no\n", core.ErrInvalid, "no", false},
		{"odd JSON", 400, `{"badRequest": 7}`, core.ErrInvalid, "400 Bad Request", false},
		{"an array", 400, `["x"]`, core.ErrInvalid, `["x"]`, false},
		{"a teapot", 418, ``, core.ErrOther, "418 I'm a teapot", false},
		{"long", 400, `{"badRequest": {"message": "` + long + `"}}`, core.ErrInvalid, long[:4092] + "…", false},
		{"not UTF-8", 400, "a\xffb", core.ErrInvalid, "a\uFFFDb", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				f := newFakeCloud(t)
				f.answer("POST /compute/v2.1/servers/a/action", tt.status, tt.body)
				e := apiError(t, writes(t, f.client(), nil).write(doing(core.IntentLiveMigrate, "a")))
				if e.Kind != tt.kind || e.Message != tt.message || e.Uncertain() != tt.uncertain || e.Status != tt.status {
					t.Errorf("got %s %q uncertain=%v, want %s %q uncertain=%v", e.Kind, e.Message, e.Uncertain(), tt.kind, tt.message, tt.uncertain)
				}
				if e.Call != "live-migrate instance a" || e.Server != core.ServerOpenStack {
					t.Errorf("call %q at %q", e.Call, e.Server)
				}
				if n := len(f.seen("POST /compute")); n != 1 {
					t.Errorf("the write was sent %d times", n)
				}
				if tt.kind == core.ErrForbidden && !strings.Contains(e.Remedy, "os_compute_api:os-migrate-server:migrate_live") {
					t.Errorf("remedy %q does not name the policy", e.Remedy)
				}
			})
		})
	}
}

func TestALostAnswerIsUncertain(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := newFakeCloud(t)
		f.on("POST /compute/v2.1/servers/a/action", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
		e := apiError(t, writes(t, f.client(), nil).write(doing(core.IntentColdMigrate, "a")))
		if !e.Uncertain() {
			t.Errorf("%s is certain", e)
		}
		if n := len(f.seen("POST /compute")); n != 1 {
			t.Errorf("the write was sent %d times", n)
		}
	})
}

func TestReadsOfTheWriter(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		ctx := context.Background()
		f := newFakeCloud(t)
		f.answer("GET /compute/v2.1/servers/a", 200, `{"server": `+serverBody+`}`)
		f.answer("GET /compute/v2.1/servers/gone", 200, `{"server": {"id": "gone", `+somewhere+`, "status": "DELETED"}}`)
		f.answer("GET /compute/v2.1/os-services", 200, `{"services": [
		{"id": "u1", "binary": "nova-compute", "host": "kaas-node-001", "status": "disabled", "state": "up", "zone": "nova",
		 "disabled_reason": "OSDPL: Node is under maintenance", "forced_down": false, "updated_at": "2026-01-16T15:25:37.000000"},
		{"id": "u2", "binary": "nova-scheduler", "host": "kaas-node-001", "status": "enabled", "state": "up"}]}`)
		w := writes(t, f.client(), nil)
		if i, err := w.Instance(ctx, "a"); err != nil || i.Name != "web-1" {
			t.Error(i, err)
		}
		for _, id := range []string{"gone", "unknown"} {
			_, err := w.Instance(ctx, id)
			if e := apiError(t, err); e.Kind != core.ErrNotFound {
				t.Errorf("%s: %s", id, e)
			}
		}
		service, err := w.ComputeService(ctx, "kaas-node-001")
		if err != nil {
			t.Fatal(err)
		}
		want := &core.ComputeService{ID: "u1", Host: "kaas-node-001", DisabledReason: core.DisabledReasonMaintenance, Up: true, Zone: "nova",
			Updated: parseTime("2026-01-16T15:25:37Z")}
		if diff := cmp.Diff(want, service); diff != "" {
			t.Errorf("service (-want +got):\n%s", diff)
		}
		_, err = w.ComputeService(ctx, "kaas-node-002")
		if e := apiError(t, err); e.Kind != core.ErrNotFound {
			t.Error(e)
		}
		_, err = w.InstancesOf(ctx, "")
		if e := apiError(t, err); e.Kind != core.ErrInvalid {
			t.Error(e)
		}
	})
}
