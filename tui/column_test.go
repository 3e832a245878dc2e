package tui

import (
	"strings"
	"testing"
)

// The help of a pane explains every column that has a title, before anything that works elsewhere.
func TestTheHelpExplainsTheColumnsOfItsPane(t *testing.T) {
	for i, k := range paneKinds() {
		key := itoa(i + 1)
		d := drive(zoned(), 120, 40).keys(key, "?")
		var lines []string
		for _, l := range d.top().(*pager).lines(d.Model, 118) {
			lines = append(lines, l.Text())
		}
		here, elsewhere, ok := strings.Cut(strings.Join(lines, "\n"), ", elsewhere\n")
		if !ok || strings.Contains(elsewhere, "columns of") {
			t.Fatalf("pane %s: %q", key, elsewhere)
		}
		for _, title := range d.pane(k.scope).Titles() {
			if !strings.Contains(here, "\n "+title+" ") {
				t.Errorf("pane %s: the column %q is not explained:\n%s", key, title, here)
			}
		}
		for _, a := range []string{"CMR", "NMR", "CWL", "NWL", "LCM"} {
			if !strings.Contains(here, "\n "+a+" ") {
				t.Errorf("pane %s: %s is not explained", key, a)
			}
		}
	}
}

// Abbreviations are explained where they are used: those of the locks below the nodes, those of a phase's evidence in its pane.
func TestShortWordsAreExplainedWhereTheyStand(t *testing.T) {
	frame := strings.Join(strings.Fields(stripped(drive(world(), 200, 60).shows())), " ")
	for _, want := range []string{"os openstack, ce ceph, tf tungstenfabric", "active: LCM waits", "NMR NodeMaintenanceRequest"} {
		if !strings.Contains(frame, want) {
			t.Errorf("the dashboard does not say %q:\n%s", want, stripped(drive(world(), 200, 60).shows()))
		}
	}
	if got := pageText(t, drive(world(), 80, 24).keys("2", "i")); !strings.Contains(got, "short for CMR ClusterMaintenanceRequest") ||
		!strings.Contains(got, "CWL ClusterWorkloadLock") {
		t.Errorf("the inspection says %q", got)
	}
	if got := shortFor("all CWLs inactive; NMR cmp-1, BNMRX"); got != "NMR NodeMaintenanceRequest, CWL ClusterWorkloadLock" {
		t.Errorf("%q", got)
	}
	if got := shortFor("nothing of that"); got != "" {
		t.Errorf("%q", got)
	}
}
