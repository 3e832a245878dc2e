package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/permittest"
	"lockstep/scene"
)

// fakeManagement is a management cluster for the writers.
type fakeManagement struct {
	wanted   *bool
	is       bool // the cluster
	inMode   []string
	inGroup  []string // machines of an update group
	request  *core.RebootRequest
	writes   []string
	objects  map[core.Kind]core.Object // by which an update is driven
	lost     bool
	readFail error
}

func (f *fakeManagement) DryRun(context.Context, core.Change) error { return nil }

func (f *fakeManagement) Write(_ context.Context, p Permit, c core.Change) error {
	if err := TakePermit(p, c, core.ServerManagement); err != nil {
		return err
	}
	switch c := c.(type) {
	case core.SetAutoPause:
		f.writes = append(f.writes, c.Pause.String())
		if delete(f.objects, core.KindAutoPause); len(c.New) > 0 {
			f.objects[core.KindAutoPause] = &core.AutoPause{Meta: core.Meta{UID: "made"}, Alerts: c.New}
		}
	case core.SetGroup:
		f.writes = append(f.writes, c.Group.String())
		if delete(f.objects, core.KindUpdateGroup); c.New != nil {
			f.objects[core.KindUpdateGroup] = (&core.MachineGroup{Meta: core.Meta{UID: "made"}}).With(*c.New)
		}
	case core.SetMachineGroup:
		f.writes = append(f.writes, c.Machine.String())
		f.objects[core.KindMachine].(*core.ManagedMachine).Group = c.New
	case core.SetUpgradeIndex:
		f.writes = append(f.writes, c.Machine.String())
		f.objects[core.KindMachine].(*core.ManagedMachine).IndexAsked = c.New
	case core.SetRelease:
		f.writes = append(f.writes, c.Cluster.String())
		f.objects[core.KindCluster].(*core.ManagedCluster).Target = c.New
	case core.SetCommence:
		f.writes = append(f.writes, c.Plan.String())
		f.objects[core.KindUpdatePlan].(*core.UpdatePlan).Steps[c.Index].Commence = c.On
	case core.SetMaintenance:
		f.writes = append(f.writes, c.Object.String())
		f.wanted = new(c.On)
	case core.RequestReboot:
		f.writes = append(f.writes, strings.Join(c.Machines, ","))
		f.request = &core.RebootRequest{Machines: c.Machines}
		if f.lost {
			return &core.APIError{Kind: core.ErrTimeout}
		}
	}
	return nil
}

func (f *fakeManagement) Maintenance(context.Context, core.Ref) (*bool, bool, error) {
	return f.wanted, f.is, f.readFail
}

func (f *fakeManagement) MachinesInMaintenance(context.Context, core.Ref) ([]string, error) {
	return f.inMode, f.readFail
}

func (f *fakeManagement) MachinesInGroup(context.Context, core.Ref, string) ([]string, error) {
	return f.inGroup, f.readFail
}

func (f *fakeManagement) RebootRequest(context.Context, core.Ref) (*core.RebootRequest, error) {
	if f.request == nil {
		return nil, &core.APIError{Kind: core.ErrNotFound, Message: "not found"}
	}
	return f.request, nil
}

func (f *fakeManagement) Object(_ context.Context, ref core.Ref) (core.Object, error) {
	if o, ok := f.objects[ref.Kind]; ok {
		return o, f.readFail
	}
	return nil, &core.APIError{Kind: core.ErrNotFound, Message: "not found"}
}

