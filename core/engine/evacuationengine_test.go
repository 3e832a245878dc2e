package engine

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/evacuation"
	"lockstep/scene"
	"lockstep/sim/bubble"
)

// evacuationAnswers is OpenStack as a forecast asks it.
type evacuationAnswers struct {
	facts core.EvacuationFacts
	query core.EvacuationQuery
	wait  bool
}

func (a *evacuationAnswers) EvacuationFacts(ctx context.Context, q core.EvacuationQuery,
	progress core.InventoryProgress) core.EvacuationFacts {
	a.query = q
	progress("hosts' inventories", 1)
	if a.wait {
		<-ctx.Done()
	}
	return a.facts
}

func TestTheEngineAsksForAForecastOnly(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		answers := &evacuationAnswers{facts: core.EvacuationFacts{Microversion: 93}}
		e := New(Config{Evacuation: answers, Wall: func() time.Time { return scene.Noon },
			Sources: []core.SourceID{core.SourceNodes, core.SourceInstances, core.SourceComputeServices}})
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- e.Run(ctx) }()
		n := &core.Node{Meta: core.Meta{Name: "cmp-01", UID: "u1"}, Roles: []core.Role{core.RoleCompute}}
		in := &core.Instance{ID: "i1", Name: "web", Host: "cmp-01", Status: "ACTIVE", VMState: "active", Power: core.PowerRunning,
			SharedFlavor: &core.Flavor{RAMMiB: 1024,
				ExtraSpecs: map[string]string{"trait:CUSTOM_FAST": "required", "trait:CUSTOM_ODD": "nonsense"}}}
		e.Apply(core.Delta{Source: core.SourceNodes, State: core.SourceLive, Replace: true, Upserts: []core.Object{n}})
		e.Apply(core.Delta{Source: core.SourceInstances, State: core.SourceLive, Replace: true, Upserts: []core.Object{in}})
		snapshots, cancel := e.Subscribe()
		for s := range snapshots {
			if s.Instances.Len() == 1 && len(s.Nodes) == 1 {
				break
			}
		}
		cancel()
		told := 0
		p, err := e.ForecastEvacuation(t.Context(), evacuation.Request{Nodes: []string{"cmp-01"}}, func(string, int) { told++ })
		if err != nil || !p.Made.Equal(scene.Noon) || p.Counts.Unknown != 1 || told != 1 {
			t.Errorf("%+v, %v, told %d times", p.Counts, err, told)
		}
		if q := answers.query; !slices.Equal(q.Hosts, []string{"cmp-01"}) || !slices.Equal(q.Traits, []string{"CUSTOM_FAST"}) ||
			q.Loads["cmp-01"].Instances != 1 || q.Loads["cmp-01"].Takes["MEMORY_MB"] != 1024 {
			t.Errorf("asked about %+v", q)
		}
		answers.wait = true
		late, give := context.WithCancel(t.Context())
		give()
		if _, err := e.ForecastEvacuation(late, evacuation.Request{}, nil); !errors.Is(err, context.Canceled) {
			t.Errorf("given up, and the answer is %v", err)
		}
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if _, err := New(Config{}).ForecastEvacuation(t.Context(), evacuation.Request{}, nil); err == nil ||
			!strings.Contains(err.Error(), "OpenStack") {
			t.Error(err)
		}
	})
}
