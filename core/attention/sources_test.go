package attention

import (
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/scene"
)

// A server that is away is one urgent entry, in however many words its sources say so, and though one of them was never to be seen.
func TestAServerThatIsAwaySaysSoInManyWords(t *testing.T) {
	errs := []*core.APIError{
		{Kind: core.ErrServer, Status: 502, Call: "list x", Message: "bad gateway"},
		{Kind: core.ErrServer, Status: 503, Call: "list x", Message: "no server is available"},
		{Kind: core.ErrTimeout, Call: "list x"},
		{Kind: core.ErrTooManyRequests, Status: 429, Call: "list x"},
		nil, // no error says why
	}
	for name, tt := range map[string]struct {
		but    core.SourceID // is live
		urgent bool
	}{"all of them": {"", true}, "all but one": {core.SourceNodes, false}} {
		sc := scene.NewScene()
		n := 0
		for id, src := range sc.Sources {
			if id.Server() != core.ServerKubernetes || id == tt.but || src.State == core.SourceOff {
				continue
			}
			src.State, src.Err = core.SourceStale, errs[n%len(errs)]
			src.Since, src.AsOf = scene.Ago(10*time.Minute), scene.Ago(10*time.Minute)
			if n++; id == core.SourceOpenStackDeployment {
				src.State, src.Err = core.SourceForbidden, &core.APIError{Kind: core.ErrForbidden, Status: 403}
			}
			sc.Sources[id] = src
		}
		urgent, whole := 0, 0
		for _, a := range Of(sc.Snapshot) {
			if a.Rule == core.RuleSources && a.Severity == core.SeverityUrgent {
				urgent++
			}
			if a.ID == string(core.RuleSources)+"/"+string(core.ServerKubernetes) {
				whole++
			}
		}
		if (urgent == 1) != tt.urgent || (whole == 1) != tt.urgent {
			t.Errorf("%s: %d urgent, %d of the whole server", name, urgent, whole)
		}
	}
}

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
