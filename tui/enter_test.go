package tui

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"lockstep/core"
	"lockstep/sim/bubble/lane"
)

// under returns the state and the title of the row under the cursor, as the screen shows it; empty when nothing is selected.
func under(d *driver) (state, title string) {
	row := regexp.MustCompile(`^` + d.look.Glyph.Cursor +
		` . (done|ready|failed|waiting|blocked|running|later) +(\S.*?)(?: (?:way \d of )?\d(?: ways)?)?(?:  .*)?$`)
	for _, l := range strings.Split(stripped(d.shows()), "\n") {
		if at := row.FindStringSubmatch(l); at != nil {
			return at[1], at[2]
		}
		if strings.HasPrefix(l, d.look.Glyph.Cursor) {
			return "?", l
		}
	}
	return "", ""
}

// onSteps is the page of steps of cmp-07.
func onSteps(t testing.TB, w, h int) (*driver, *procedurePage) {
	t.Helper()
	d := drive(world(), w, h).keys("3")
	d.nodes.Choose("kaas-node-cmp07")
	d.keys("enter")
	p, ok := d.top().(*procedurePage)
	if !ok {
		t.Fatal("enter opens no steps")
	}
	return d, p
}

// entersOn presses enter and compares what opens with the selected row; it returns the difference, or nothing.
func entersOn(d *driver, p *procedurePage) string {
	state, title := under(d)
	d.later(time.Second).keys("enter")
	top := d.top()
	defer func() {
		for d.top() != nil && d.top() != layer(p) {
			d.close(d.top())
		}
	}()
	switch {
	case state == "":
		if top != layer(p) || !strings.HasPrefix(d.toast.text, "nothing is selected: ") {
			return "nothing is selected, and enter opens something, or says " + d.toast.text
		}
		return ""
	case state == "done" || state == "running":
		if page, ok := top.(*pager); !ok || page.title(d.Model) != title {
			return "enter on what is " + state + " does not show it: " + title
		}
		return ""
	}
	switch top := top.(type) {
	case *confirmDialog:
		if top.step.Title != title {
			return "the row says " + title + ", the confirmation " + top.step.Title
		}
	case *pager:
		if top.title(d.Model) != title || !strings.Contains(d.toast.text, title) {
			return "the row says " + title + ", the page " + top.title(d.Model)
		}
	case *ownersPage:
		if !strings.HasPrefix(title, "tell the owners of ") {
			return "the row says " + title + ", and owners are listed"
		}
	default:
		return "enter on " + state + " " + title + " opens nothing"
	}
	return ""
}

// The chosen other way is in the row, and enter opens it, even after the confirmation was cancelled. The choice ends with its
// page.
func TestARowSaysTheWayThatWasTurnedTo(t *testing.T) {
	for _, size := range sizes {
		d, p := onSteps(t, size.w, size.h)
		d.keys("n")
		_, first := under(d)
		for _, key := range []string{"right", "right", "left", "right", "right", "right", "right"} {
			d.keys(key)
			s, _ := p.chosen()
			if _, title := under(d); title != s.Title {
				t.Fatalf("%dx%d: after %s the row says %q, enter opens %q", size.w, size.h, key, title, s.Title)
			}
			if wrong := entersOn(d, p); wrong != "" {
				t.Fatal(wrong)
			}
		}
		d.keys("right", "right")
		if _, title := under(d); title == first {
			t.Fatalf("it was not turned: %q", title)
		}
		d.keys("esc", "enter")
		if _, title := under(d); title != first {
			t.Errorf("%dx%d: the choice has outlived its page: %q, was %q", size.w, size.h, title, first)
		}
	}
}

// change is an event on the page's node while its steps are on the screen.
type change struct {
	Instance int // of the node
	Status   string
	Migrates string // the status of its newest migration; empty for none
	Away     bool
	Op       core.OperationState // of a live migration of it by Lockstep; empty for none
	Mode     core.MigrationMode
}

