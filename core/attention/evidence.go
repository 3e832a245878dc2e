package attention

import (
	"fmt"
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/core/wording"
)

// saysMost is the longest text of a server that is shown as evidence, in bytes.
const saysMost = 400

func seenOne(of, says string) []core.Evidence { return []core.Evidence{{Of: of, Says: says}} }

// message reads the text of a lock.
func (f *facts) message(l *core.WorkloadLock) progress.LockMessage {
	if l == nil || l.Message == "" {
		return progress.LockMessage{}
	}
	return progress.ReadLock(f.s, l)
}

// seenLockItself is a lock's state, its text, and what Lockstep sees of what the text says.
func (f *facts) seenLockItself(l *core.WorkloadLock) []core.Evidence {
	if l == nil {
		return nil
	}
	state := wording.OneLine(string(l.State()), 40)
	if since := f.s.History.StateSince(l); since.Exact {
		state += " since " + progress.DayText(f.s, since.At)
	}
	if l.InnerState != "" {
		state += ", inner_state " + wording.OneLine(l.InnerState, 20)
	}
	if l.Release != "" {
		state += ", release " + wording.OneLine(l.Release, 60)
	}
	if !l.Deleting.IsZero() {
		state += ", in deletion since " + progress.DayText(f.s, l.Deleting)
	}
	out := seenOne(wording.OneLine(l.Controller, 40)+" lock", state)
	if l.Message != "" {
		out = append(out, core.Evidence{Of: "it says", Says: wording.OneLine(l.Message, saysMost)})
		out = append(out, core.Evidence{Of: "Lockstep sees", Says: procedure.Seen(f.s, l, f.message(l))})
	} else if l.State() != core.LockInactive {
		out = append(out, core.Evidence{Of: "it says", Says: "nothing"})
	}
	return append(out, core.Evidence{Of: "whom to ask", Says: progress.AskAbout(f.s, l)})
}

func seenLock(f *facts, a core.Attention) []core.Evidence {
	return f.seenLockItself(f.lockOf(a))
}

func seenNodeLock(f *facts, a core.Attention) []core.Evidence {
	return f.seenLockItself(f.s.NodeLock(a.Node, core.ControllerOpenStack))
}

// seenAnyLock is the lock of a played controller.
func seenAnyLock(f *facts, a core.Attention) []core.Evidence {
	return f.seenLockItself(f.playedLock(a))
}

// seenLocks are all locks that name a node.
func seenLocks(f *facts, a core.Attention) []core.Evidence {
	var names []string
	for _, l := range f.s.NodeLocks.At(a.Node) {
		names = append(names, wording.OneLine(l.Name, 80)+" ("+wording.OneLine(string(l.State()), 40)+")")
	}
	return seenOne("its locks", wording.Some(names, 6))
}

// seenNode is the node's stage, its requests, and whether it is Ready.
func seenNode(f *facts, a core.Attention) []core.Evidence {
	v, ok := progress.NodeView(f.s, a.Node)
	if !ok {
		return nil
	}
	out := seenOne("stage", string(v.Stage)+", "+v.Reason)
	for _, r := range f.s.NodeRequests[a.Node] {
		text := "since " + progress.DayText(f.s, r.Created) + ", scope " + wording.TextOf(wording.OneLine(string(r.Scope), 20), "none")
		if !r.Deleting.IsZero() {
			text += ", being removed since " + progress.DayText(f.s, r.Deleting)
		}
		out = append(out, core.Evidence{Of: "request", Says: text})
	}
	if d := f.s.Deletions[a.Node]; d != nil {
		out = append(out, core.Evidence{Of: "its removal", Says: "asked for since " + progress.DayText(f.s, d.Created)})
	}
	if n := v.Node; n != nil && (n.Ready != "True" || n.Cordoned) {
		text := "Ready"
		if n.Ready != "True" {
			text = "not Ready since " + progress.DayText(f.s, n.ReadySince) + wording.InBrackets(wording.OneLine(n.ReadyReason, 60))
		}
		if n.Cordoned {
			text += ", cordoned"
		}
		out = append(out, core.Evidence{Of: "node", Says: text})
	}
	return append(out, seenAccount(f, a)...)
}

// seenAccount is the OpenStack controller's account of its own work.
func seenAccount(f *facts, a core.Attention) []core.Evidence {
	if a.Node == "" {
		return seenOne("the controller", progress.AccountSentence(f.s, progress.RequestAccount(f.s, f.request), "", progress.LockMessage{}))
	}
	return seenOne("the controller", progress.AccountSentence(f.s, progress.NodeAccount(f.s, a.Node), a.Node,
		f.message(f.s.NodeLock(a.Node, core.ControllerOpenStack))))
}

