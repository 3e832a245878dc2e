package tui

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/checklist"
)

// checkDesk keeps checks in memory.
type checkDesk struct {
	kept   []checklist.Report
	before *checklist.Report
	asked  []checklist.Report
	fails  error
}

func (d *checkDesk) Keep(r checklist.Report) error {
	d.kept = append(d.kept, r)
	return d.fails
}

func (d *checkDesk) Before(r checklist.Report) (checklist.Report, bool) {
	if d.asked = append(d.asked, r); d.before == nil || r.Began.IsZero() {
		return checklist.Report{}, false
	}
	return *d.before, true
}

// atRest is the fixture after its update: a node is still cordoned, an instance has no decision, and Ceph is degraded.
func atRest() *core.Snapshot {
	s := managedWorld()
	s.ClusterRequests, s.NodeRequests = nil, map[string][]*core.MaintenanceRequest{}
	s.History.Update = core.UpdateRecord{UID: "cmr", Started: before(6 * time.Hour), Ended: before(time.Hour)}
	s.History.Rounds = maps.Clone(s.History.Rounds)
	for node, r := range s.History.Rounds {
		r.Ended = before(time.Hour)
		s.History.Rounds[node] = r
	}
	s.Management.Plan().Status, s.Management.Plan().Completed = core.PlanCompleted, before(time.Hour)
	s.Nodes["kaas-node-cmp07"].Cordoned = true
	s.ByHost["kaas-node-cmp07"][0].Status = "VERIFY_RESIZE"
	s.Ceph = []*core.CephCluster{{Meta: core.Meta{Name: "rook-ceph"}, Health: core.CephWarn,
		Checks: []core.CephHealth{{Name: "PG_DEGRADED", Severity: core.CephWarn, Message: "33 pgs degraded"}}}}
	return s
}

func withChecks(desk CheckStore) func(*Options) { return func(o *Options) { o.Checks = desk } }

func TestTheCheckAsItIsShown(t *testing.T) {
	earlier := checklist.Of(managedWorld(), checklist.Room{})
	earlier.AsOf = fixtureWall.Add(-7 * time.Hour)
	for i := range earlier.Points {
		earlier.Points[i].Verdict, earlier.Points[i].Findings = checklist.Pass, nil
	}
	for _, size := range sizes {
		d := drive(atRest(), size.w, size.h, withChecks(&checkDesk{before: &earlier}))
		d.fake.evacuation = thePlan()
		golden(t, fmt.Sprintf("check-%dx%d", size.w, size.h), stripped(d.keys("C").shows()))
	}
	d := drive(atRest(), 120, 40)
	d.fake.evacuation = thePlan()
	golden(t, "check-every-120x40", stripped(d.keys("C", "a", "end").shows()))
}

// Enter opens what settles the row: an entry's page, the steps, or the plan of the evacuations.
func TestARowOfTheCheckLeadsOn(t *testing.T) {
	d := drive(atRest(), 120, 40)
	d.fake.evacuation = thePlan()
	d.keys("C")
	lead := func(point string) string {
		p := d.top().(*checkPage)
		for _, r := range p.rows.Rows() {
			if r.point.ID == point {
				p.rows.Choose(r.id)
				break
			}
		}
		screen := stripped(d.keys("enter").shows())
		if d.top() != layer(p) {
			d.keys("esc")
		}
		return screen
	}
	for point, want := range map[string]string{"cordons": "After the update", "states": "What can be done with web-1",
		"room": "Evacuation plan of cmp-07", "ceph": "Lockstep has no step for it"} {
		if got := lead(point); !strings.Contains(strings.ToLower(got), strings.ToLower(want)) {
			t.Errorf("%s leads to\n%s", point, got)
		}
	}
}

// A check at rest is kept for later, one while an update runs is not; what cannot be kept is told, and the page stays.
// What a row says can hold a time: the cursor stays on it while that moves. What was settled is told, and nothing is said to be fine
// because no row is selected.
func TestTheCursorOfTheCheckStaysWithWhatWasFound(t *testing.T) {
	d := drive(atRest(), 120, 40)
	d.fake.evacuation = thePlan()
	d.keys("C", "end")
	p := d.top().(*checkPage)
	row, _ := p.rows.Current()
	for i := range p.report.Points {
		if point := &p.report.Points[i]; point.ID == row.point.ID {
			for j := range point.Findings {
				point.Findings[j].Says += ", for 4 m"
			}
		}
	}
	if gone := p.take(d.Model); gone != "" {
		t.Errorf("gone: %s", gone)
	}
	if now, there := p.rows.Current(); !there || now.id != row.id {
		t.Errorf("the cursor left %q", row.id)
	}
	p.report.Points = slices.DeleteFunc(p.report.Points, func(point checklist.Point) bool { return point.ID == row.point.ID })
	p.take(d.Model)
	if screen := stripped(d.shows()); strings.Contains(screen, "nothing speaks against") || !strings.Contains(screen, "nothing is selected") {
		t.Errorf("with the selected row gone:\n%s", screen)
	}
}