func (c change) apply(s *core.Snapshot) {
	node := s.Nodes["kaas-node-cmp07"]
	s.Nodes[node.Name].Annotations[core.AnnotationMigrationMode] = string(c.Mode)
	s.Operations = nil
	all := slices.Clone(s.ByHost[node.Name])
	if len(all) == 0 {
		return
	}
	old := all[c.Instance%len(all)]
	in := *old
	in.Status, in.TaskState = c.Status, ""
	s.Migrations[in.ID] = nil
	if c.Migrates != "" {
		s.Migrations[in.ID] = []*core.Migration{{ID: 7, InstanceID: in.ID, Type: core.MigrationLive, Status: c.Migrates,
			SourceHost: node.Name, DestHost: "kaas-node-cmp09",
			Created: fixtureNow.Add(-time.Minute), Updated: fixtureNow.Add(-time.Minute)}}
	}
	s.ByHost[node.Name] = slices.DeleteFunc(all, func(i *core.Instance) bool { return i.ID == in.ID && c.Away })
	for i, other := range s.ByHost[node.Name] {
		if other.ID == in.ID {
			s.ByHost[node.Name][i] = &in
		}
	}
	if c.Away {
		in.Host = "kaas-node-cmp09"
		s.ByHost[in.Host] = append(slices.Clone(s.ByHost[in.Host]), &in)
	}
	s.Instances.Put(&in)
	if c.Op != "" {
		s.Operations = []core.Operation{{ID: "op-9", Step: "live-migrate/" + in.ID, Title: "live-migrate " + in.Name, Node: node.Name,
			Instance: in.ID, State: c.Op,
			Started: fixtureNow.Add(-time.Minute)}}
	}
}

// Whatever comes in and whatever was pressed, enter does what the selected row says. By itself the cursor stays on its object and
// its way, or leaves nothing selected, or moves on after a success.
func TestEnterDoesWhatTheSelectedRowSays(t *testing.T) {
	lane.Single(t)
	rapid.Check(t, func(rt *rapid.T) {
		d, p := onSteps(t, 200, 60)
		seen := wayKey{} // the way that the operator has selected
		look := func() {
			s, _ := p.chosen()
			seen = keyOf(s)
		}
		look()
		rt.Repeat(map[string]func(*rapid.T){
			"news": func(rt *rapid.T) {
				c := change{rapid.IntRange(0, 5).Draw(rt, "instance"),
					rapid.SampledFrom([]string{"ACTIVE", "ERROR", "VERIFY_RESIZE", "SHUTOFF", "PAUSED", "MIGRATING"}).Draw(rt, "status"),
					rapid.SampledFrom([]string{"", "running", "error", "completed"}).Draw(rt, "migration"), rapid.Bool().Draw(rt, "away"),
					rapid.SampledFrom([]core.OperationState{"", core.OperationRunning, core.OperationDone, core.OperationFailed}).Draw(rt, "operation"),
					rapid.SampledFrom([]core.MigrationMode{core.ModeManual, core.ModeLive, core.ModeSkip}).Draw(rt, "mode")}
				had, was := p.chosen()
				state, before := under(d)
				d.fresh(c.apply)
				now, is := p.chosen()
				_, after := under(d)
				switch {
				case !is:
				case !was:
					rt.Fatalf("nothing was selected, and now %q is", after)
				case state == "running" && now.Target.UID != had.Target.UID: // it has succeeded
					look()
				case had.Target.UID != now.Target.UID, now.Intent.Kind != "" && now.State != core.StepDone && keyOf(now) != seen:
					rt.Fatalf("from %s %q the cursor went to %q by itself", state, before, after)
				}
			},
			"key": func(rt *rapid.T) {
				d.keys(rapid.SampledFrom([]string{"down", "up", "right", "left", "n", "end", "home"}).Draw(rt, "key"))
				look()
			},
			"enter": func(rt *rapid.T) {
				if wrong := entersOn(d, p); wrong != "" {
					rt.Fatalf("%s\n%s", wrong, stripped(d.shows()))
				}
			},
		})
	})
}

