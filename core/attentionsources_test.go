package core

import (
	"strings"
	"testing"
	"time"
)

// One cause is one entry, whatever the states that it has brought sources to, and it stands first in what the entry says.
func TestOneCauseIsOneEntryAndStandsFirst(t *testing.T) {
	refused := &APIError{Kind: ErrUnauthorized, Status: 401, Call: "log in to admin at http://keystone/v3", Message: "The request you have made requires authentication.", Remedy: "check it"}
	nobody := &APIError{Kind: ErrUnreachable, Call: "list x", Message: "dial tcp 10.0.0.1:443: connect: connection refused"}
	for name, tt := range map[string]struct {
		server   Server
		err      *APIError
		since    time.Duration
		but      SourceID // is live
		states   []SourceState
		severity Severity
		reason   string
	}{
		"a wrong password": {ServerOpenStack, refused, time.Hour, "", []SourceState{SourceFailed}, SeverityWarning,
			"login refused: nothing of it is seen: The request you have made requires authentication"},
		"a password that has become wrong": {ServerOpenStack, refused, time.Hour, "", []SourceState{SourceStale, SourceFailed}, SeverityWarning,
			"login refused: "},
		"Kubernetes is away for a moment": {ServerKubernetes, nobody, 10 * time.Second, "", []SourceState{SourceStale}, SeverityWarning,
			"unreachable: not confirmed for 10 s: dial tcp 10.0.0.1:443: connect: connection refused"},
		"Kubernetes is away": {ServerKubernetes, nobody, 10 * time.Minute, "", []SourceState{SourceStale, SourceFailed}, SeverityUrgent,
			"unreachable: "},
		"Kubernetes is away, but for one": {ServerKubernetes, nobody, 10 * time.Minute, SourceNodes, []SourceState{SourceStale}, SeverityWarning,
			"unreachable: clustermaintenancerequests, clusterworkloadlocks, "},
	} {
		t.Run(name, func(t *testing.T) {
			sc := newScene()
			n := 0
			for id, src := range sc.Sources {
				if id.Server() != tt.server || id == tt.but || src.State == SourceOff {
					continue
				}
				src.State, src.Err, src.Since, src.AsOf = tt.states[n%len(tt.states)], tt.err, ago(tt.since), ago(tt.since)
				if src.State == SourceFailed {
					src.AsOf = time.Time{}
				}
				sc.Sources[id] = src
				n++
			}
			var got []Attention
			for _, a := range sc.Attention() {
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
