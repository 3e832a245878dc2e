package procedure

import (
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/scene"
)

// withOwners is a cluster with a node before its turn and instances of two projects, whose owners have different say.
func withOwners() scene.Scene {
	sc := scene.Healthy()
	sc.Update(0)
	sc.Projects["p2"] = "science"
	for _, in := range sc.Instances.All() {
		in.UserID = "u-web"
	}
	in := sc.Instance("cmp-01", "batch-17", "notify")
	in.ProjectID, in.UserID = "p2", "u-jd"
	in = sc.Instance("cmp-01", "genome")
	in.ProjectID, in.UserID, in.Status, in.VMState = "p2", "u-eve", "VERIFY_RESIZE", "resized"
	return sc
}

// Shows who has to be told, and what the document's actions mean for them (docs/mosk.md#tags).
func TestWhoNeedsToBeTold(t *testing.T) {
	cases := []struct {
		name    string
		mode    core.MigrationMode
		tags    []string
		change  func(sc scene.Scene, in *core.Instance)
		happens string // empty: nobody has to be told
	}{
		{"moves by itself", core.ModeLive, nil, nil, ""},
		{"moves by its tag on a manual node", core.ModeManual, []string{"live_migrate"}, nil, ""},
		{"notify", core.ModeLive, []string{"notify"}, nil, "we do not move it without your word"},
		{"notify on a skipped node", core.ModeSkip, []string{"notify"}, nil, "we do not move it without your word"},
		{"manual node", core.ModeManual, nil, nil, "We move it by hand"},
		{"skipped node", core.ModeSkip, nil, nil, "shut down with its host, and started again"},
		{"poweroff by its owner's own tag", core.ModeLive, []string{"poweroff"}, nil, ""},
		{"poweroff by Lockstep's tag", core.ModeLive, []string{"poweroff"}, func(sc scene.Scene, in *core.Instance) {
			sc.History.Tags[in.ID] = core.TagChange{Old: []core.MaintenanceAction{core.ActionNotify},
				New: []core.MaintenanceAction{core.ActionPowerOff}}
		}, "We tagged it poweroff"},
		{"two tags", core.ModeLive, []string{"notify", "live_migrate"}, nil, "cancel each other: it is moved"},
		{"two tags on a manual node", core.ModeManual, []string{"notify", "live_migrate"}, nil, "cancel each other: we move it by hand"},
		{"waits for a decision", core.ModeLive, nil,
			func(_ scene.Scene, in *core.Instance) { in.Status, in.VMState = "VERIFY_RESIZE", "resized" }, "confirmed or reverted"},
		{"in error", core.ModeLive, nil, func(_ scene.Scene, in *core.Instance) { in.Status, in.VMState = "ERROR", "error" },
			"It is in ERROR"},
		{"rescued", core.ModeLive, nil, func(_ scene.Scene, in *core.Instance) { in.Status, in.VMState = "RESCUE", "rescued" }, "rescued"},
		{"stopped", core.ModeManual, nil, func(_ scene.Scene, in *core.Instance) {
			in.Status, in.VMState, in.Power = "SHUTOFF", "stopped", core.PowerShutdown
		}, ""},
		{"on no host", core.ModeManual, nil, func(_ scene.Scene, in *core.Instance) { in.Host = "" }, ""},
		{"could not be moved", core.ModeLive, nil, func(sc scene.Scene, in *core.Instance) {
			sc.Maintained("cmp-01", "")
			sc.Migration(in, "error", "", 0).Failure = "No valid host was found."
		}, "could not be moved while it runs: No valid host was found"},
	}
	for _, tc := range cases {
		sc := scene.NewScene()
		sc.Node("cmp-01", core.RoleCompute)
		sc.Mode("cmp-01", tc.mode)
		in := sc.Instance("cmp-01", "web-1", tc.tags...)
		in.UserID = "u-web"
		if tc.change != nil {
			tc.change(sc, in)
		}
		notes := OwnerNotes(sc.Snapshot, []string{"cmp-01"}, core.Contacts{}, false)
		switch {
		case tc.happens == "" && len(notes) > 0:
			t.Errorf("%s: somebody is told: %+v", tc.name, notes)
		case tc.happens != "" && (len(notes) != 1 || len(notes[0].Instances) != 1 ||
			!strings.Contains(notes[0].Instances[0].Happens, tc.happens) || notes[0].Instances[0].Do == ""):
			t.Errorf("%s: %+v, want %q", tc.name, notes, tc.happens)
		}
	}
}

