package tui

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	tea "charm.land/bubbletea/v2"

	"lockstep/core"
	"lockstep/themes"
)

// facts collects what is known of an object, section by section.
type facts struct {
	w     int
	lines []line
}

const factLabel = 22

func (f *facts) section(title string) {
	if len(f.lines) > 0 {
		f.lines = append(f.lines, line{})
	}
	f.lines = append(f.lines, one(themes.Strong, title))
}

// add is one fact; an empty one is left out.
func (f *facts) add(label, value string) { f.tone(themes.Text, label, value) }

func (f *facts) tone(tone themes.Token, label, value string) {
	if value == "" {
		return
	}
	for _, part := range cleanLines(value, detailLimit) {
		for _, s := range wrap(part, max(f.w-factLabel-1, 12)) {
			f.lines = append(f.lines, append(append(line{blank(1)}, one(themes.Dim, label).fit(factLabel, false)...), txt(tone, s)))
			label = ""
		}
	}
	if len(value) > detailLimit {
		f.lines = append(f.lines, line{blank(factLabel + 1), txt(themes.Warn, fmt.Sprintf("cut: %d bytes in all", len(value)))})
	}
}

// inspect shows everything that is known of what is selected.
func (m *Model) inspect() tea.Cmd {
	id := m.focus
	s := m.panes[id].subject(m)
	var title string
	var lines func(m *Model, f *facts)
	switch {
	case id == paneNeeds && s.attention != nil:
		a := *s.attention
		title = a.Label
		lines = func(m *Model, f *facts) { attentionFacts(m, f, a) }
	case id == panePhases:
		title = "The cluster update"
		lines = phaseFacts
	case s.operation != nil:
		key := s.operation.ID
		title = s.operation.Title
		lines = func(m *Model, f *facts) { operationFacts(m, f, key) }
	case s.lock != nil:
		kind, name := s.lock.Kind, s.lock.Name
		last := s.lock
		title = string(kind) + " " + name
		lines = func(m *Model, f *facts) {
			if now := findLock(m.snap, kind, name); now != nil {
				last = now
			} else {
				f.tone(themes.Warn, "gone", "this is how it was last seen")
			}
			lockFacts(m, f, last)
		}
	case s.instance != "":
		key := s.instance
		title = "Instance " + m.panes[id].selectedName()
		lines = func(m *Model, f *facts) { instanceFacts(m, f, key) }
	case s.node != "":
		key := s.node
		title = "Node " + m.snap.Label(key)
		lines = func(m *Model, f *facts) { nodeFacts(m, f, key) }
	default:
		entry := m.panes[id].text()
		title = m.panes[id].name(m)
		lines = func(_ *Model, f *facts) {
			for _, l := range entry {
				f.add("", strings.TrimSpace(l))
			}
		}
	}
	m.open(&pager{
		title: func(*Model) string { return title },
		lines: func(m *Model, w int) []line {
			f := &facts{w: w}
			lines(m, f)
			return f.lines
		},
	})
	return nil
}

func attentionFacts(m *Model, f *facts, a core.Attention) {
	for _, now := range m.snap.Attention() {
		if now.ID == a.ID {
			a = now
		}
	}
	f.add("what", a.Subject.String())
	f.tone(severityMark(m.look.glyph, a.Severity).tone, "how urgent", a.Severity.String())
	f.add("why", a.Reason)
	f.add("more", a.Detail)
	f.add("for", sinceText(a.Since, m.snap.Now))
	f.tone(themes.Key, "what to do", hint(a))
	if a.Subject.Kind == core.KindSource {
		if src, ok := m.snap.Sources[core.SourceID(a.Subject.Name)]; ok {
			f.section("Source")
			f.lines = append(f.lines, troubleLines(m, &src, f.w)...)
		}
	}
}

