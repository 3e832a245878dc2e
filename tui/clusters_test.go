package tui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/core/fleet"
)

// clusterDesk knows how to open all clusters but mos-ber.
type clusterDesk struct{ views chan *fleet.View }

func (d clusterDesk) Subscribe() (<-chan *fleet.View, func()) { return d.views, func() {} }

func (clusterDesk) ReadLogin(context.Context, fleet.ID) error { return nil }

func (clusterDesk) Access(id fleet.ID) ClusterAccess {
	if id.Name == "mos-ber" {
		return ClusterAccess{Lack: "the configuration names no context for it (clusters)"}
	}
	return ClusterAccess{How: "context " + id.Name}
}

// theFleet is seven clusters in different states.
func theFleet() *fleet.View {
	row := func(name string, change func(*fleet.Row)) fleet.Row {
		r := fleet.Row{ID: fleet.ID{Project: strings.TrimPrefix(name, "mos-"), Name: name}, Release: "21.0.0", State: fleet.StateRests}
		change(&r)
		return r
	}
	updates := func(state fleet.State, done, nodes int) func(*fleet.Row) {
		return func(r *fleet.Row) {
			r.Release, r.Target, r.State, r.Phase, r.Step = "17.4.0", "21.0.0", state, core.PhaseWorkers, "group default"
			r.Nodes, r.Done, r.NodesKnown, r.Steps, r.StepsDone = nodes, done, true, 5, 3
			r.Started = before(5 * time.Hour)
		}
	}
	forbidden := &core.APIError{Kind: core.ErrForbidden, Server: core.ServerManagement, Call: "list clusters.cluster.k8s.io in namespace ber",
		Message: "clusters.cluster.k8s.io is forbidden", Remedy: "deploy/rbac-management-readonly.yaml gives the right."}
	v := &fleet.View{Name: "kaas-mgmt", Version: "2.30.0", Waits: "2.31.0", Now: fixtureNow, Complete: true,
		Sources: []core.Source{{ID: core.SourceClusters, State: core.SourceLive, AsOf: fixtureWall}},
		Denied:  []fleet.Denied{{Project: "ber", Err: forbidden}, {Project: "kube-system", Err: forbidden}},
		Rows: []fleet.Row{
			row("mos-mad", func(r *fleet.Row) {
				updates(fleet.StatePaused, 5, 9)(r)
				r.NoEnd = "group default does not go on"
				r.Needs = []fleet.Need{{Severity: core.SeverityUrgent, Label: "update plan",
					Reason: "the update is paused: CephClusterHealthCritical is firing"},
					{Severity: core.SeverityWarning, Label: "mos-mad-cmp-03",
						Reason: "state item host-os failed, attempt 2, exit code 1", Since: seen(12 * time.Minute)}}
			}),
			row("mos-fra", func(r *fleet.Row) {
				updates(fleet.StateUpdates, 31, 44)(r)
				r.Finish = fixtureNow.Add(5 * time.Hour)
			}),
			row("mos-par", func(r *fleet.Row) {
				updates(fleet.StateWaits, 3, 20)(r)
				r.NoEnd = "group default is not commenced"
				r.Needs = []fleet.Need{{Severity: core.SeverityWarning, Label: "update plan",
					Reason: "the update goes no further until somebody commences group default", Since: seen(3 * time.Hour)}}
			}),
			row("mos-lab", func(r *fleet.Row) { r.Release, r.State, r.Offered = "17.4.0", fleet.StateOffered, []string{"21.0.0"} }),
			row("mos-rom", func(*fleet.Row) {}),
			row("mos-vie", func(r *fleet.Row) { r.State = fleet.StateMaintenance }),
			row("mos-ber", func(r *fleet.Row) {
				r.Release, r.State = "", fleet.StateUnknown
				r.Missing = []fleet.Missing{{What: core.SourceClusters, Why: "forbidden", Err: forbidden}}
			}),
		}}
	return v
}

// driveClusters is the list of clusters on a screen.
func driveClusters(w, h int, v *fleet.View) *driver {
	list := NewClusters(clusterDesk{})
	d := drive(nil, w, h, func(o *Options) { o.Backend, o.clusters = nil, list })
	if v != nil {
		d.send(fleetMsg{v})
	}
	return d
}

func (d *driver) clusters() *clustersPage { return d.opts.clusters.page }

