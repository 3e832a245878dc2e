package tui

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"

	"lockstep/core"
)

var update = flag.Bool("update", false, "write the golden screens anew")

// golden compares a screen with the file of that name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v (run the tests with -update)", err)
	}
	if string(want) != got {
		t.Errorf("%s is not as it was; look at it and run with -update.\n--- was\n%s\n--- is\n%s", name, want, got)
	}
}

func stripped(frame string) string {
	lines := strings.Split(ansi.Strip(frame), "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(l, " ")
	}
	return strings.Join(lines, "\n") + "\n"
}

// styled returns the frame as a terminal with that profile gets it, with readable escape sequences.
func styled(t *testing.T, frame string, profile colorprofile.Profile) string {
	t.Helper()
	var out bytes.Buffer
	w := &colorprofile.Writer{Forward: &out, Profile: profile}
	if _, err := w.Write([]byte(frame)); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(out.String(), "\x1b", "^[") + "\n"
}

var sizes = []struct{ w, h int }{{80, 24}, {120, 40}, {200, 60}}

func TestScreens(t *testing.T) {
	for _, size := range sizes {
		for _, screen := range []struct {
			name string
			keys []string
		}{
			{"dashboard", nil}, {"needs", []string{"1"}}, {"instances", []string{"4"}}, {"locks", []string{"5"}},
			{"phases", []string{"2"}}, {"timeline", []string{"7"}}, {"timeline-whole", []string{"T"}},
			{"timeline-then", []string{"T", "left", "left", "["}},
			{"as-it-was", []string{"T", "left", "left", "[", "enter"}}, {"steps", []string{"enter"}},
			{"inspect-node", []string{"i"}}, {"help", []string{"?"}}, {"palette", []string{":", "safe"}}, {"mode", []string{"e"}},
			{"arm", []string{"w"}}, {"filter", []string{"/", "cmp-0"}},
		} {
			name := fmt.Sprintf("%s-%dx%d", screen.name, size.w, size.h)
			t.Run(name, func(t *testing.T) {
				golden(t, name, stripped(drive(world(), size.w, size.h).keys(screen.keys...).shows()))
			})
		}
	}
}

// What a terminal gets for a box: every theme, and the same with few colours and with none.
func TestBoxesAsTheTerminalGetsThem(t *testing.T) {
	for _, look := range []struct {
		name, theme string
		profile     colorprofile.Profile
	}{
		{"dark-256", "dark", colorprofile.ANSI256}, {"light-256", "light", colorprofile.ANSI256},
		{"dark-16", "dark", colorprofile.ANSI}, {"light-16", "light", colorprofile.ANSI}, {"mono", "mono", colorprofile.ASCII},
	} {
		for _, box := range []struct {
			name string
			open func(d *driver)
		}{
			{"confirm", func(d *driver) {
				d.plan = func(*core.Snapshot, core.Intent) core.Step { return theStep() }
				d.run(d.confirm(theStep().Intent, "Step 3 of 6"))
			}},
			{"mode", func(d *driver) { d.keys("3", "e") }},
		} {
			d := drive(world(), 80, 24, withTheme(look.theme))
			d.send(tea.ColorProfileMsg{Profile: look.profile})
			box.open(d)
			golden(t, "styled-"+box.name+"-"+look.name, styled(t, d.shows(), look.profile))
		}
	}
}

// What the screen says when a server hides something from it.
func TestTroubleAsItIsShown(t *testing.T) {
	s := world()
	set := func(id core.SourceID, state core.SourceState, err *core.APIError) {
		s.Sources[id] = core.Source{ID: id, State: state, Since: fixtureWall.Add(-40 * time.Second), Err: err,
			Next: fixtureWall.Add(25 * time.Second)}
	}
	set(core.SourceNodeLocks, core.SourceAbsent, &core.APIError{Kind: core.ErrNotFound, Server: core.ServerKubernetes, Status: 404,
		Call: "list nodeworkloadlocks", Message: "the server could not find the requested resource",
		Remedy: "this cluster has no workload locks: is it a MOSK cluster?"})
	set(core.SourceClusterLocks, core.SourceForbidden, &core.APIError{Kind: core.ErrForbidden, Server: core.ServerKubernetes, Status: 403,
		Call: "list clusterworkloadlocks", Message: `User "anna" cannot list resource "clusterworkloadlocks"`,
		Remedy: "apply deploy/rbac-readonly.yaml"})
	set(core.SourceInstances, core.SourceFailed, &core.APIError{Kind: core.ErrUnauthorized, Server: core.ServerOpenStack, Status: 401,
		Call: "authenticate at keystone", Message: "The request you have made requires authentication.", Remedy: "check clouds.yaml"})
	set(core.SourceMigrations, core.SourceConnecting, nil)
	s.ClusterLocks, s.NodeLocks = nil, core.ByName[[]*core.WorkloadLock]{}
	s.Instances, s.ByHost, s.Migrations = core.Instances{}, map[string][]*core.Instance{}, map[string][]*core.Migration{}
	for _, size := range sizes {
		golden(t, fmt.Sprintf("trouble-%dx%d", size.w, size.h), stripped(drive(s, size.w, size.h).keys("5").shows()))
	}
	golden(t, "connecting-80x24", stripped(drive(nil, 80, 24).shows()))
	set(core.SourceClusterRequests, core.SourceAbsent, s.Sources[core.SourceNodeLocks].Err)
	s.ClusterRequests = nil
	golden(t, "trouble-no-requests-80x24", stripped(drive(s.CopyFacts(), 80, 24).shows()))
}
