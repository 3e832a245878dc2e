package attention

import (
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// diagnosis is one row of the table of causes: from what is seen to why it is so, and to what can be done. docs/causes.md is written
// from it. A row is only told where its evidence was read; the first row that fits an entry counts.
type diagnosis struct {
	id        core.DiagnosisID
	rules     []core.AttentionRule // the entries at which it is looked for
	symptom   string               // what an operator sees first
	reads     string               // what it is told by: objects and their fields
	cause     string
	remedy    string
	forbidden string // what must not be done, and why
	at        string // sections of the document on MOSK, where the sources are: "#trouble, #finalizers"
	issue     string // of a known issue: its numbers in the release notes
	scenarios []string
	fits      func(*facts, core.Attention) bool

	// text is the OpenStack controller's text that the row is about. A row without a cause of its own has the cause and the remedy of
	// the table of texts.
	text progress.MessageID

	// log is the log of which a line has the words, and events are the objects of whose events one has them, where nothing else tells the
	// row: they are read only when somebody looks at the entry.
	log    func(*facts, core.Attention) core.LogTarget
	events func(*facts, core.Attention) []core.EventTarget
	words  string
}

// lookedUp tells whether only a log or events tell the row.
func (d diagnosis) lookedUp() bool { return d.log != nil || d.events != nil }

// about tells whether the row can be that of an entry, by what is known without a log.
func (d diagnosis) about(f *facts, a core.Attention) bool {
	return slices.Contains(d.rules, a.Rule) && (d.text == "" || f.message(f.lockOf(a)).ID == d.text) && (d.fits == nil || d.fits(f, a))
}

// suspects are the rows that could fit an entry, and that only a log can tell.
func (f *facts) suspects(a core.Attention) (out []core.Suspect) {
	for _, d := range diagnoses {
		if !d.lookedUp() || !d.about(f, a) {
			continue
		}
		if d.events != nil {
			if about := d.events(f, a); len(about) > 0 {
				out = append(out, core.Suspect{Diagnosis: d.told(), Events: about, Words: d.words})
			}
			continue
		}
		if target := d.log(f, a); target.Namespace != "" {
			out = append(out, core.Suspect{Diagnosis: d.told(), Log: target, Words: d.words})
		}
	}
	return out
}

// diagnose gives an entry the first row of the table that fits it.
func (f *facts) diagnose(a core.Attention) *core.Diagnosis {
	for _, d := range diagnoses {
		if !d.lookedUp() && d.about(f, a) {
			told := d.told()
			if d.text != "" && d.cause == "" { // as it is on this lock
				m := f.message(f.lockOf(a))
				told.Cause, told.Remedy = wording.Sentence(m.Meaning), wording.Sentence(m.Remedy)
			}
			return &told
		}
	}
	return nil
}

// Diagnoses is the table of causes, as its rows are without an entry.
func Diagnoses() []core.Diagnosis {
	out := make([]core.Diagnosis, len(diagnoses))
	for i, d := range diagnoses {
		out[i] = d.told()
	}
	return out
}

// told is the row as it is without an entry.
func (d diagnosis) told() core.Diagnosis {
	out := core.Diagnosis{ID: d.id, Cause: d.cause, Remedy: d.remedy, Forbidden: d.forbidden, At: d.at, Issue: d.issue,
		Scenarios: d.scenarios}
	if d.cause != "" {
		return out
	}
	if i := slices.IndexFunc(progress.Literals, func(l progress.Literal) bool { return l.ID == d.text && d.text != "" }); i >= 0 {
		out.Cause, out.Remedy = wording.Sentence(progress.Literals[i].Meaning), wording.Sentence(progress.Literals[i].Remedy())
	}
	return out
}

// leftBy tells whether an entry is about an instance of that kind, or about a node that waits for such instances and for no others.
func leftBy(is func(v core.InstanceView) bool) func(*facts, core.Attention) bool {
	return func(f *facts, a core.Attention) bool {
		some := false
		for _, v := range f.blocking(a.Node) {
			if a.Instance != "" && v.Instance.ID != a.Instance {
				continue
			}
			if some = true; !is(v) {
				return false
			}
		}
		return some
	}
}

func undecided(v core.InstanceView) bool { return v.Instance.Status == "VERIFY_RESIZE" }

func inError(v core.InstanceView) bool { return v.Instance.Status == "ERROR" }

func twoTags(v core.InstanceView) bool { return v.Origin == core.OriginConflicting }

func ownersFirst(v core.InstanceView) bool {
	return v.Action == core.ActionNotify && v.Origin == core.OriginTag
}

func failsToMove(v core.InstanceView) bool { return v.Failures >= failuresTold }

func inManualMode(f *facts, a core.Attention) bool {
	v, ok := progress.NodeView(f.s, a.Node)
	return ok && v.Mode == core.ModeManual && (v.Blocking > 0 || !f.s.Known(core.SourceInstances))
}

func scaledToZero(f *facts, _ core.Attention) bool {
	return f.s.Controller != nil && f.s.Controller.Replicas == 0
}

// rolloutTakes is how long a rollout may leave the OpenStack controller without a ready replica: its new pod applies the deployment after
// about 75 s, and an image has to be pulled before.
const rolloutTakes = 5 * time.Minute

// crashes tells whether the OpenStack controller is wanted, and none of its pods has been ready for longer than a rollout takes.
func crashes(f *facts, a core.Attention) bool {
	c := f.s.Controller
	return c != nil && c.Replicas > 0 && c.Ready == 0 && !c.AwaySince.IsZero() && badRoleLabels(f, a) == "" &&
		f.s.Longer(c.AwaySince, rolloutTakes)
}

func lacksScope(f *facts, a core.Attention) bool { return progress.LacksScope(f.s.NodeRequest(a.Node)) }

func nodeIsDown(f *facts, a core.Attention) bool {
	n := f.s.Nodes[a.Node]
	return n != nil && n.Ready != "True"
}

// heldByBudget tells whether a disruption budget refuses the drain that an entry is about.
func heldByBudget(f *facts, a core.Attention) bool {
	return f.drains(a, func(m progress.DrainMessage) bool { return m.Budgeted })
}

// heldByPod tells whether a pod that was evicted does not end, and keeps the drain.
func heldByPod(f *facts, a core.Attention) bool {
	return f.drains(a, func(m progress.DrainMessage) bool { return m.Ending })
}

func (f *facts) drains(a core.Attention, is func(progress.DrainMessage) bool) bool {
	v := f.machineOf(a)
	if v == nil {
		return false
	}
	return slices.ContainsFunc([]*core.DrainState{v.Drain, v.Swarm}, func(d *core.DrainState) bool {
		return d != nil && progress.DrainBlocked(d) && is(progress.ReadDrainMessage(d.Message))
	})
}

func isForeign(f *facts, a core.Attention) bool {
	l := f.lockOf(a)
	return l != nil && l.Foreign()
}

// lacksQuorum tells whether a service that needs a quorum is among those that cannot do without the node (text G).
func lacksQuorum(f *facts, a core.Attention) bool {
	return slices.ContainsFunc(f.message(f.lockOf(a)).Blockers, func(service string) bool {
		_, quorum := progress.QuorumNamed(service)
		return quorum
	})
}

// unanswered tells whether an entry is about sources of the server, and the server does not answer.
func unanswered(server core.Server) func(*facts, core.Attention) bool {
	return func(f *facts, a core.Attention) bool {
		return slices.ContainsFunc(f.sourcesOf(a), func(src core.Source) bool {
			return src.ID.Server() == server && src.Err != nil && src.Err.Uncertain()
		})
	}
}

// itemSays tells whether the failing state item of the machine has the words in its message.
func itemSays(words string) func(*facts, core.Attention) bool {
	return func(f *facts, a core.Attention) bool {
		v := f.machineOf(a)
		return v != nil && v.Failing != nil && strings.Contains(v.Failing.Message, words)
	}
}

// notApplied tells whether a service of OpenStack is not APPLIED.
func notApplied(service string) func(*facts, core.Attention) bool {
	return func(f *facts, _ core.Attention) bool {
		for _, o := range f.s.OpenStack {
			for _, svc := range o.Services {
				if svc.Name == service && svc.State != "APPLIED" {
					return true
				}
			}
		}
		return false
	}
}

// logOf is the log of OpenStack's pods whose names have the part.
func logOf(part string) func(*facts, core.Attention) core.LogTarget {
	return func(*facts, core.Attention) core.LogTarget {
		return core.LogTarget{Server: core.ServerKubernetes, Namespace: core.NamespaceOpenStack, Part: part, Label: part}
	}
}

// logOfDownMember is the log of the pod that is not ready of a service's set; none where all are, or where the set is not known.
func logOfDownMember(service string) func(*facts, core.Attention) core.LogTarget {
	return func(f *facts, _ core.Attention) core.LogTarget {
		q, known := progress.QuorumNamed(service)
		if v, there := progress.Quorum(f.s, q); known && there {
			for _, p := range v.Pods {
				if !p.Ready {
					return progress.PodLog(p.Namespace, p.Name)
				}
			}
		}
		return core.LogTarget{}
	}
}

// mostPodsAsked is of how many pods the events are read.
const mostPodsAsked = 5

// podsNotReady are the pods of the node that are not ready; of these the events are read.
func podsNotReady(f *facts, a core.Attention) []core.EventTarget {
	pods := f.s.Pods[a.Node]
	if pods == nil || !f.s.Known(core.SourceNodePods) {
		return nil
	}
	var out []core.EventTarget
	for _, p := range pods.NotReady[:min(len(pods.NotReady), mostPodsAsked)] {
		out = append(out, core.EventTarget{Server: core.ServerKubernetes, Namespace: p.Namespace, Kind: "Pod", Name: p.Name,
			Label: wording.OneLine(p.Name, 100)})
	}
	return out
}

func noRoom(v core.InstanceView) bool { return step.NoRoom(v) }

// leftOut are patterns of the documents and known issues of release notes that the table does not tell, and why not. What Lockstep
// does not read, or what no document describes well enough, it does not guess.
var leftOut = []struct{ what, why string }{
	{"Maintenance of Ceph never ends on three OSD nodes, with one replica less than nodes (`ceph osd reweight`)",
		"pools and their replicas are not read; the way out is in [Ceph](mosk.md#ceph)"},
	{"A node that is not drained because of a volume that stays mounted", "no document has the words of LCM's message; it is shown as it is"},
	{"Text G with `compute: False` (another availability zone is under way)",
		"not hung: it comes by itself when the other zone is through, and the entry says so"},
	{"46220, 41819, 46671, 13755 (Tungsten Fabric, Ceph's cluster locks at a graceful reboot)",
		"the release notes' signatures of these name states that look the same without the issue"},
	{"5981, 34280, 34247, 50566, 50637, 42896, 42386, 7947, 16146, 24005, 30294, 54430",
		"no text or field is published by which it could be told from a slow update"},
	{"9899, 6066, 17412, 20455, 34210 (Helm releases)", "HelmBundles are not read; text D leads to `helm3 list` by hand"},
	{"47603, 47695 (Masakari, Cinder's database)", "they belong to an upgrade of OpenStack, which an update never does"},
	{"54944, 54981 (host OS upgrade and BareMetalHostProfile of the management cluster)",
		"the management cluster's own update is not watched"},
}