func TestTheListOfClusters(t *testing.T) {
	for _, size := range sizes {
		for _, screen := range []struct {
			name string
			keys []string
		}{{"clusters", nil}, {"clusters-denied", []string{"end"}}, {"clusters-filter", []string{"/", "state:up"}},
			{"clusters-help", []string{"?"}},
			{"clusters-inspect", []string{"i"}}, {"clusters-palette", []string{":", "mos-r"}}} {
			if screen.name != "clusters" && size.w == 120 {
				continue
			}
			name := fmt.Sprintf("%s-%dx%d", screen.name, size.w, size.h)
			t.Run(name, func(t *testing.T) {
				golden(t, name, stripped(driveClusters(size.w, size.h, theFleet()).keys(screen.keys...).shows()))
			})
		}
	}
}

// enter opens the cluster under the cursor, which stays on its cluster whatever happens to the order; one that cannot be opened says why.
func TestEnterOpensTheClusterUnderTheCursor(t *testing.T) {
	d := driveClusters(120, 40, theFleet()).keys("down")
	v := theFleet()
	slices.Reverse(v.Rows)
	d.send(fleetMsg{v})
	if _, cmd := d.Update(namedKeys["enter"]); cmd == nil || cmd() != (tea.QuitMsg{}) {
		t.Error("the screen does not end")
	}
	if id := d.clusters().chosen; id == nil || *id != (fleet.ID{Project: "fra", Name: "mos-fra"}) {
		t.Errorf("%v is opened", id)
	}
	d = driveClusters(120, 40, theFleet()).keys("end", "enter")
	if d.clusters().chosen != nil || !strings.Contains(d.shows(), "names no context") {
		t.Errorf("%v is opened:\n%s", d.clusters().chosen, stripped(d.shows()))
	}
	d = driveClusters(120, 40, theFleet()).keys("down")
	v.Rows = slices.DeleteFunc(v.Rows, func(r fleet.Row) bool { return r.Name == "mos-fra" })
	d.send(fleetMsg{v})
	if d.keys("enter"); d.clusters().chosen != nil || !strings.Contains(d.shows(), "mos-fra is no longer there") {
		t.Errorf("a neighbour is opened: %v\n%s", d.clusters().chosen, stripped(d.shows()))
	}
	if d.keys("esc", "esc", "enter"); d.clusters().chosen != nil || !strings.Contains(d.shows(), "mos-fra is no longer there") {
		t.Errorf("after esc a neighbour is opened: %v\n%s", d.clusters().chosen, stripped(d.shows()))
	}
}

// While the first facts come in the cursor is on the most urgent cluster; after a cluster was open it stays on that.
func TestTheCursorOfTheListStaysOnTheClusterThatWasOpen(t *testing.T) {
	v := theFleet()
	slices.Reverse(v.Rows)
	d := driveClusters(120, 40, v)
	d.send(fleetMsg{theFleet()})
	if d.clusters().rows.Cursor() != "mad/mos-mad" {
		t.Errorf("the cursor is on %s", d.clusters().rows.Cursor())
	}
	// Later the most urgent one may be another: enter opens the one that was shown as selected.
	d.later(settleWithin).send(fleetMsg{v})
	if d.clusters().rows.Cursor() != "mad/mos-mad" {
		t.Errorf("long after the start the cursor went to %s", d.clusters().rows.Cursor())
	}
	d.send(fleetMsg{theFleet()})
	list := d.opts.clusters
	d.keys("down", "enter")
	list.page.chosen, list.page.returned = nil, true // as RunClusters does
	again := drive(nil, 120, 40, func(o *Options) { o.Backend, o.clusters = nil, list })
	again.send(fleetMsg{v})
	if again.clusters().rows.Cursor() != "fra/mos-fra" {
		t.Errorf("the cursor is on %s", again.clusters().rows.Cursor())
	}
}

// What only makes sense in one cluster is not offered in the list.
func TestTheListOffersNothingOfASingleCluster(t *testing.T) {
	d := driveClusters(120, 40, theFleet())
	for _, key := range []string{"w", "l", "x", "h", "o", "t", "C", "esc", "backspace"} {
		d.keys(key)
	}
	if len(d.layers) != 1 || d.top() != layer(d.clusters()) {
		t.Errorf("%d layers are open: %s", len(d.layers), stripped(d.shows()))
	}
	if text := stripped(driveClusters(200, 60, theFleet()).keys("?").shows()); strings.Contains(text, "Switch writing on") {
		t.Errorf("the help offers to arm:\n%s", text)
	}
}

