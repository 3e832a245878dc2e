package checklist_test

import (
	"os"
	"slices"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/checklist"
	"lockstep/scene"
)

// What is new is told by what was found, and of what: not by the object alone, nor by a text that holds a state or a number.
func TestWhatIsNewIsToldByWhatWasFound(t *testing.T) {
	type change = func(sc scene.Scene)
	none := change(func(scene.Scene) {})
	waits := func(since time.Duration) change {
		return func(sc scene.Scene) {
			sc.Mode("cmp-01", core.ModeManual)
			sc.Instance("cmp-01", "web")
			sc.Maintained("cmp-01", "")
			sc.NodeRequests["cmp-01"][0].Created = scene.Ago(since)
		}
	}
	verify := func(names ...string) change {
		return func(sc scene.Scene) {
			for _, name := range names {
				sc.Instance("cmp-01", name).Status = "VERIFY_RESIZE"
			}
		}
	}
	quorum := func(lacking ...string) change {
		return func(sc scene.Scene) {
			for _, name := range []string{"mariadb-server", "etcd-etcd"} {
				set := sc.Stateful(core.NamespaceOpenStack, name, "ctl-01", "ctl-02", "ctl-03")
				sc.DaemonPods[set.UID][1].Ready = !slices.Contains(lacking, name)
			}
		}
	}
	pressed := func(kinds ...string) change { return func(sc scene.Scene) { sc.Nodes["cmp-01"].Pressure = kinds } }
	for name, tt := range map[string]struct {
		point         string
		before, after change
		news, gone    int
	}{
		"the same":                        {"states", verify("web-9"), verify("web-9"), 0, 0},
		"one more on the same node":       {"states", verify("web-8"), verify("web-8", "web-9"), 1, 0},
		"one less":                        {"states", verify("web-8", "web-9"), verify("web-8"), 0, 0},
		"another quorum":                  {"quorums", quorum("mariadb-server"), quorum("etcd-etcd"), 1, 1},
		"a second quorum":                 {"quorums", quorum("mariadb-server"), quorum("mariadb-server", "etcd-etcd"), 1, 0},
		"another pressure of one node":    {"pressure", pressed("MemoryPressure"), pressed("MemoryPressure", "PIDPressure"), 1, 0},
		"the same lock in another state":  {"node-locks", lockIn(core.LockInactive), lockIn(core.LockFailed), 0, 0},
		"a check of Ceph that came":       {"ceph", health("PG_DEGRADED"), health("PG_DEGRADED", "OSD_DOWN"), 1, 0},
		"a node that waits, longer":       {"in-maintenance", waits(time.Hour), waits(2 * time.Hour), 0, 0},
		"nothing, and a node that waits":  {"in-maintenance", none, waits(time.Hour), 1, 0},
		"a node that waits, then nothing": {"in-maintenance", waits(time.Hour), none, 0, 1},
	} {
		t.Run(name, func(t *testing.T) {
			of := func(change func(scene.Scene)) checklist.Report {
				sc := scene.Healthy()
				change(sc)
				raw, err := reportOf(sc).JSON() // as it is kept
				if err != nil {
					t.Fatal(err)
				}
				r, err := checklist.Read(raw)
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			was, is := of(tt.before), of(tt.after)
			news, gone := 0, 0
			for _, c := range is.Since(was) {
				if c.ID == tt.point {
					news, gone = len(c.New), len(c.Mended)
				}
			}
			if news != tt.news || gone != tt.gone {
				t.Errorf("%d new and %d gone, want %d and %d:\n%+v\n%+v", news, gone, tt.news, tt.gone, pointOf(t, was, tt.point).Findings,
					pointOf(t, is, tt.point).Findings)
			}
		})
	}
}

func reportOf(sc scene.Scene) *checklist.Report {
	r := checklist.Of(sc.Again().Snapshot, checklist.Room{})
	return &r
}

func lockIn(state core.LockState) func(scene.Scene) {
	return func(sc scene.Scene) { sc.NodeLock("cmp-01", "openstack").RawState = state }
}

func health(checks ...string) func(scene.Scene) {
	return func(sc scene.Scene) { sc.Ceph = cephOf(core.CephWarn, checks...) }
}

// No two findings of a point share a key, in no situation.
func TestFindingsOfAPointHaveKeysOfTheirOwn(t *testing.T) {
	for name, tt := range pointScenes() {
		sc := scene.Healthy()
		room := tt.given(sc)
		for _, p := range checklist.Of(sc.Snapshot, room).Points {
			seen := map[string]checklist.Finding{}
			for _, f := range p.Findings {
				if was, twice := seen[f.Key]; twice || f.Key == "" {
					t.Errorf("%s: %s has the key %q of %+v, as %+v", name, p.ID, f.Key, f, was)
				}
				seen[f.Key] = f
			}
		}
	}
}

// Reports of versions before keys, whose objects held their state, are read and compared: what both found is neither new nor gone.
func TestAReportBeforeKeysIsCompared(t *testing.T) {
	raw, err := os.ReadFile("testdata/report-before-keys.json")
	if err != nil {
		t.Fatal(err)
	}
	was, err := checklist.Read(raw)
	if err != nil || was.Cluster != "mos" || len(was.Points) < 20 {
		t.Fatalf("%d points of %s, %v", len(was.Points), was.Cluster, err)
	}
	found := func(key, of, says string) checklist.Point {
		return checklist.Point{ID: "node-locks", Verdict: checklist.Fail, Findings: []checklist.Finding{{Key: key, Of: of, Says: says,
			Verdict: checklist.Fail}}}
	}
	was.Points = append(was.Points, found("", "cmp-01: openstack (inactive)", "the lock is not active"))
	is := was
	is.Points = slices.Clone(was.Points)
	findings := 0
	for i, p := range is.Points {
		p.Findings = slices.Clone(p.Findings)
		for j := range p.Findings {
			if p.Findings[j].Key != "" {
				t.Fatalf("the report has a key: %+v", p.Findings[j])
			}
			p.Findings[j].Key = p.ID + "/" + p.Findings[j].Text()
			findings++
		}
		is.Points[i] = p
	}
	is.Points[len(is.Points)-1] = found("node-locks/cmp-01: openstack", "cmp-01: openstack", "the lock is not active (failed)")
	if changes := is.Since(was); len(changes) > 0 || findings < 6 {
		t.Errorf("%d findings; they differ in %+v", findings, changes)
	}
	is.Points[len(is.Points)-1] = found("node-locks/cmp-02: openstack", "cmp-02: openstack", "the lock is not active (failed)")
	if changes := is.Since(was); len(changes) != 1 || len(changes[0].New) != 1 || len(changes[0].Mended) != 1 {
		t.Errorf("another lock: %+v", changes)
	}
}

// A point is either told as worse or mended, or as one that cannot be compared.
func TestAPointIsNotBothComparedAndNot(t *testing.T) {
	point := func(v checklist.Verdict, unknown string, found ...string) checklist.Point {
		p := checklist.Point{ID: "p", Verdict: v, Unknown: unknown}
		for _, of := range found {
			p.Findings = append(p.Findings, checklist.Finding{Key: of, Of: of, Says: "bad"})
		}
		return p
	}
	for name, tt := range map[string]struct {
		was, is checklist.Point
		want    int // not compared
	}{
		"known in part, and worse":      {point(checklist.Warn, "a source", "a"), point(checklist.Fail, "", "a"), 0},
		"known in part, and mended":     {point(checklist.Fail, "a source", "a"), point(checklist.Pass, ""), 0},
		"known in part, and the same":   {point(checklist.Pass, "a source"), point(checklist.Pass, ""), 1},
		"not known":                     {point(checklist.Unknown, "a source"), point(checklist.Pass, ""), 1},
		"known":                         {point(checklist.Pass, ""), point(checklist.Pass, ""), 0},
		"known, and now it is not":      {point(checklist.Pass, ""), point(checklist.Unknown, "a source"), 0},
		"not there then, and it passes": {checklist.Point{ID: "another"}, point(checklist.Pass, ""), 1},
	} {
		earlier := checklist.Report{Points: []checklist.Point{tt.was}}
		if c := (checklist.Report{Points: []checklist.Point{tt.is}}).With(&earlier); len(c.NotCompared) != tt.want {
			t.Errorf("%s: not compared are %q; since: %+v", name, c.NotCompared, c.Since)
		}
	}
}