// confirmed opens the selected step and confirms it.
func (d *driver) confirmed(t *testing.T) {
	t.Helper()
	d.later(time.Second).keys("enter")
	if _, ok := d.top().(*confirmDialog); !ok {
		t.Fatalf("%T is open:\n%s", d.top(), stripped(d.shows()))
	}
	d.keys("tab", "enter")
	if len(d.fake.executed) == 0 {
		t.Fatalf("nothing was confirmed:\n%s", stripped(d.shows()))
	}
}

// armed is a Snapshot in which nothing runs and writing is armed.
func armed(more func(*core.Snapshot)) func(*core.Snapshot) {
	return func(s *core.Snapshot) {
		s.Write = core.WriteMode{Armed: true, Mine: true}
		s.Operations, s.Migrations[instanceID(1)] = nil, nil
		in := *s.Instances.At(instanceID(1))
		in.Status, in.TaskState = "ACTIVE", ""
		s.Instances.Put(&in)
		for i, other := range s.ByHost[in.Host] {
			if other.ID == in.ID {
				s.ByHost[in.Host] = slices.Clone(s.ByHost[in.Host])
				s.ByHost[in.Host][i] = &in
			}
		}
		more(s)
	}
}

// After a success the cursor moves to the next step; a second enter opens neither the finished step nor the next one. After a
// failure it stays.
func TestAfterASuccessTheCursorGoesOn(t *testing.T) {
	id := instanceID(1)
	op := func(state core.OperationState) func(*core.Snapshot) {
		return armed(func(s *core.Snapshot) {
			s.Operations = []core.Operation{{ID: "op-9", Step: "live-migrate/" + id, Title: "live-migrate web-1", Node: "kaas-node-cmp07",
				Instance: id, State: state, Started: fixtureNow}}
			if state == core.OperationDone {
				in := *s.Instances.At(id)
				in.Host = "kaas-node-cmp09"
				s.Instances.Put(&in)
				s.ByHost["kaas-node-cmp07"] = slices.DeleteFunc(slices.Clone(s.ByHost["kaas-node-cmp07"]),
					func(i *core.Instance) bool { return i.ID == id })
			}
		})
	}
	begin := func() (*driver, *procedurePage) {
		d, p := onSteps(t, 120, 40)
		d.fresh(armed(func(*core.Snapshot) {}))
		if !p.steps.Choose("live-migrate/" + id) {
			t.Fatalf("web-1 is not offered:\n%s", stripped(d.shows()))
		}
		d.confirmed(t)
		return d, p
	}
	// Before a Snapshot shows the operation, and while it runs, a second enter shows its progress.
	d, p := begin()
	for _, news := range []func(*core.Snapshot){nil, op(core.OperationRunning)} {
		if news != nil {
			d.fresh(news)
		}
		d.keys("enter")
		if _, ok := d.top().(*pager); !ok {
			t.Fatalf("a second enter opens %T", d.top())
		}
		d.keys("esc")
	}
	d.fresh(op(core.OperationDone))
	state, title := under(d)
	if s, ok := p.chosen(); !ok || s.ID == "live-migrate/"+id || s.ID != p.next || state != "ready" {
		t.Fatalf("after the success the cursor is on %s %q:\n%s", state, title, stripped(d.shows()))
	}
	for _, key := range []string{"enter", "right", "c", "enter"} {
		if d.keys(key); d.top() != layer(p) || len(p.way) > 0 {
			t.Fatalf("%s, which was meant for the step before, opens %T, or turns to %v", key, d.top(), p.way)
		}
	}
	if wrong := entersOn(d, p); wrong != "" {
		t.Error(wrong)
	}

	// It ends between two Snapshots.
	d, p = begin()
	d.fresh(op(core.OperationDone))
	if s, ok := p.chosen(); !ok || s.ID != p.next {
		t.Errorf("the cursor is on %q, %q comes next", s.ID, p.next)
	}

	// The finished step shows as done later than its success: it is not the next step.
	d, p = onSteps(t, 120, 40)
	d.fresh(armed(func(*core.Snapshot) {}))
	d.keys("n")
	next, _ := p.chosen()
	p.confirmed(d.Model, next.ID, "op-9", next)
	for _, state := range []core.OperationState{core.OperationRunning, core.OperationDone} {
		d.fresh(armed(func(s *core.Snapshot) {
			s.Operations = []core.Operation{{ID: "op-9", Step: next.ID, Title: next.Title, Node: "kaas-node-cmp07", State: state,
				Started: fixtureNow}}
		}))
	}
	if s, ok := p.chosen(); !ok || s.ID == next.ID {
		t.Errorf("after the success of %q the cursor is on %q: %t", next.Title, s.Title, ok)
	}

	// It fails.
	d, p = begin()
	d.fresh(op(core.OperationRunning)).fresh(op(core.OperationFailed))
	if s, _ := p.chosen(); s.ID != "live-migrate/"+id {
		t.Errorf("after the failure the cursor is on %q", s.ID)
	}

	// It fails while Nova's list still shows it under way: the cursor waits on the row, and is on the same way when that is back.
	d, p = begin()
	d.fresh(op(core.OperationRunning))
	moving := change{Status: "MIGRATING", Migrates: "running", Mode: core.ModeManual}
	for moving.Instance = range 4 {
		if d.snap.ByHost["kaas-node-cmp07"][moving.Instance].ID == id {
			break
		}
	}
	d.fresh(func(s *core.Snapshot) {
		op(core.OperationFailed)(s)
		failed := s.Operations
		moving.apply(s)
		s.Operations = failed
	})
	if state, title := under(d); state != "waiting" {
		t.Errorf("it is on its way still, and the cursor is on %s %q", state, title)
	}
	d.fresh(op(core.OperationFailed))
	if s, _ := p.chosen(); s.ID != "live-migrate/"+id || s.Intent.Kind != core.IntentLiveMigrate {
		t.Errorf("after the failure the cursor is on %q", s.ID)
	}

	// The operator has gone elsewhere meanwhile.
	d, p = begin()
	d.keys("home")
	was, _ := p.chosen()
	d.fresh(op(core.OperationRunning)).fresh(op(core.OperationDone))
	if s, _ := p.chosen(); s.ID != was.ID {
		t.Errorf("the cursor went from %q to %q", was.ID, s.ID)
	}
}