// Every project with instances is told not to write while the update runs, also one that no instance of needs anything.
func TestEveryProjectIsToldNotToWrite(t *testing.T) {
	sc := withOwners()
	sc.Instance("cmp-01", "shop-1").UserID = "u-shop"
	notes := OwnerNotes(sc.Snapshot, []string{"cmp-01"}, core.Contacts{}, true)
	if len(notes) != 2 || notes[1].Project != "shop" || len(notes[1].Instances) != 0 || notes[1].Others < 1 {
		t.Fatalf("%+v", notes)
	}
	if !slices.ContainsFunc(notes[1].Owners, func(p core.Person) bool { return p.ID == "u-shop" }) {
		t.Errorf("it is for %+v", notes[1].Owners)
	}
	text := OwnersText(sc.Snapshot, notes[1:])
	for _, want := range []string{"user u-shop", "of project shop are being updated", "moved while it runs, unless its own tag",
		"create, change, resize, move and delete nothing"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if strings.Contains(text, "server stop") {
		t.Errorf("it says what to do by hand:\n%s", text)
	}
	if csv := OwnersCSV(notes[1:]); !strings.Contains(csv, `"shop","p1"`) || !strings.Contains(csv,
		`"write nothing until the update is over"`) {
		t.Errorf("as CSV: %s", csv)
	}
}

// The notes are sorted by project; what Keystone does not show is left out, and the rest stays.
func TestOwnersText(t *testing.T) {
	sc := withOwners()
	notes := OwnerNotes(sc.Snapshot, []string{"cmp-01", "cmp-02"}, core.Contacts{}, false)
	if len(notes) != 1 || notes[0].Project != "science" || len(notes[0].Instances) != 2 {
		t.Fatalf("%+v", notes)
	}
	projects, users := ContactsToAsk(notes)
	if !slices.Equal(projects, []string{"p2"}) || !slices.Equal(users, []string{"u-eve", "u-jd"}) {
		t.Errorf("asked are %q, %q", projects, users)
	}
	text := OwnersText(sc.Snapshot, notes)
	if !strings.Contains(text, "To: user u-eve, user u-jd (no e-mail is known)") {
		t.Errorf("without Keystone:\n%s", text)
	}
	c := core.Contacts{People: map[string]core.Person{"u-jd": {ID: "u-jd", Name: "jd", Email: "jd@sci.example"},
		"u-ann": {ID: "u-ann", Name: "ann", Email: "ann@sci.example"}},
		Members: map[string][]string{"p2": {"u-ann", "u-bob", "u-jd"}}}
	text = OwnersText(sc.Snapshot, OwnerNotes(sc.Snapshot, []string{"cmp-01"}, c, false))
	for _, want := range []string{"To: jd@sci.example\n", "Cc: ann@sci.example\n",
		"Subject: mos: maintenance of hosts with instances of project science\n",
		"updated to release 21.0.0+25.2", "2 instances of project science on them need your attention",
		"please create, change, resize, move and delete nothing in the project", "* batch-17 (",
		"on cmp-01, ACTIVE; owner: jd <jd@sci.example>",
		"What happens: Its tag says notify", "owner: user u-eve", "openstack server resize confirm"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// For the whole update, the nodes are those that it has not finished yet.
func TestNodesToTell(t *testing.T) {
	sc := withOwners()
	sc.Nodes["cmp-02"].KubeletVersion = "v1.31.9"
	if got := NodesToTell(sc.Snapshot); !slices.Equal(got, []string{"cmp-01", "cmp-03"}) {
		t.Errorf("got %q", got)
	}
}