func phaseFacts(m *Model, f *facts) {
	for _, p := range m.snap.Phases() {
		f.section(fmt.Sprintf("%d %s", p.ID, p.Title))
		f.tone(phaseMark(m.look.glyph, p.State).tone, "state", string(p.State))
		if !p.Started.At.IsZero() {
			f.add("began", stamp(p.Started.At, m.snap.Now))
			f.add("took", age(p.Elapsed(m.snap.Now)))
		}
		if p.Total > 0 {
			f.add("through", fmt.Sprintf("%d of %d", p.Done, p.Total))
		}
		for _, l := range p.Lines {
			text := l.Text
			if l.Limit > 0 {
				text += ", at most " + age(l.Limit) + " by the documents"
			}
			f.add(l.Label, text)
		}
		for _, e := range p.Evidence {
			f.add("because", e)
		}
	}
	managementFacts(m, f)
	for _, st := range m.snap.OpenStack {
		f.section("OpenStackDeploymentStatus " + st.Name)
		f.add("state", st.State)
		f.add("OpenStack", st.OpenStackVersion)
		f.add("controller", st.ControllerVersion)
		f.add("release", st.Release)
		f.add("health", st.Health)
		f.add("progress", st.LCMProgress)
		f.add("cause", st.Cause)
		f.tone(themes.Warn, "not healthy", strings.Join(st.Unhealthy, ", "))
		for _, svc := range st.Services {
			f.add(svc.Name, strings.TrimSpace(svc.State+" "+svc.Release))
		}
	}
	if d := m.snap.Controller; d != nil {
		f.section("Rockoon")
		f.add("ready", fmt.Sprintf("%d of %d", d.Ready, d.Replicas))
		f.add("image", d.Image)
	}
}

func operationFacts(m *Model, f *facts, id string) {
	for _, op := range m.snap.Operations {
		if op.ID != id {
			continue
		}
		f.tone(operationMark(m.look.glyph, op.State).tone, "state", string(op.State))
		f.add("began", stamp(op.Started, m.snap.Now))
		if !op.Ended.IsZero() {
			f.add("ended", stamp(op.Ended, m.snap.Now))
		}
		f.add("took", took(op.Started, op.Ended, m.snap.Now))
		f.add("says", named(m.snap, op.Text))
		f.add("id", op.ID)
		for _, it := range op.Items {
			f.section(it.Label)
			f.tone(operationMark(m.look.glyph, it.State).tone, "state", string(it.State))
			f.add("instance", it.Instance)
			f.add("took", took(it.Started, it.Ended, m.snap.Now))
			f.add("says", named(m.snap, it.Text))
		}
		return
	}
	f.tone(themes.Warn, "gone", "it is no longer known")
}

func findLock(s *core.Snapshot, kind core.Kind, name string) *core.WorkloadLock {
	for _, l := range s.ClusterLocks {
		if l.Kind == kind && l.Name == name {
			return l
		}
	}
	for _, locks := range s.NodeLocks {
		for _, l := range locks {
			if l.Kind == kind && l.Name == name {
				return l
			}
		}
	}
	return nil
}

func lockFacts(m *Model, f *facts, l *core.WorkloadLock) {
	now := m.snap.Now
	f.add("controller", l.Controller)
	if l.Node != "" {
		f.add("node", m.snap.Label(l.Node)+orDifferent(" (", l.Node, ")", m.snap.Label(l.Node)))
	}
	state := string(l.State())
	if l.RawState == "" {
		state += " (it has no status: that counts as active)"
	}
	f.tone(lockMark(m.look.glyph, l.State()).tone, "state", state)
	if r, ok := m.snap.History.Locks[l.UID]; ok {
		f.add("since", stamp(r.Since.At, now))
	}
	f.add("inner state", l.InnerState)
	f.add("release", l.Release)
	if l.Progress != nil {
		f.add("progress", fmt.Sprintf("%d %%, %s", l.Progress.Percentage, l.Progress.Description))
	}
	if l.Message != "" {
		msg := m.readMessage(l)
		word, tone := messageWord(msg.Class)
		f.section("What it says")
		f.add("text", named(m.snap, l.Message))
		if msg.Name != "" {
			f.tone(themes.Strong, "situation", msg.Name+orDifferent(" (text ", msg.ID, ")", ""))
		}
		if msg.Meaning != "" {
			f.tone(tone, "means", strings.TrimSpace(word+" "+msg.Meaning))
		} else if msg.Class == core.MessageUnknown {
			f.tone(tone, "means", "no document lists this text: it says what it says")
		}
		f.add("Lockstep sees", m.snap.Seen(l, msg))
		f.tone(themes.Key, "what to do", msg.Remedy)
		if !msg.At.IsZero() {
			f.add("said", stamp(msg.At, now))
		}
		for _, id := range msg.Instances {
			name := "not known to Nova's list"
			if inst := m.snap.Instances[id]; inst != nil {
				name = instanceName(inst) + " on " + m.snap.Label(inst.Host) + ", " + inst.Status
			}
			f.add(id, name)
		}
		f.add("raw", l.Message)
	}
	if ask := m.snap.AskAbout(l); ask != "" {
		f.section("Whom to ask")
		f.tone(themes.Key, "", ask)
	}
	metaFacts(m, f, l.Meta)
}