func seenService(f *facts, a core.Attention) []core.Evidence {
	svc := f.s.Services[f.s.HostOf(a.Node)]
	if svc == nil {
		return nil
	}
	return seenOne("nova-compute", step.UpText(svc)+", "+core.ServiceText(svc))
}

func seenVolumeServices(f *facts, a core.Attention) []core.Evidence {
	var out []core.Evidence
	for _, v := range f.s.VolumeServicesOn(a.Node) {
		out = append(out, core.Evidence{Of: v.Label(), Says: v.Text()})
	}
	return out
}

// seenInstances are the instances on the node that are in the way, by their maintenance action.
func seenInstances(f *facts, a core.Attention) []core.Evidence {
	if a.Node == "" {
		return nil
	}
	if !f.s.Known(core.SourceInstances) {
		return seenOne("instances", "not known: "+f.s.WhyUnknown(core.SourceInstances))
	}
	return seenOne("in the way", leftText(f.blocking(a.Node)))
}

func seenInstance(f *facts, a core.Attention) []core.Evidence {
	v, ok := progress.InstanceView(f.s, a.Instance)
	if !ok {
		return nil
	}
	in := v.Instance
	state := wording.OneLine(in.Status, 40)
	if in.TaskState != "" {
		state += ", " + wording.OneLine(in.TaskState, 40)
	}
	if in.Host != "" {
		state += ", on " + progress.HostLabel(f.s, in.Host)
	}
	return append(seenOne(progress.InstanceLabel(in), state), core.Evidence{Of: "action", Says: fmt.Sprintf("%s (%s)", v.Action, v.Origin)},
		core.Evidence{Of: "why", Says: v.Why},
		core.Evidence{Of: "fault", Says: wording.OneLine(in.Fault, saysMost)}, core.Evidence{Of: "owner", Says: step.OwnerText(f.s, v)})
}

// seenMigration are the newest migrations of the instance.
func seenMigration(f *facts, a core.Attention) []core.Evidence {
	const most = 3
	var out []core.Evidence
	for i, m := range f.s.Migrations[a.Instance] {
		if i == most {
			break
		}
		text := wording.OneLine(m.Status, 40)
		if m.DestHost != "" {
			text += ", to " + progress.HostLabel(f.s, m.DestHost)
		}
		if m.Failure != "" {
			text += ": " + wording.OneLine(m.Failure, saysMost)
		}
		out = append(out, core.Evidence{Of: "try of " + progress.DayText(f.s, m.Created), Says: text})
	}
	return out
}

func seenMode(f *facts, a core.Attention) []core.Evidence {
	n := f.s.Nodes[a.Node]
	if n == nil {
		return nil
	}
	var out []core.Evidence
	for _, key := range []string{core.AnnotationMigrationMode, core.AnnotationMigrationAttempts} {
		if value := n.Annotation(key); value != nil {
			out = append(out, core.Evidence{Of: "annotation", Says: step.AnnotationText(key, value)})
		}
	}
	return out
}

// seenHeldUp are the nodes that wait for others (text F).
func seenHeldUp(f *facts, _ core.Attention) []core.Evidence {
	var names []string
	for _, v := range progress.NodeViews(f.s) {
		if f.waitsForOthers(v) {
			names = append(names, v.Label)
		}
	}
	return seenOne("held up", wording.Some(names, 6))
}

// waitsForOthers tells whether the controller defers the node until others are through (text F).
func (f *facts) waitsForOthers(v *core.NodeView) bool {
	l := f.s.NodeLock(v.Name, core.ControllerOpenStack)
	return v.Request != nil && v.Request.Deleting.IsZero() && f.message(l).ID == progress.SaysOthersFirst
}

func seenPods(f *facts, a core.Attention) []core.Evidence {
	pods := f.s.Pods[a.Node]
	if pods == nil || !f.s.Known(core.SourceNodePods) {
		return nil
	}
	out := seenOne("pods not ready", wording.OneLine(wording.Some(progress.PodNames(pods.NotReady), 6), saysMost))
	for i := range pods.Ended {
		out = append(out, core.Evidence{Of: "ended",
			Says: wording.OneLine(pods.Ended[i].FullName(), 100) + ", " + progress.EndedPodText(f.s, &pods.Ended[i])})
	}
	return out
}