// esc on the dashboard of a cluster clears what there is to clear, and then leads back to the list; it asks while something runs.
func TestEscLeadsBackToTheList(t *testing.T) {
	back := 0
	with := func(o *Options) { o.Back = func() { back++ } }
	idle := world()
	idle.Operations = nil
	d := drive(idle, 120, 40, with).keys("/", "cmp", "enter", "esc")
	if back != 0 || d.pane(ScopeNodes).Filter() != "" {
		t.Fatalf("esc went back %d times, the filter is %q", back, d.pane(ScopeNodes).Filter())
	}
	if d.keys("esc"); back != 1 {
		t.Error("esc does not lead back")
	}
	armed := world()
	armed.Operations, armed.Write.Armed = nil, true
	d = drive(armed, 120, 40, with).keys("esc")
	if back != 1 || !strings.Contains(d.toast.text, "esc again switches it off and leaves") {
		t.Fatalf("while writing is on, one esc leaves: %q", d.toast.text)
	}
	d.send(toastGoneMsg{d.toast.n})
	if d.later(2 * hushFor).keys("esc"); back != 1 || !strings.Contains(d.toast.text, "esc again switches it off and leaves") {
		t.Errorf("a second esc leaves, though the message had gone: %q", d.toast.text)
	}
	if d.keys("esc"); back != 2 {
		t.Error("it cannot be left while writing is on")
	}
	back = 1
	d = drive(world(), 120, 40, with).keys("esc")
	if back != 1 || !strings.Contains(d.shows(), "Leave mos for the list of clusters?") {
		t.Fatalf("it does not ask:\n%s", stripped(d.shows()))
	}
	if d.keys("enter"); back != 1 {
		t.Error("enter on the first button leaves")
	}
	if d.keys("esc", "tab", "enter"); back != 2 {
		t.Error("it cannot be left")
	}
	if d := drive(idle, 120, 40).keys("esc", "C"); strings.Contains(d.shows(), "list of clusters") || back != 2 {
		t.Error("a cluster that was not opened from a list leads to one")
	}
}

// A box that leads to a change names the cluster, where the operator can have opened another.
func TestABoxNamesTheCluster(t *testing.T) {
	idle := world()
	idle.Operations = nil
	for name, keys := range map[string][]string{"arm": {"w"}, "form": {"3", "e"}, "confirmation": {"3", "e", "down", "enter"}} {
		boxed := func(change ...func(*Options)) string {
			lines := strings.Split(stripped(drive(idle, 120, 40, change...).keys(keys...).shows()), "\n")
			return strings.Join(lines[2:], "\n") // without the header, which always names it
		}
		if frame := boxed(func(o *Options) { o.Back = func() {} }); !strings.Contains(frame, " mos ") {
			t.Errorf("%s does not name the cluster:\n%s", name, frame)
		}
		if frame := boxed(); strings.Contains(frame, " mos ") {
			t.Errorf("%s names the only cluster:\n%s", name, frame)
		}
		// As the list calls it: the kubeconfig may call it otherwise.
		if frame := boxed(func(o *Options) { o.Back, o.Cluster = func() {}, "prod/mos-fra" }); !strings.Contains(frame, " prod/mos-fra ") {
			t.Errorf("%s does not name the cluster as the list does:\n%s", name, frame)
		}
	}
	d := drive(world(), 120, 40, func(o *Options) { o.Back, o.Cluster = func() {}, "prod/mos-fra" }).keys("esc")
	if !strings.Contains(d.shows(), "Leave prod/mos-fra for the list of clusters?") {
		t.Errorf("leaving does not name the cluster as the list does:\n%s", stripped(d.shows()))
	}
}

// A management cluster that answers nothing but errors: the list says so, and when it asks again.
func TestTheListSaysWhenItAsksAgain(t *testing.T) {
	for _, size := range sizes {
		d := driveClusters(size.w, size.h, nil)
		d.send(fleetMsg{&fleet.View{Name: "management", Now: fixtureNow, Sources: []core.Source{{ID: core.SourceClusters,
			State: core.SourceFailed, AsOf: d.now().Add(-3 * time.Hour), Next: d.now().Add(4 * time.Second),
			Err: &core.APIError{Kind: core.ErrServer, Server: core.ServerManagement,
				Call: "list clusters.cluster.k8s.io", Status: 503, Message: "etcd has no leader"}}}}})
		if text := stripped(d.shows()); !strings.Contains(text, "3 h 00 m old, again in 4 s") || !strings.Contains(text, "etcd has no leader") {
			t.Errorf("%dx%d:\n%s", size.w, size.h, text)
		}
	}
}

