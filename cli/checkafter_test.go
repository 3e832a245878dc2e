package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/checklist"
	"lockstep/sim"
	"lockstep/sim/bubble"
)

// An update that nobody here watched, and that no plan tells of, breaks something that nothing waits for. The check after it says so,
// compared with the one before it: in words, in the document for scripts, and by the exit code.
func TestTheCheckSaysWhatAnUpdateBroke(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		st := newStory(t, sim.Options{Scenario: told(t, "update-breaks"), Timing: paced, Speed: quickly})
		elsewhere := placeOn(t, st.Cloud) // a colleague's machine: its journal has never seen the update
		look := func(args ...string) (int, string) {
			t.Helper()
			code, out, errs := runIn(t, elsewhere, append(args, "--kubeconfig", st.KubeconfigPath, "--os-cloud", st.CloudName,
				"--management-context", "management")...)
			if errs != "" {
				t.Error(errs)
			}
			return code, out
		}
		if code, out := look("check", "--no-room"); code == exitAttention || strings.Contains(out, "after the update") {
			t.Fatalf("before: exit %d\n%s", code, out)
		}
		// The cluster was opened by another name then. Its checks are in its folder all the same.
		kept, err := filepath.Glob(filepath.Join(elsewhere.Journal, "checks", "*", "*"))
		if err != nil || len(kept) != 1 {
			t.Fatal(kept, err)
		}
		raw, err := os.ReadFile(kept[0])
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(raw), `"mos"`) {
			t.Fatalf("the check is of no cluster: %s", raw)
		}
		if err := os.WriteFile(kept[0], []byte(strings.Replace(string(raw), `"mos"`, `"kubernetes"`, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		st.place.Management = simManagement(st.Cloud)
		st.begin()
		st.arm()
		next := st.takesTheRelease()
		st.until("the cluster is at it, and its agents are silent", func(s *core.Snapshot) bool {
			silent := 0
			for _, agents := range s.Agents {
				for _, a := range agents {
					silent += map[bool]int{false: 1}[a.Alive]
				}
			}
			return s.Management.Cluster.Release == next.Intent.Release && s.ClusterRequest() == nil && silent == 2
		})
		code, out := look("check", "--no-room")
		for _, want := range []string{"after the update to 21.0.0", "2 points are worse:", "BLUESTORE_SLOW_OP_ALERT",
			"Open vSwitch agent: silent"} {
			if !strings.Contains(out, want) {
				t.Errorf("%q is not in:\n%s", want, out)
			}
		}
		if code != exitAttention {
			t.Errorf("exit %d", code)
		}
		code, out = look("check", "--no-room", "-o", "json")
		var doc checklist.Compared
		if err := json.Unmarshal([]byte(out), &doc); err != nil || code != exitAttention {
			t.Fatalf("exit %d, %v\n%s", code, err, out)
		}
		if doc.After != "21.0.0+25.2" || doc.Release != doc.After || doc.Against == nil || !doc.Began.IsZero() {
			t.Errorf("after %q, at %q, against %v, began %v", doc.After, doc.Release, doc.Against, doc.Began)
		}
		broke := map[string]checklist.Verdict{}
		for _, c := range doc.Since {
			if c.Broke() {
				broke[c.ID] = c.Now
			}
		}
		if broke["ceph"] != checklist.Fail || broke["agents"] != checklist.Warn || len(broke) != 2 {
			t.Errorf("it broke %v", broke)
		}
	})
}