func orDifferent(before, s, after, other string) string {
	if s == other {
		return ""
	}
	return before + s + after
}

func metaFacts(m *Model, f *facts, meta core.Meta) {
	f.section("Object")
	f.add("name", meta.Name)
	f.add("namespace", meta.Namespace)
	f.add("uid", meta.UID)
	f.add("resource version", meta.ResourceVersion)
	f.add("created", stamp(meta.Created, m.snap.Now))
	if !meta.Deleting.IsZero() {
		f.tone(themes.Warn, "being removed since", stamp(meta.Deleting, m.snap.Now))
	}
	f.add("finalizers", strings.Join(meta.Finalizers, ", "))
}

func nodeFacts(m *Model, f *facts, name string) {
	v, ok := m.snap.NodeView(name)
	if !ok {
		f.tone(themes.Warn, "gone", "the node is no longer there")
		return
	}
	now := m.snap.Now
	k := stageMark(m.look.glyph, v.Stage)
	f.section("Maintenance")
	f.tone(k.tone, "stage", string(v.Stage))
	f.add("for", sinceText(v.Since, now))
	f.add("because", named(m.snap, v.Reason))
	f.add("what happens", v.What)
	mode := string(v.Mode)
	if !v.ModeSet {
		mode += " (not set: the default)"
	} else if !v.Mode.Known() {
		mode += " (Rockoon does not know this value: its handler fails)"
	}
	f.add("migration mode", mode)
	attempts := fmt.Sprint(v.Attempts)
	if v.AttemptsRaw == "" {
		attempts += " (not set: the default)"
	} else if v.AttemptsRaw != attempts {
		attempts += " (the annotation says " + v.AttemptsRaw + ")"
	}
	f.add("attempts", attempts)
	for _, p := range v.Problems {
		f.tone(themes.Warn, "mind", p)
	}
	if r := v.Request; r != nil {
		f.add("request", r.Name+", scope "+string(r.Scope)+", made "+stamp(r.Created, now))
		if !r.Deleting.IsZero() {
			f.add("", "being removed since "+stamp(r.Deleting, now))
		}
	}
	if n := m.snap.Deletions[name]; n != nil {
		f.tone(themes.Warn, "to be deleted", n.Name+", "+stamp(n.Created, now))
	}
	if n := m.snap.Disablings[name]; n != nil {
		f.tone(themes.Warn, "to be disabled", n.Name+", "+stamp(n.Created, now))
	}
	if v.Instances >= 0 {
		f.add("instances", fmt.Sprintf("%d, of which %d block, %d moving", v.Instances, max(v.Blocking, 0), v.Moving))
	}
	machineFacts(m, f, name)
	if len(v.Locks) > 0 {
		f.section("Locks")
		for _, l := range v.Locks {
			lm := lockMark(m.look.glyph, l.State())
			f.tone(lm.tone, l.Controller, strings.TrimSpace(string(l.State())+"  "+l.Release+"  "+named(m.snap, l.Message)))
		}
	}
	if s := v.Service; s != nil {
		f.section("nova-compute")
		state := "enabled"
		if !s.Enabled {
			state = "disabled: " + s.DisabledReason
		}
		up := "up"
		if !s.Up {
			up = "down"
		}
		f.add("state", state+", "+up)
		if s.ForcedDown {
			f.tone(themes.Warn, "forced down", "yes")
		}
		f.add("host", s.Host)
		f.add("zone", s.Zone)
		f.add("id", s.ID)
	}
	volumeFacts(m, f, name)
	if agents := m.snap.Agents[m.snap.HostOf(name)]; len(agents) > 0 {
		f.section("Network agents")
		for _, a := range agents {
			state, tone := "alive", themes.Text
			if !a.Alive {
				state, tone = "down", themes.Bad
			}
			f.tone(tone, a.Type, state+", heartbeat "+stamp(a.Heartbeat, now))
		}
	}
	if p := m.snap.Pods[name]; p != nil {
		f.section("Pods")
		f.add("all", fmt.Sprintf("%d, %d of them a drain has to move", p.Total, p.Evictable))
		f.tone(themes.Warn, "not ready", strings.Join(p.NotReady, ", "))
	}
	if n := v.Node; n != nil {
		f.section("Node")
		roles := make([]string, len(n.Roles))
		for i, r := range n.Roles {
			roles[i] = string(r)
		}
		f.add("roles", strings.Join(roles, ", "))
		f.add("ready", strings.TrimSpace(n.Ready+" "+n.ReadyReason))
		f.add("since", stamp(n.ReadySince, now))
		if n.Cordoned {
			f.add("cordoned", "yes")
		}
		f.add("kubelet", n.KubeletVersion)
		f.add("boot", n.BootID)
		keys := make([]string, 0, len(n.Annotations))
		for key := range n.Annotations {
			keys = append(keys, key)
		}
		sort.Strings(keys)
		for _, key := range keys {
			f.add("annotation", key+"="+n.Annotations[key])
		}
		metaFacts(m, f, n.Meta)
	}
}