func seenPhase(f *facts, a core.Attention) []core.Evidence {
	for _, p := range progress.Phases(f.s) {
		if p.ID == a.Phase {
			var out []core.Evidence
			for _, e := range p.Evidence {
				out = append(out, core.Evidence{Of: "because", Says: wording.OneLine(e, saysMost)})
			}
			return out
		}
	}
	return nil
}

func seenUpdate(f *facts, _ core.Attention) []core.Evidence {
	u := progress.Update(f.s)
	out := seenOne("update", wording.OneLine(u.From, 60)+" → "+wording.OneLine(u.To, 60))
	if u.Nodes > 0 {
		out = append(out, core.Evidence{Of: "nodes", Says: fmt.Sprintf("%d of %d done", u.Done, u.Nodes)})
	}
	for _, p := range progress.Phases(f.s) {
		if p.State != core.PhaseDone && p.State != core.PhasePending {
			out = append(out, core.Evidence{Of: "phase " + wording.Itoa(int(p.ID)), Says: p.Title + ": " + string(p.State)})
		}
	}
	return out
}

func seenCluster(f *facts, _ core.Attention) []core.Evidence {
	var out []core.Evidence
	for _, text := range progress.ManagementSummary(f.s) {
		out = append(out, core.Evidence{Of: "cluster", Says: text})
	}
	return out
}

func seenAfter(f *facts, _ core.Attention) []core.Evidence {
	var out []core.Evidence
	for _, p := range procedure.AfterUpdate(f.s) {
		if p.Unknown == "" && len(p.Open) > 0 {
			out = append(out, core.Evidence{Of: "not yet: " + p.Title, Says: wording.OneLine(wording.Some(p.OpenTexts(), 6), saysMost)})
		}
	}
	return out
}

// seenController is the OpenStack controller's Deployment.
func seenController(f *facts, _ core.Attention) []core.Evidence {
	c := f.s.Controller
	switch {
	case !f.s.Known(core.SourceOpenStackController):
		return seenOne("rockoon", "not known: "+f.s.WhyUnknown(core.SourceOpenStackController))
	case c == nil:
		return seenOne("rockoon", "there is no such Deployment")
	}
	text := fmt.Sprintf("%d of %d replicas ready", c.Ready, c.Replicas)
	if c.Existing > c.Ready {
		text += ", " + wording.Count(c.Existing, "pod") + " there"
	}
	if !c.AwaySince.IsZero() {
		text += ", too few since " + progress.DayText(f.s, c.AwaySince)
	}
	return seenOne("Deployment "+wording.OneLine(c.Name, 40), text)
}

func seenImage(f *facts, _ core.Attention) []core.Evidence {
	if c := f.s.Controller; c != nil {
		return seenOne("image", wording.OneLine(c.Image, 200))
	}
	return nil
}

// seenWaiters are the nodes and locks that wait for the OpenStack controller while it is away.
func seenWaiters(f *facts, _ core.Attention) []core.Evidence {
	var asked, back []string
	for _, v := range progress.NodeViews(f.s) {
		l := f.s.NodeLock(v.Name, core.ControllerOpenStack)
		switch {
		case v.Request == nil:
		case !v.Request.Deleting.IsZero():
			back = append(back, v.Label)
		case l != nil && l.State() == core.LockActive:
			asked = append(asked, v.Label)
		}
	}
	out := seenOne("not released", wording.Some(asked, 6))
	out = append(out, core.Evidence{Of: "not taken back", Says: wording.Some(back, 6)})
	if l := f.s.ClusterLock(core.ControllerOpenStack); l != nil && f.request != nil && l.State() == core.LockActive {
		out = append(out, core.Evidence{Of: "its cluster lock", Says: "active: LCM waits for it"})
	}
	return append(out, core.Evidence{Of: "never seen by it", Says: wording.Some(f.unseenNodes(), 6)})
}

func seenRoleLabels(f *facts, _ core.Attention) []core.Evidence {
	if c := f.s.Controller; c != nil {
		return seenOne("its setting", wording.OneLine(c.RoleLabels, saysMost))
	}
	return nil
}

// allLocks are the cluster's locks and those of the nodes, in the order of the nodes' labels.
func (f *facts) allLocks() []*core.WorkloadLock {
	all := slices.Clone(f.s.ClusterLocks)
	for _, v := range progress.NodeViews(f.s) {
		all = append(all, v.Locks...)
	}
	return all
}

