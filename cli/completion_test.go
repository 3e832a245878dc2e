package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/fault"
	"lockstep/sim/kubeapi"
	"lockstep/sim/openstack"
)

// completed are the words that a completion offers, without what it says about them, and all that it printed.
func completed(t *testing.T, p options, args ...string) (words []string, printed string) {
	t.Helper()
	code, out, _ := runIn(t, p, append([]string{"__complete"}, args...)...)
	if code != exitFine {
		t.Errorf("%v: exit %d", args, code)
	}
	for line := range strings.Lines(out) {
		if word, _, _ := strings.Cut(strings.TrimSpace(line), "\t"); word != "" && !strings.HasPrefix(word, ":") {
			words = append(words, word)
		}
	}
	return words, out
}

// Commands on a cloud in which a node waits for its operator, and whose clock runs sixty times as fast.
func TestCommandsWhileANodeWaits(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		c := started(t, sim.Options{Scenario: told(t, "manual-nodes"), Speed: 60})
		until(t, "a node waits", func() bool {
			_, out, _ := runOn(t, c, "status")
			return strings.Contains(out, "manual mode")
		})
		liveNamesAreCompleted(t, c)
		commandsPrintTheirForms(t, c)
		commandFollowsTheCloudsClock(t, c)
		rehearsalIsMarked(t, c)
	})
}

// Names that only the cluster knows are completed from the live cluster, and nothing is written for it.
func liveNamesAreCompleted(t *testing.T, c *sim.Cloud) {
	t.Helper()
	at := []string{"--kubeconfig", c.KubeconfigPath, "--os-cloud", c.CloudName}
	before := len(c.Kube.Requests())
	for _, tt := range []struct {
		args      []string
		has, lack []string
	}{
		{[]string{"plan", ""}, []string{"cmp-01", "cmp-08"}, []string{"ctl-01", "web-1"}},
		{[]string{"plan", "cmp-01", "cmp-0"}, []string{"cmp-02"}, []string{"cmp-01"}},
		{[]string{"owners", "cmp-04"}, []string{"cmp-04"}, []string{"cmp-05"}},
		{[]string{"note", "--node", "c"}, []string{"cmp-01", "ctl-01"}, []string{"gtw-01"}},
		{[]string{"note", "--instance", "batch"}, []string{"batch-17"}, []string{"db-1"}},
		{[]string{"note", "--entry", ""}, nil, nil},
	} {
		words, printed := completed(t, placeOn(t, c), append(append(tt.args[:1:1], at...), tt.args[1:]...)...)
		for _, want := range tt.has {
			if !slices.Contains(words, want) {
				t.Errorf("%q: %s is not offered: %q", tt.args, want, printed)
			}
		}
		for _, not := range tt.lack {
			if slices.Contains(words, not) {
				t.Errorf("%q: %s is offered: %q", tt.args, not, printed)
			}
		}
		if len(words) == 0 {
			t.Errorf("%q: nothing is offered: %q", tt.args, printed)
		}
	}
	for _, r := range c.Kube.Requests()[before:] {
		if r.User == kubeapi.Operator && r.Write() {
			t.Errorf("a completion wrote: %+v", r)
		}
	}
}

// A silent server delays a shell no longer than said, and nothing is offered or said.
func TestACompletionWaitsForNoSilentServer(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		c := started(t, sim.Options{Scenario: told(t, "smooth")})
		c.Kube.AddFault(kubeapi.Fault{Hang: true})
		began := time.Now()
		words, printed := completed(t, placeOn(t, c), "plan", "--kubeconfig", c.KubeconfigPath, "--os-cloud", c.CloudName, "")
		if took := time.Since(began); len(words) > 0 || took > 2*completionPatience {
			t.Errorf("after %s: %q", took, printed)
		}
	})
}