// Right before the write, the server itself is asked for what the order rests on.
func TestWritersOnTheManagementClusterAskTheServer(t *testing.T) {
	cluster, machine := core.Ref{Kind: core.KindCluster, Name: "mos"}, core.Ref{Kind: core.KindMachine, Name: "m-cmp-01"}
	for _, tt := range []struct {
		name   string
		server fakeManagement
		change core.Change
		why    string // of the refusal; empty: there is none
	}{
		{"cluster enters", fakeManagement{}, core.SetMaintenance{Object: cluster, On: true}, ""},
		{"cluster leaves", fakeManagement{}, core.SetMaintenance{Object: cluster}, ""},
		{"cluster leaves, a machine has entered meanwhile", fakeManagement{inMode: []string{"cmp-1"}}, core.SetMaintenance{Object: cluster},
			"still in maintenance mode: cmp-1"},
		{"machine enters", fakeManagement{is: true}, core.SetMaintenance{Object: machine, On: true}, ""},
		{"machine enters, the cluster has left meanwhile", fakeManagement{}, core.SetMaintenance{Object: machine, On: true},
			"the cluster is not in maintenance mode"},
		{"machine leaves", fakeManagement{}, core.SetMaintenance{Object: machine}, ""},
		{"reboot", fakeManagement{}, core.RequestReboot{Machines: []string{"a"}}, ""},
		{"reboot, another was asked for meanwhile", fakeManagement{request: &core.RebootRequest{}}, core.RequestReboot{Machines: []string{"a"}},
			"asked for already"},
		{"reboot of all", fakeManagement{}, core.RequestReboot{}, "would mean all"},
		{"reboot in maintenance mode", fakeManagement{is: true}, core.RequestReboot{Machines: []string{"a"}}, "in maintenance mode"},
		{"the server cannot be asked", fakeManagement{readFail: errors.New("away")}, core.SetMaintenance{Object: cluster}, "away"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := New(Config{Management: &tt.server, Writers: Writers{Management: &tt.server}})
			w := checkerOf(e, core.Step{}, tt.change)
			err := w.check(t.Context())
			if (err == nil) != (tt.why == "") || err != nil && !strings.Contains(err.Error(), tt.why) {
				t.Errorf("the check says %v, want %q", err, tt.why)
			}
			if len(tt.server.writes) > 0 {
				t.Errorf("the check has written %v", tt.server.writes)
			}
			if err == nil {
				if err := tt.server.Write(t.Context(), permittest.For(t, tt.change), tt.change); err != nil {
					t.Fatal(err)
				}
				if o := w.outcome(t.Context(), sent{began: scene.Noon, accepted: true}); o.state != core.OperationDone {
					t.Errorf("the outcome is %+v", o)
				}
			}
		})
	}
	if _, err := New(Config{}).target(core.ServerManagement); !errors.Is(err, ErrRefused) {
		t.Errorf("without a management cluster: %v", err)
	}
}

// A lost answer is looked up. Somebody else's request is not taken for ours. A request that is gone was worked off.
func TestHowARebootRequestEnded(t *testing.T) {
	for _, tt := range []struct {
		name   string
		server fakeManagement
		after  func(f *fakeManagement)
		want   core.OperationState
	}{
		{"the answer was lost, it is there", fakeManagement{lost: true}, func(*fakeManagement) {}, core.OperationDone},
		{"another one is there", fakeManagement{lost: true}, func(f *fakeManagement) { f.request = &core.RebootRequest{Machines: []string{"b"}} },
			core.OperationFailed},
		{"accepted, and gone again", fakeManagement{}, func(f *fakeManagement) { f.request = nil }, core.OperationDone},
	} {
		c := core.RequestReboot{Machines: []string{"a"}}
		w := &rebootChecker{management: &tt.server, change: c}
		err := tt.server.Write(t.Context(), permittest.For(t, c), c) // it may be lost
		tt.after(&tt.server)
		if o := w.outcome(t.Context(), sent{began: scene.Noon, accepted: err == nil}); o.state != tt.want {
			t.Errorf("%s: %+v, want %s", tt.name, o, tt.want)
		}
	}
	w := &rebootChecker{management: &fakeManagement{}, change: core.RequestReboot{Machines: []string{"a"}}}
	if o := w.outcome(t.Context(), sent{began: scene.Noon}); o.err == nil {
		t.Errorf("a request that nobody accepted and that is not there: %+v", o)
	}
}