// seenOutage are the locks whose texts say that OpenStack does not answer, each text once.
func seenOutage(f *facts, _ core.Attention) []core.Evidence {
	const most = 4
	var out []core.Evidence
	told := map[string]bool{}
	for _, l := range f.allLocks() {
		m := f.message(l)
		text := wording.OneLine(m.Text, saysMost)
		switch {
		case m.Class == progress.MessageOutage:
		case progress.SilentOutage(f.s, l):
			text = progress.AccountLine(f.s, progress.AccountOf(f.s, l), l.Node, m)
		default:
			continue
		}
		if !told[text] && len(out) < most {
			told[text] = true
			out = append(out, core.Evidence{Of: wording.TextOf(wording.OneLine(f.s.Label(l.Node), 64), "cluster lock"), Says: text})
		}
	}
	return out
}

func seenOpenStack(f *facts, _ core.Attention) []core.Evidence {
	return seenOne("Lockstep sees", procedure.SeesOpenStack(f.s, nil, progress.LockMessage{}))
}

func seenDeployment(f *facts, _ core.Attention) []core.Evidence {
	return append(seenOne("Lockstep sees", procedure.SeesDeployment(f.s, nil, progress.LockMessage{})),
		core.Evidence{Of: "health", Says: procedure.SeesHealth(f.s, nil, progress.LockMessage{})})
}

// seenSources is the state of each source; sources with the same state share one line.
func seenSources(f *facts, a core.Attention) []core.Evidence {
	const most = 6
	var out []core.Evidence
	told := map[string]int{}
	var of [][]string // the sources of each
	for _, src := range f.sourcesOf(a) {
		text := string(src.State)
		if !src.AsOf.IsZero() {
			text += ", seen last " + wording.SpanText(max(f.s.SpanByWall(src.AsOf), 0)) + " ago"
		}
		if src.Err != nil {
			text += ": " + string(src.Err.Kind) + wording.Prefixed(": ", wording.OneLine(src.Err.Message, saysMost))
		}
		if i, again := told[text]; again {
			of[i] = append(of[i], string(src.ID))
			continue
		}
		if len(out) < most {
			told[text] = len(out)
			out, of = append(out, core.Evidence{Says: text}), append(of, []string{string(src.ID)})
		}
	}
	for i := range out {
		out[i].Of = wording.Some(of[i], 3)
	}
	return out
}

func seenOperation(f *facts, a core.Attention) []core.Evidence {
	op := f.operationOf(a)
	if op == nil {
		return nil
	}
	text := string(op.State) + ", begun " + progress.DayText(f.s, op.Started)
	if !op.Ended.IsZero() {
		text += ", ended " + progress.DayText(f.s, op.Ended)
	}
	out := append(seenOne("step", text), core.Evidence{Of: "it says", Says: wording.OneLine(op.Text, saysMost)})
	for _, it := range op.Items {
		if it.State == core.OperationFailed || it.State == core.OperationUnknown {
			out = append(out, core.Evidence{Of: wording.OneLine(it.Label, 64),
				Says: string(it.State) + wording.Because(wording.OneLine(it.Text, saysMost))})
		}
	}
	return out
}

func seenWriting(f *facts, _ core.Attention) []core.Evidence {
	return append(seenOne("lost by", wording.OneLine(f.s.Write.Lost, saysMost)),
		core.Evidence{Of: "the lease", Says: wording.TextOf(wording.OneLine(f.s.Write.Lease, 100), "nobody held it when last seen")})
}

// seenDeployments are the OpenStackDeployments, or their statuses.
func seenDeployments(f *facts, _ core.Attention) []core.Evidence {
	says := "none in the namespace " + core.NamespaceOpenStack
	var seen []string
	for _, d := range f.s.Deployments {
		seen = append(seen, wording.OneLine(d.Name, 60)+" "+madeText(d.Created))
	}
	of := "OpenStackDeployments"
	if len(seen) == 0 {
		for _, o := range f.s.OpenStack {
			seen = append(seen, wording.OneLine(o.Name, 60)+" "+madeText(o.Created))
		}
		if len(seen) > 0 {
			of = "their statuses"
		}
	}
	if len(seen) > 0 {
		says = wording.Some(seen, 6)
	}
	return seenOne(of, says)
}

// madeText says when an object was created: of two deployments the older one is usually OpenStack.
func madeText(created time.Time) string {
	if created.IsZero() {
		return "(its age is not known)"
	}
	return "(made " + created.Local().Format("2006-01-02 15:04") + ")"
}