func instanceFacts(m *Model, f *facts, id string) {
	v, ok := m.snap.InstanceView(id)
	if !ok || v.Instance == nil {
		f.tone(themes.Warn, "gone", "the instance is no longer in Nova's list")
		return
	}
	now := m.snap.Now
	i := v.Instance
	f.section("Maintenance")
	f.add("action", string(v.Action)+" (from "+string(v.Origin)+")")
	blocks, tone := "no", themes.Text
	if v.Blocks {
		blocks, tone = "yes", themes.Needs
	}
	f.tone(tone, "blocks the lock", blocks)
	f.add("why", v.Why)
	if v.Failures > 0 {
		f.tone(themes.Bad, "migration failed", times(v.Failures)+reasonAfter(v.Failure))
	}
	f.section("Instance")
	f.add("name", i.Name)
	f.add("id", i.ID)
	f.add("status", i.Status)
	f.add("vm state", i.VMState)
	f.add("task", i.TaskState)
	f.add("power", i.Power.String())
	f.add("host", m.snap.Label(i.Host)+orDifferent(" (", i.Host, ")", m.snap.Label(i.Host)))
	f.add("zone", i.Zone)
	f.add("project", m.snap.Project(i.ProjectID)+orDifferent(" (", i.ProjectID, ")", m.snap.Project(i.ProjectID)))
	f.add("user", i.UserID)
	f.add("flavor", i.Flavor.Name+", "+strings.TrimSpace(flavorText(i.Flavor))+fmt.Sprintf(", %d GiB disk", i.Flavor.DiskGiB))
	specs := make([]string, 0, len(i.Flavor.ExtraSpecs))
	for k, val := range i.Flavor.ExtraSpecs {
		specs = append(specs, k+"="+val)
	}
	slices.Sort(specs)
	f.add("extra specs", strings.Join(specs, ", "))
	tags := strings.Join(i.Tags, ", ")
	if !i.TagsKnown {
		tags = "not known: the cloud is too old for them"
	}
	f.add("tags", tags)
	if i.Locked {
		f.tone(themes.Warn, "locked", "yes: ask its owner before it is touched")
	}
	f.tone(themes.Bad, "fault", i.Fault)
	f.add("created", stamp(i.Created, now))
	f.add("updated", stamp(i.Updated, now))
	for _, mig := range m.snap.Migrations[id] {
		f.section(fmt.Sprintf("Migration %d", mig.ID))
		f.add("type", mig.Type)
		f.add("status", mig.Status)
		f.add("from, to", m.snap.Label(mig.SourceHost)+" "+m.look.glyph.Arrow+" "+orNothing(m.snap.Label(mig.DestHost)))
		if n := mig.Percent(); n >= 0 {
			f.add("copied", fmt.Sprintf("%d %%", n))
		}
		f.add("began", stamp(mig.Created, now))
		f.add("updated", stamp(mig.Updated, now))
		f.tone(themes.Bad, "failure", mig.Failure)
	}
}
