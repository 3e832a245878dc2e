package main

import (
	"image/color"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lockstep/e2e/terminal"
)

// screenOf is a screen with these lines.
func screenOf(text string) terminal.Screen {
	lines := strings.Split(text, "\n")
	s := terminal.Screen{Columns: 120, Rows: len(lines) + 1, Cells: make([][]terminal.Cell, len(lines)+1)}
	for y := range s.Cells {
		s.Cells[y] = slices.Repeat([]terminal.Cell{{Text: " ", Width: 1}}, s.Columns)
		if y == len(lines) {
			break
		}
		for x, r := range []rune(lines[y]) {
			s.Cells[y][x].Text = string(r)
		}
	}
	return s
}

const dashboard = `─ 2 Phases ───────────┬─ 3 Nodes ────────────────────────────────────
▌ ● 1 trigger         │  node      stage           for  mode    os ce tf  inst  what
  because             │  cmp-0016  → evacuating   26 s  live    ●  ○  ○     32  0 of 32 moved
                      │▌ cmp-0020    idle            –  manual  ●  ●  ●      7
─ 4 Instances of cmp-0016 ──────────────────────────────────────────────
  name       id        project
▌ vm-000016  dcd969a3  team-26`

func TestTheRowsOfThePaneOfNodesAreRead(t *testing.T) {
	v := readNodes(screenOf(dashboard))
	if want := []string{"cmp-0016", "cmp-0020"}; !slices.Equal(v.names, want) {
		t.Fatalf("the rows are %q, want %q", v.names, want)
	}
	if v.selected != "cmp-0020" {
		t.Errorf("the cursor is on %q", v.selected)
	}
	want := row{"node": "cmp-0016", "mode": "live", "os": "●", "ce": "○", "tf": "○", "what": "0 of 32 moved"}
	got := v.rows["cmp-0016"]
	for column, text := range want {
		if got[column] != text {
			t.Errorf("%s is %q, want %q", column, got[column], text)
		}
	}
	if v := readNodes(screenOf("starting")); len(v.names) != 0 || v.selected != "" {
		t.Errorf("an empty screen shows %+v", v)
	}
}

func TestTheRowsOfThePaneOfLocksAreRead(t *testing.T) {
	v := readLocks(screenOf(`─ 5 Locks ──────────────────────────────────────────────
  of        controller      state       inner     release        for  says
  cmp-0016  ceph            ○ inactive            21.0.0+25.2  >21 s
▌ cmp-0016  openstack       ● active    active    21.0.0+25.2   20 s  works: Starting

 enter steps`))
	if want := []string{"cmp-0016 ceph", "cmp-0016 openstack"}; !slices.Equal(v.names, want) {
		t.Fatalf("the rows are %q, want %q", v.names, want)
	}
	if says := v.rows["cmp-0016 openstack"]["says"]; says != "works: Starting" || v.selected != "cmp-0016 openstack" {
		t.Errorf("it says %q, and the cursor is on %q", says, v.selected)
	}
}

func TestTheCursorOfK9sIsTheRowWithItsOwnBackground(t *testing.T) {
	s := screenOf(`│ NAME↑                         AGE │
│ ceph-kaas-node-1              4m  │
│ ceph-kaas-node-2              4m  │
│ ceph-kaas-node-3              4m  │`)
	for x := range s.Columns {
		s.Cells[2][x].Style.Background = color.White
	}
	v := readK9s(s)
	if want := []string{"ceph-kaas-node-1", "ceph-kaas-node-2", "ceph-kaas-node-3"}; !reflect.DeepEqual(v.names, want) {
		t.Errorf("the rows are %q, want %q", v.names, want)
	}
	if v.selected != "ceph-kaas-node-2" {
		t.Errorf("the cursor is on %q", v.selected)
	}
}

func TestWhatIsNotShownInTheEndIsCounted(t *testing.T) {
	machines := []machine{{Node: "n1", Short: "cmp-1"}, {Node: "n2", Short: "cmp-2", Maintained: true}}
	f := final{modes: map[string]string{"cmp-1": modeSkip}, states: map[string]string{"cmp-2 ceph": stateActive},
		texts: map[string]said{"cmp-2": {startingText("4b3f"), startingText("vm-1")}}}
	shown := map[string]row{"cmp-1": {"mode": "skip", "inst": "3"}, "cmp-2": {"ce": "●", "tf": "○", "inst": "0"}}
	hosts := map[string]int{"n1": 3}
	if wrong := f.wrongNodes(machines, shown, hosts); len(wrong) != 0 {
		t.Errorf("all is as it is, and yet: %q", wrong)
	}
	shown["cmp-1"]["mode"], shown["cmp-2"]["ce"], hosts["n1"] = "live", "○", 4
	if wrong := f.wrongNodes(machines, shown, hosts); len(wrong) != 3 {
		t.Errorf("of three wrong cells: %q", wrong)
	}
	if wrong := f.wrongNodes(machines, nil, nil); len(wrong) != 2 {
		t.Errorf("of two rows that are not there: %q", wrong)
	}
	for says, right := range map[string]bool{"works: Starting migration for 4b…": true, "works: Starting migration for vm-1": true,
		"works: Waiting servers": false, "": false} {
		if wrong := f.wrongTexts(map[string]row{"cmp-2 openstack": {"says": says}}); (len(wrong) == 0) != right {
			t.Errorf("of a row that says %q: %q", says, wrong)
		}
	}
}
