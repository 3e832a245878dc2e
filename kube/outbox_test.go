package kube

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"lockstep/core"
)

func lock(name, uid string) core.Object {
	return &core.WorkloadLock{Meta: core.Meta{Name: name, UID: uid}}
}

// TestOutboxMergesWhatWaits puts Deltas while nobody takes them, and looks at what arrives.
func TestOutboxMergesWhatWaits(t *testing.T) {
	const a, b = core.SourceNodeLocks, core.SourceNodes
	failed := &core.APIError{Kind: core.ErrUnreachable}
	earlier, later := date(2026, 1, 2, 3, 4, 0), date(2026, 1, 2, 3, 4, 5)
	tests := map[string]struct{ put, want []core.Delta }{
		"a burst of events is one Delta, the newest of each object": {
			[]core.Delta{
				{Source: a, Upserts: []core.Object{lock("l1", "1")}},
				{Source: a, Upserts: []core.Object{lock("l2", "2")}},
				{Source: b, Touch: true},
				{Source: a, Upserts: []core.Object{lock("l1", "1b")}},
			},
			[]core.Delta{
				{Source: a, Upserts: []core.Object{lock("l1", "1b"), lock("l2", "2")}},
				{Source: b, Touch: true},
			},
		},
		"an object that came and went in a burst is gone": {
			[]core.Delta{{Source: a, Upserts: []core.Object{lock("l1", "1")}}, {Source: a, Deletes: []string{"l1"}}},
			[]core.Delta{{Source: a, Upserts: []core.Object{}, Deletes: []string{"l1"}}},
		},
		"an object that was deleted and made again shows as both": {
			[]core.Delta{{Source: a, Deletes: []string{"l1"}}, {Source: a, Upserts: []core.Object{lock("l1", "2")}}},
			[]core.Delta{{Source: a, Deletes: []string{"l1"}}, {Source: a, Upserts: []core.Object{lock("l1", "2")}}},
		},
		"no change of state is swallowed": {
			[]core.Delta{{Source: a, State: core.SourceStale, Err: failed}, {Source: a, State: core.SourceLive, Replace: true}},
			[]core.Delta{{Source: a, State: core.SourceStale, Err: failed}, {Source: a, State: core.SourceLive, Replace: true}},
		},
		"a list takes in the events after it": {
			[]core.Delta{
				{Source: a, State: core.SourceLive, Replace: true, Upserts: []core.Object{lock("l1", "1"), lock("l2", "2")}},
				{Source: a, Deletes: []string{"l1"}},
			},
			[]core.Delta{{Source: a, State: core.SourceLive, Replace: true, Upserts: []core.Object{lock("l2", "2")}, Deletes: []string{"l1"}}},
		},
		"a change of state keeps its time": {
			[]core.Delta{{Source: a, At: later, State: core.SourceLive}, {Source: a, At: earlier, Touch: true}},
			[]core.Delta{{Source: a, At: later, State: core.SourceLive}, {Source: a, At: earlier, Touch: true}},
		},
		"a confirmation does not vanish in a failure": {
			[]core.Delta{{Source: a, State: core.SourceStale, Err: failed}, {Source: a, Touch: true}},
			[]core.Delta{{Source: a, State: core.SourceStale, Err: failed}, {Source: a, Touch: true}},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			var got []core.Delta
			o := newOutbox(func(d core.Delta) {
				if got = append(got, d); len(got) == len(tt.want) {
					cancel()
				}
			})
			for _, d := range tt.put {
				o.put(d)
			}
			o.run(ctx)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Deltas differ (-want +got):\n%s", diff)
			}
			if len(o.pending) != 0 {
				t.Errorf("left over: %+v", o.pending)
			}
		})
	}
}