// A point is compared with the last check before the update, and it is said where there is none.
func TestTheCheckSaysWithWhatItIsCompared(t *testing.T) {
	d := drive(atRest(), 120, 40, withChecks(&checkDesk{}))
	d.fake.evacuation = thePlan()
	if screen := stripped(d.keys("C").shows()); !strings.Contains(screen, "no check from before the update is kept here") {
		t.Errorf("without an earlier one:\n%s", screen)
	}
}

// What says which check was the last one before the update may come later than the page, whose comparison is made then.
func TestTheEarlierCheckIsLookedForAgain(t *testing.T) {
	earlier := checklist.Of(managedWorld(), checklist.Room{})
	desk := &checkDesk{before: &earlier}
	unknown := atRest()
	unknown.History.Update = core.UpdateRecord{}
	unknown.Management = nil
	d := drive(unknown, 120, 40, withChecks(desk)).keys("C")
	p := d.top().(*checkPage)
	if len(desk.asked) == 0 || p.earlier != nil {
		t.Fatalf("looked for %d times, and found %v", len(desk.asked), p.earlier)
	}
	asked := len(desk.asked)
	again := atRest()
	again.Revision = unknown.Revision + 1
	again.Wall = again.Wall.Add(time.Minute)
	d.later(time.Minute).send(snapshotMsg{again})
	if p.earlier == nil || len(desk.asked) != asked+1 {
		t.Errorf("looked for %d times more, and found %v", len(desk.asked)-asked, p.earlier)
	}
}

func TestChecksAreKept(t *testing.T) {
	desk := &checkDesk{fails: errors.New("the disk is full")}
	d := drive(atRest(), 120, 40, withChecks(desk)).keys("C")
	if len(desk.kept) == 0 || desk.kept[0].Update {
		t.Errorf("kept %d", len(desk.kept))
	}
	if !strings.Contains(stripped(d.shows()), "the disk is full") {
		t.Errorf("it is not told:\n%s", d.shows())
	}
	desk = &checkDesk{}
	drive(world(), 120, 40, withChecks(desk)).keys("C")
	if len(desk.kept) > 0 {
		t.Error("a check was kept while an update runs")
	}
}

// The time of the earlier check is the cluster's, as every other time of the page: in a rehearsal it is not the wall clock's.
func TestTheEarlierCheckIsTimedByTheCluster(t *testing.T) {
	earlier := checklist.Of(managedWorld(), checklist.Room{})
	earlier.Made = earlier.AsOf.Add(-5 * time.Hour)
	p := &checkPage{earlier: &earlier}
	if got, want := p.comparedText(), earlier.AsOf.Local().Format("2006-01-02 15:04"); !strings.HasSuffix(got, want) {
		t.Errorf("%q, want %s", got, want)
	}
}

// Room that cannot be judged is not known, with the reason.
func TestTheCheckSaysWhyTheRoomIsNotKnown(t *testing.T) {
	d := drive(atRest(), 120, 60)
	d.fake.evacuationErr = errors.New("list allocations: forbidden")
	if got := stripped(d.keys("C").shows()); !strings.Contains(got, "list allocations: forbidden") {
		t.Errorf("got\n%s", got)
	}
}

// The file that the page writes has what the command prints: also with what the check was compared, and what is worse.
func TestTheFileOfACheckHasTheComparison(t *testing.T) {
	earlier := checklist.Of(managedWorld(), checklist.Room{})
	var content []byte
	d := drive(atRest(), 120, 40, withChecks(&checkDesk{before: &earlier}), func(o *Options) {
		o.SaveFile = func(_ string, raw []byte) (string, error) { content = raw; return "/here/check.json", nil }
	}).keys("C", "J")
	var doc checklist.Compared
	if err := json.Unmarshal(content, &doc); err != nil || doc.Against == nil || !doc.Against.Equal(earlier.AsOf) || len(doc.Since) == 0 {
		t.Errorf("%v: against %v, %d changes\n%s", err, doc.Against, len(doc.Since), stripped(d.shows()))
	}
	if r, err := checklist.Read(content); err != nil || len(r.Points) != len(doc.Points) {
		t.Errorf("it cannot be compared with: %v", err)
	}
}

// What was not known before the update is said: nobody reads that nothing is worse where nobody could tell.
func TestTheCheckSaysWhatItCannotCompare(t *testing.T) {
	earlier := checklist.Of(managedWorld(), checklist.Room{})
	id := ""
	for i := range earlier.Points {
		if p := &earlier.Points[i]; p.Verdict == checklist.Pass {
			id, p.Verdict, p.Unknown, p.Findings = p.ID, checklist.Unknown, "it was forbidden", nil
			break
		}
	}
	d := drive(atRest(), 120, 50, withChecks(&checkDesk{before: &earlier})).keys("C", "a")
	if got := stripped(d.shows()); !strings.Contains(got, " that check does not know enough of ") {
		t.Errorf("it is not said at the top:\n%s", got)
	}
	p := d.top().(*checkPage)
	for range p.rows.Rows() {
		if r, _ := p.rows.Current(); r.point.ID == id {
			break
		}
		d.keys("down")
	}
	if got := d.reads(); !strings.Contains(got, "it was not known, or not wholly: nobody can tell what of it is new") {
		t.Errorf("nor of %s:\n%s", id, stripped(d.shows()))
	}
}