// loginDesk opens clusters by the logins that the management cluster has of them.
type loginDesk struct {
	clusterDesk
	asked bool
	read  []fleet.ID
	err   error
}

func (d *loginDesk) Access(id fleet.ID) ClusterAccess {
	if id.Name == "mos-rom" {
		return d.clusterDesk.Access(id)
	}
	return ClusterAccess{How: "its Secret on the management cluster", Login: &ClusterLogin{Secret: id.Name + "-kubeconfig",
		Namespace: id.Project, As: "context kaas-mgmt of /home/ann/.kube/config", OpenStack: "not configured: instances are not seen",
		Asked: d.asked}}
}

func (d *loginDesk) ReadLogin(_ context.Context, id fleet.ID) error {
	d.read = append(d.read, id)
	return d.err
}

func driveLogins(w, h int, desk *loginDesk) *driver {
	list := NewClusters(desk)
	d := drive(nil, w, h, func(o *Options) { o.Backend, o.clusters = nil, list })
	d.send(fleetMsg{theFleet()})
	return d
}

// A login is read only when it is asked for: enter asks, and enter again reads nothing. A cluster with a context opens as before.
func TestALoginIsReadOnlyWhenItIsAskedFor(t *testing.T) {
	forbidden := &core.APIError{Kind: core.ErrForbidden, Server: core.ServerManagement, Call: "get secret", Message: "secrets is forbidden",
		Remedy: "deploy/rbac-management-logins.yaml gives the right."}
	fra := fleet.ID{Project: "fra", Name: "mos-fra"}
	for name, tt := range map[string]struct {
		asked  bool
		err    error
		keys   []string
		reads  int
		opens  bool
		says   string
		closed bool // the box
	}{
		"it asks":                       {false, nil, []string{"enter"}, 0, false, "Read the login of fra/mos-fra?", false},
		"enter twice":                   {false, nil, []string{"enter", "enter"}, 0, false, "", true},
		"other keys":                    {false, nil, []string{"enter", "w", "i", "j", "y"}, 0, false, "Read the login of fra/mos-fra?", false},
		"esc":                           {false, nil, []string{"enter", "tab", "esc"}, 0, false, "", true},
		"it is confirmed":               {false, nil, []string{"enter", "tab", "enter"}, 1, true, "", true},
		"it is refused":                 {false, forbidden, []string{"enter", "tab", "enter"}, 1, false, "rbac-management-logins.yaml", false},
		"it is refused, and enter":      {false, forbidden, []string{"enter", "tab", "enter", "enter"}, 1, false, "", true},
		"it is refused, and once more":  {false, forbidden, []string{"enter", "tab", "enter", "tab", "enter"}, 2, false, "forbidden", false},
		"the configuration asks for it": {true, nil, []string{"enter"}, 1, true, "", true},
		"and it is refused":             {true, forbidden, []string{"enter"}, 1, false, "rbac-management-logins.yaml", false},
	} {
		desk := &loginDesk{asked: tt.asked, err: tt.err}
		d := driveLogins(120, 40, desk).keys("down").keys(tt.keys...)
		chosen := d.clusters().chosen
		if len(desk.read) != tt.reads || (chosen != nil) != tt.opens || chosen != nil && *chosen != fra {
			t.Errorf("%s: it reads %v and opens %v", name, desk.read, chosen)
		}
		if _, open := d.top().(*loginDialog); open == tt.closed || !strings.Contains(d.shows(), tt.says) {
			t.Errorf("%s: the box is open: %v:\n%s", name, open, stripped(d.shows()))
		}
	}
	desk := &loginDesk{}
	d := driveLogins(120, 40, desk).keys("/", "rom", "enter", "enter")
	if d.clusters().chosen == nil || len(desk.read) > 0 {
		t.Errorf("a cluster with a context is opened as %v, after reading %v", d.clusters().chosen, desk.read)
	}
}