// Whoever names a node waits for no OpenStack: the shell has the nodes as soon as Kubernetes has shown them.
func TestTheNodesAreCompletedWithoutOpenStack(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		c := started(t, sim.Options{Scenario: told(t, "smooth")})
		if err := c.Faults.On(fault.Setting{Server: fault.OpenStack, Kind: "hang"}); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"plan"}, {"owners"}, {"note", "--node"}} {
			began := time.Now()
			words, printed := completed(t, placeOn(t, c),
				append([]string{args[0], "--kubeconfig", c.KubeconfigPath, "--os-cloud", c.CloudName}, append(args[1:], "cmp-")...)...)
			if took := time.Since(began); !slices.Contains(words, "cmp-01") || took > time.Second {
				t.Errorf("%q: after %s: %q", args, took, printed)
			}
		}
		if asked := c.OpenStack.Requests(); slices.ContainsFunc(asked, func(r openstack.Request) bool {
			return strings.HasPrefix(r.UserAgent, "lockstep/")
		}) {
			t.Error("each try to complete a name sends the password")
		}
	})
}

// A name that a shell would read as something else is not offered; an instance with such a name is offered by its ID.
func TestOddNamesAreNotCompleted(t *testing.T) {
	odd := []string{"$(reboot)", "a b", "a;b", "`x`", "a'b", `a"b`, "a\nb", "a\x1b[31m", "-rf", "=x", "", "a*", "~root", "a&b", "é"}
	var all []string
	for _, name := range odd {
		all = append(all, name+"\tabout it")
	}
	if got := fitting(append(all, "cmp-1\tit \x1b[31mwaits", "cmp-1", "cmp-2", "other"), []string{"cmp-2"}, "c"); len(got) != 1 ||
		!strings.HasPrefix(got[0], "cmp-1\tit ") || strings.Contains(got[0], "\x1b") {
		t.Errorf("offered: %q", got)
	}
	s := &core.Snapshot{}
	s = s.WithInstances("h", []*core.Instance{{ID: "id-1", Name: "$(reboot)", Host: "h", Status: "ACTIVE"},
		{ID: "id-2", Name: "twice", Host: "h"}, {ID: "id-3", Name: "twice", Host: "h"}, {ID: "id-4", Name: "once", Host: "h"}})
	var words []string
	for _, c := range fitting(instanceWords(s), nil, "") {
		word, _, _ := strings.Cut(c, "\t")
		words = append(words, word)
	}
	if want := []string{"id-1", "id-2", "id-3", "once"}; !slices.Equal(words, want) {
		t.Errorf("instances: %q, want %q", words, want)
	}
}

// Contexts and clouds are completed from their files.
func TestContextsAndCloudsAreCompleted(t *testing.T) {
	dir := t.TempDir()
	config, clouds := filepath.Join(dir, "config"), filepath.Join(dir, "clouds.yaml")
	for path, text := range map[string]string{
		config: "{apiVersion: v1, kind: Config, contexts: [{name: mos-a, context: {}}, {name: mos-b, context: {}}, {name: other, context: {}}]}",
		clouds: "{clouds: {east: {auth: {password: geheim}}, west: {}}}",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("KUBECONFIG", config)
	t.Setenv("OS_CLIENT_CONFIG_FILE", clouds)
	for _, tt := range []struct {
		args []string
		want []string
	}{
		{[]string{"status", "--context", "mos"}, []string{"mos-a", "mos-b"}},
		{[]string{"status", "--management-context", "o"}, []string{"other"}},
		{[]string{"status", "--os-cloud", ""}, []string{"east", "west"}},
		{[]string{"status", "--kubeconfig", filepath.Join(dir, "none"), "--context", ""}, nil},
	} {
		code, out, _ := run(t, append([]string{"__complete"}, tt.args...)...)
		var words []string
		for line := range strings.Lines(out) {
			if word := strings.TrimSpace(line); word != "" && !strings.HasPrefix(word, ":") {
				words = append(words, word)
			}
		}
		if code != exitFine || !slices.Equal(words, tt.want) {
			t.Errorf("%q: exit %d, %q, want %q", tt.args, code, words, tt.want)
		}
	}
}

// What is said of an instance beside its name is where it is; one that is shelved is nowhere.
func TestAShelvedInstanceIsOnNoHost(t *testing.T) {
	archive := &core.Instance{ID: "1", Name: "archive-1", Status: "SHELVED_OFFLOADED"}
	s := &core.Snapshot{Facts: core.Facts{ByHost: map[string][]*core.Instance{"": {archive}}}}
	if got := instanceWords(s); len(got) != 1 || got[0] != "archive-1\tSHELVED_OFFLOADED" {
		t.Errorf("%q", got)
	}
}
