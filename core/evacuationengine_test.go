package core

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// evacuationAnswers is OpenStack as a forecast asks it.
type evacuationAnswers struct {
	facts         EvacuationFacts
	hosts, traits []string
	wait          bool
}

func (a *evacuationAnswers) EvacuationFacts(ctx context.Context, hosts, traits []string, progress InventoryProgress) EvacuationFacts {
	a.hosts, a.traits = hosts, traits
	progress("hosts' inventories", 1)
	if a.wait {
		<-ctx.Done()
	}
	return a.facts
}

func TestTheEngineAsksForAForecastOnly(t *testing.T) {
	answers := &evacuationAnswers{facts: EvacuationFacts{Microversion: 93}}
	e := New(Config{Evacuation: answers, Wall: func() time.Time { return noon }, Sources: []SourceID{SourceNodes, SourceInstances, SourceComputeServices}})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Run(ctx) }()
	n := &Node{Meta: Meta{Name: "cmp-01", UID: "u1"}, Roles: []Role{RoleCompute}}
	in := &Instance{ID: "i1", Name: "web", Host: "cmp-01", Status: "ACTIVE", VMState: "active", Power: PowerRunning,
		Flavor: Flavor{RAMMiB: 1024, ExtraSpecs: map[string]string{"trait:CUSTOM_FAST": "required", "trait:CUSTOM_ODD": "nonsense"}}}
	e.Apply(Delta{Source: SourceNodes, State: SourceLive, Replace: true, Upserts: []Object{n}})
	e.Apply(Delta{Source: SourceInstances, State: SourceLive, Replace: true, Upserts: []Object{in}})
	snapshots, cancel := e.Subscribe()
	for s := range snapshots {
		if len(s.Instances) == 1 && len(s.Nodes) == 1 {
			break
		}
	}
	cancel()
	told := 0
	p, err := e.ForecastEvacuation(t.Context(), EvacuationRequest{Nodes: []string{"cmp-01"}}, func(string, int) { told++ })
	if err != nil || !p.Made.Equal(noon) || p.Counts.Unknown != 1 || told != 1 {
		t.Errorf("%+v, %v, told %d times", p.Counts, err, told)
	}
	if !slices.Equal(answers.hosts, []string{"cmp-01"}) || !slices.Equal(answers.traits, []string{"CUSTOM_FAST"}) {
		t.Errorf("asked about %q and %q", answers.hosts, answers.traits)
	}
	answers.wait = true
	late, give := context.WithCancel(t.Context())
	give()
	if _, err := e.ForecastEvacuation(late, EvacuationRequest{}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("given up, and the answer is %v", err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := New(Config{}).ForecastEvacuation(t.Context(), EvacuationRequest{}, nil); err == nil || !strings.Contains(err.Error(), "OpenStack") {
		t.Error(err)
	}
}