// An answer that comes after the question was given up opens nothing.
func TestAGivenUpLoginOpensNothing(t *testing.T) {
	d := driveLogins(120, 40, &loginDesk{}).keys("down", "enter", "tab")
	box := d.top().(*loginDialog)
	_, cmd := d.Update(namedKeys["enter"])
	if !box.reading || cmd == nil || !strings.Contains(d.shows(), "reading; esc gives up") {
		t.Fatalf("it does not read:\n%s", stripped(d.shows()))
	}
	if d.keys("enter", "tab"); !box.reading || box.stop == nil {
		t.Error("enter on what is being read does something")
	}
	d.keys("esc")
	d.run(cmd)
	if d.clusters().chosen != nil {
		t.Errorf("%v is opened", d.clusters().chosen)
	}
}

func TestTheBoxOfALogin(t *testing.T) {
	for _, size := range sizes {
		name := fmt.Sprintf("clusters-login-%dx%d", size.w, size.h)
		t.Run(name, func(t *testing.T) {
			golden(t, name, stripped(driveLogins(size.w, size.h, &loginDesk{}).keys("down", "enter", "tab").shows()))
		})
		name = fmt.Sprintf("clusters-login-refused-%dx%d", size.w, size.h)
		t.Run(name, func(t *testing.T) {
			desk := &loginDesk{err: &core.APIError{Kind: core.ErrForbidden, Server: core.ServerManagement,
				Call:    "get secret mos-fra-kubeconfig in namespace fra",
				Message: `secrets "mos-fra-kubeconfig" is forbidden: User "ann" cannot get resource "secrets" in the namespace "fra"`,
				Remedy:  "deploy/rbac-management-logins.yaml gives the right to get this one Secret."}}
			golden(t, name, stripped(driveLogins(size.w, size.h, desk).keys("down", "enter", "tab", "enter").shows()))
		})
	}
}

// An end within a day is a time without its date, which leaves the room to what needs a person.
func TestAnEndWithinADayIsATime(t *testing.T) {
	v := theFleet()
	v.Rows[1].Finish = fixtureNow.Add(14 * time.Hour)
	got := stripped(driveClusters(120, 40, v).shows())
	if want := "~" + v.Rows[1].Finish.Local().Format("15:04"); !strings.Contains(got, " "+want) {
		t.Errorf("%q is not shown:\n%s", want, got)
	}
}

// Names that are long take no room from when an update ends and from what needs a person: at 120 columns and wider an end days away is
// whole, and at 80 the need begins.
func TestLongNamesLeaveRoomForTheRest(t *testing.T) {
	v := theFleet()
	for i := range v.Rows {
		v.Rows[i].Name += "-with-a-name-that-is-very-long-indeed"
	}
	v.Rows[1].Finish = fixtureNow.Add(4 * 24 * time.Hour)
	for w, want := range map[int][]string{80: {"update plan: t"}, 120: {"~Mar 18 16:43", "update plan"}, 200: {"~Mar 18 16:43",
		"CephClusterHealthCritical is firing"}} {
		got := stripped(driveClusters(w, 40, v).shows())
		for _, text := range want {
			if !strings.Contains(got, text) {
				t.Errorf("%q is not shown at %d columns:\n%s", text, w, got)
			}
		}
	}
}

// A cluster of which something could not be read is not drawn as one at rest.
func TestAClusterThatIsReadInPartIsNotDrawnAsAtRest(t *testing.T) {
	v := theFleet()
	failed := &core.APIError{Kind: core.ErrServer, Server: core.ServerManagement, Call: "list", Message: "no"}
	v.Rows = slices.DeleteFunc(v.Rows, func(r fleet.Row) bool { return r.Name != "mos-rom" })
	d := driveClusters(120, 40, v)
	p, row := d.clusters(), &v.Rows[0]
	if m := p.mark(row); m.glyph != p.look.Glyph.Done {
		t.Errorf("at rest, it has the mark %q", m.glyph)
	}
	row.Missing = []fleet.Missing{{What: core.SourcePlans, Why: failed.Cause(), Err: failed}}
	d.send(fleetMsg{v})
	if m := p.mark(row); m.glyph != p.look.Glyph.Unknown {
		t.Errorf("its plans are not known, and it has the mark %q", m.glyph)
	}
	if screen := stripped(d.shows()); strings.Contains(screen, "none is offered") || !strings.Contains(screen, "no update is seen") {
		t.Errorf("it says:\n%s", screen)
	}
	row.Needs = []fleet.Need{{Severity: core.SeverityUrgent, Label: "LCM", Reason: "stuck"}}
	if m := p.mark(row); m != severityMark(p.look.Glyph, core.SeverityUrgent) {
		t.Errorf("it is urgent, and has the mark %q", m.glyph)
	}
}
