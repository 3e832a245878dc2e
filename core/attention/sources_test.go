package attention

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// One cause is one entry, whatever states its sources are in, and the entry names the cause first.
func TestOneCauseIsOneEntryAndStandsFirst(t *testing.T) {
	refused := &core.APIError{Kind: core.ErrUnauthorized, Status: 401, Call: "log in to admin at http://keystone/v3",
		Message: "The request you have made requires authentication.", Remedy: "check it"}
	nobody := &core.APIError{Kind: core.ErrUnreachable, Call: "list x", Message: "dial tcp 10.0.0.1:443: connect: connection refused"}
	for name, tt := range map[string]struct {
		server   core.Server
		err      *core.APIError
		since    time.Duration
		but      core.SourceID // is live
		states   []core.SourceState
		severity core.Severity
		reason   string
	}{
		"a wrong password": {core.ServerOpenStack, refused, time.Hour, "", []core.SourceState{core.SourceFailed}, core.SeverityWarning,
			"login refused: nothing of it is seen: The request you have made requires authentication"},
		"a password that has become wrong": {core.ServerOpenStack, refused, time.Hour, "",
			[]core.SourceState{core.SourceStale, core.SourceFailed}, core.SeverityWarning,
			"login refused: "},
		"Kubernetes is away for a moment": {core.ServerKubernetes, nobody, 10 * time.Second, "", []core.SourceState{core.SourceStale},
			core.SeverityWarning,
			"unreachable: not confirmed for 10 s: dial tcp 10.0.0.1:443: connect: connection refused"},
		"Kubernetes is away": {core.ServerKubernetes, nobody, 10 * time.Minute, "", []core.SourceState{core.SourceStale, core.SourceFailed},
			core.SeverityUrgent,
			"unreachable: "},
		"Kubernetes is away, but for one": {core.ServerKubernetes, nobody, 10 * time.Minute, core.SourceNodes,
			[]core.SourceState{core.SourceStale}, core.SeverityWarning,
			"unreachable: cephclusters, clustermaintenancerequests, "},
	} {
		t.Run(name, func(t *testing.T) {
			sc := scene.NewScene()
			n := 0
			for id, src := range sc.Sources {
				if id.Server() != tt.server || id == tt.but || src.State == core.SourceOff {
					continue
				}
				src.State, src.Err, src.Since, src.AsOf = tt.states[n%len(tt.states)], tt.err, scene.Ago(tt.since), scene.Ago(tt.since)
				if src.State == core.SourceFailed {
					src.AsOf = time.Time{}
				}
				sc.Sources[id] = src
				n++
			}
			var got []core.Attention
			for _, a := range Of(sc.Snapshot) {
				if strings.HasPrefix(a.ID, "source") && a.Label == string(tt.server) {
					got = append(got, a)
				}
			}
			if len(got) != 1 || got[0].Severity != tt.severity || !strings.HasPrefix(got[0].Reason, tt.reason) || got[0].Detail != tt.err.Remedy {
				t.Errorf("of %d sources, got %+v", n, got)
			}
		})
	}
}