// Enter on a finished row shows what was done, by whom and when; nothing can be confirmed there.
func TestEnterOnWhatIsDoneShowsWhatWasDone(t *testing.T) {
	for _, size := range sizes {
		d, _ := steps(t, size.w, size.h, core.Step{ID: "declare-safe/n", Title: "declare cmp-07 safe", State: core.StepDone,
			Status: "the node shows instance_migration_mode=skip",
			Intent: core.Intent{Kind: core.IntentDeclareSafe, Node: "kaas-node-cmp07"}, Target: core.Ref{Kind: core.KindNode,
				Name: "kaas-node-cmp07", UID: "n"}})
		d.snap.Operations = []core.Operation{{ID: "op-4", Step: "declare-safe/n", Title: "declare cmp-07 safe", State: core.OperationDone,
			Text:    "verified",
			Started: before(3 * time.Minute), Ended: before(2 * time.Minute)}}
		if frame := stripped(d.shows()); !strings.Contains(frame, "enter shows what was done") ||
			!strings.Contains(frame, "enter what was done") {
			t.Errorf("it does not say what enter does:\n%s", frame)
		}
		d.keys("enter")
		frame := stripped(d.shows())
		for _, want := range []string{"declare cmp-07 safe", "the node shows instance_migration_mode=skip", "What Lockstep did", "op-4",
			"verified"} {
			if !strings.Contains(frame, want) {
				t.Errorf("%dx%d: %q is not shown:\n%s", size.w, size.h, want, frame)
			}
		}
		if _, ok := d.top().(*pager); !ok {
			t.Errorf("enter opens %T", d.top())
		}
	}
}
