package cli

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/kubeapi"
)

// The record tells as whom the servers know the operator, and with each confirmation.
func TestTheRecordTellsAsWhomTheServersKnowTheOperator(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		p := play(t, told(t, "smooth"))
		is := p.until("both servers have told who we are", func(s *core.Snapshot) bool {
			return s.Identity.KubernetesUser != "" && s.Identity.OpenStackUser != ""
		}).Identity
		p.confirm(core.Intent{Kind: core.IntentSetMode, Nodes: []string{p.last.NodeNames()[0]}, Mode: core.ModeManual})
		p.stop()
		seen := map[engine.RecordKind]string{}
		if _, err := engine.ReadJournal(p.s.Journal.Path(), func(r engine.Record) {
			if r.As != nil {
				seen[r.Kind] = r.As.String()
			}
		}); err != nil {
			t.Fatal(err)
		}
		uids, own := journalsNoted(t, filepath.Dir(p.s.Journal.Path())), filepath.Base(p.s.Journal.Path())
		if len(uids) != 1 || !slices.Contains(slices.Collect(maps.Values(uids)), own) {
			t.Errorf("the journal is not noted: %v", uids)
		}
		if seen[engine.RecordIdentity] != is.String() || seen[engine.RecordGrant] != is.String() {
			t.Errorf("the record has %v, want %s", seen, is)
		}
	})
}

// journalsNoted is which cluster has which journal, by what a folder of journals says.
func journalsNoted(t *testing.T, folder string) (of map[string]string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(folder, "clusters.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &of); err != nil {
		t.Fatal(err)
	}
	return of
}

// A cluster has one journal, by whatever name and address it is reached. One that was made anew at an address has another.
func TestAClusterHasOneJournal(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		st := newStory(t, sim.Options{Scenario: told(t, "smooth")})
		open := func() string {
			st.begin()
			st.until("it is known which cluster it is", func(s *core.Snapshot) bool {
				return s.Identity.KubernetesUser != "" && s.Identity.OpenStackUser != ""
			})
			st.stop()
			return st.s.Journal.Path()
		}
		first := open()
		st.place.Name = "fra/mos"
		if again := open(); again != first {
			t.Errorf("by another name it has another journal: %s, and had %s", again, first)
		}
		noted := filepath.Join(filepath.Dir(first), "clusters.json")
		if err := os.WriteFile(noted, []byte(`{"another": "`+filepath.Base(first)+`"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		st.place.Name = "lon/mos"
		third := open()
		if third == first {
			t.Error("another cluster has the journal of the first")
		}
		for _, text := range []string{"{", `{"x": "../../etc/passwd"}`} {
			if err := os.WriteFile(noted, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if again := open(); again != third {
				t.Errorf("with %s in the file the journal is %s", text, again)
			}
		}
		// One that was begun while the server did not tell which cluster it is does not stay the cluster's.
		alone := strings.Replace(third, "lon_mos", "par_mos", 1)
		if err := os.WriteFile(alone, nil, 0o600); err != nil || alone == third {
			t.Fatal(alone, err)
		}
		st.place.Name = "par/mos"
		if again := open(); again != third {
			t.Errorf("the journal is %s, and the cluster's is %s", again, third)
		}
	})
}

// The login of the kubeconfig becomes somebody else's while Lockstep runs, and the old one is refused: the record names who writes from
// then on, and writing is armed again by them or not at all.
func TestALoginThatBecomesSomebodyElsesIsTold(t *testing.T) {
	bubble.Story(t, func(t *testing.T) {
		p := play(t, told(t, "smooth"))
		was := p.until("it is known who we are, and writing is armed", func(s *core.Snapshot) bool {
			return s.Identity.KubernetesUser != "" && s.Write.Armed
		}).Identity.KubernetesUser
		if err := p.Kube.WriteKubeconfig(p.KubeconfigPath, kubeapi.Readonly); err != nil {
			t.Fatal(err)
		}
		ours := func(r *http.Request) bool { return strings.HasPrefix(r.UserAgent(), "lockstep/") }
		p.Kube.AddFault(kubeapi.Fault{Match: ours, Resource: "nodes", Code: http.StatusUnauthorized, Times: 1})
		p.Kube.CutWatches("")
		s := p.until("it is known who we are now", func(s *core.Snapshot) bool {
			return s.Identity.KubernetesUser != "" && s.Identity.KubernetesUser != was
		})
		if s.Write.Armed || !strings.Contains(s.Write.Lost, s.Identity.KubernetesUser) {
			t.Errorf("as %s, it is armed by %s: %+v", s.Identity.KubernetesUser, was, s.Write)
		}
	})
}

// A new login that Kubernetes does not name, as it refuses to or has not answered for a minute, may be anybody's: what the earlier one
// armed does not hold for it. One answer that is lost disarms nothing.
func TestANewLoginThatNobodyNamesIsNotArmed(t *testing.T) {
	for name, row := range map[string]struct {
		fault kubeapi.Fault
		says  string // empty: it stays armed
	}{
		"it is refused":          {kubeapi.Fault{Code: http.StatusForbidden}, "forbidden"},
		"nobody answers":         {kubeapi.Fault{Code: http.StatusServiceUnavailable}, "for a minute"},
		"one answer is lost":     {kubeapi.Fault{Code: http.StatusServiceUnavailable, Times: 1}, ""},
		"three answers are lost": {kubeapi.Fault{Code: http.StatusServiceUnavailable, Times: 3}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Story(t, func(t *testing.T) { newLogin(t, row.fault, row.says) })
		})
	}
}

// newLogin has the kubeconfig log in anew as the same person, who is named only as a fault lets them be.
func newLogin(t *testing.T, fault kubeapi.Fault, says string) {
	t.Helper()
	p := play(t, told(t, "smooth"))
	was := p.until("it is known who we are, and writing is armed", func(s *core.Snapshot) bool {
		return s.Identity.KubernetesUser != "" && s.Write.Armed
	}).Identity.KubernetesUser
	fault.Match = func(r *http.Request) bool { return strings.HasPrefix(r.UserAgent(), "lockstep/") }
	fault.Resource = "selfsubjectreviews"
	p.Kube.AddFault(fault)
	if err := p.Kube.SetUser(kubeapi.User{Name: was, Rules: kubeapi.OperatorRules(), Token: "renewed"}); err != nil {
		t.Fatal(err)
	}
	if err := p.Kube.WriteKubeconfig(p.KubeconfigPath, was); err != nil {
		t.Fatal(err)
	}
	p.Kube.CutWatches("")
	p.until("the name is asked for", func(s *core.Snapshot) bool { return s.Identity.KubernetesUser == "" })
	if says == "" {
		if s := p.until("it is known again", func(s *core.Snapshot) bool { return s.Identity.KubernetesUser == was }); !s.Write.Armed {
			t.Errorf("it is disarmed: %s", s.Write.Lost)
		}
		return
	}
	s := p.until("writing is disarmed", func(s *core.Snapshot) bool { return !s.Write.Armed })
	if !strings.Contains(s.Write.Lost, "nobody knows whether it is still "+was) || !strings.Contains(s.Write.Lost, says) {
		t.Errorf("it says %q", s.Write.Lost)
	}
}
