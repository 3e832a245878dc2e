package tui

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/progress"
	"lockstep/themes"
)

func nodeFacts(m *Model, f *facts, name string) {
	v, ok := progress.NodeView(m.snap, name)
	if !ok {
		f.tone(themes.Warn, "gone", "the node is no longer there")
		return
	}
	now := m.snap.Now
	k := nodeMark(m.look.Glyph, m.snap, v)
	noteFacts(m, f, m.snap.NotesAt(func(n core.Note) bool { return n.On.Node == name || m.entryAt(n.On.Entry, name) }))
	f.section("Maintenance")
	f.tone(k.tone, "stage", string(v.Stage))
	f.add("for", sinceText(v.Since, now))
	f.add("because", named(m.snap, v.Reason))
	f.add("what happens", v.What)
	modeFacts(f, v)
	for _, p := range v.Problems {
		f.tone(themes.Warn, "mind", p)
	}
	if r := v.Request; r != nil {
		scope := "scope " + string(r.Scope)
		if r.Scope == "" {
			scope = "without a scope"
		}
		f.add("request", r.Name+", "+scope+", made "+stamp(r.Created, now))
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
	} else if v.Node == nil || v.Node.Is(core.RoleCompute) {
		f.tone(themes.Warn, "instances", m.look.Glyph.Unknown+" (not known)")
	}
	machineFacts(m, f, name)
	accountFacts(m, f, progress.NodeAccount(m.snap, name), name)
	if len(v.Locks) > 0 {
		f.section("Locks")
		for _, l := range v.Locks {
			lm := lockMark(m.look.Glyph, l.State())
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
			if !a.AdminUp {
				state += ", admin state down"
			}
			if last := m.snap.LastHeard(a); !last.IsZero() {
				state += ", heartbeat " + stamp(last, now)
			}
			f.tone(tone, a.Type, state)
			f.add("", served(a))
		}
	}
	if p := m.snap.Pods[name]; p != nil {
		f.section("Pods")
		f.add("all", fmt.Sprintf("%d, %d of them a drain has to move", p.Total, p.Evictable))
		f.tone(themes.Warn, "not ready", podsText(p.NotReady))
		for i := range p.Ended {
			f.tone(themes.Warn, "ended", p.Ended[i].FullName()+": "+progress.EndedPodText(m.snap, &p.Ended[i]))
		}
	}
	if n := v.Node; n != nil {
		f.section("Node")
		roles := make([]string, len(n.Roles))
		for i, r := range n.Roles {
			roles[i] = m.snap.RoleLabelText(r)
		}
		f.add("roles", strings.Join(roles, ", "))
		f.add("role labels", m.snap.RoleLabelsText())
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

// modeFacts are the node's migration mode and attempts. A node that is not a compute has none, unless somebody has set them.
func modeFacts(f *facts, v *core.NodeView) {
	compute := v.Node == nil || v.Node.Is(core.RoleCompute)
	mode := string(v.Mode)
	switch {
	case !v.ModeSet && !compute:
		mode = ""
	case !v.ModeSet:
		mode += " (not set: the default)"
	case !v.ModeCounts:
		mode += " (decides nothing: the OpenStack controller looks at the modes of computes only)"
	case !v.Mode.Known():
		mode += " (Rockoon does not know this value: its handler fails)"
	}
	f.add("migration mode", mode)
	attempts := fmt.Sprint(v.Attempts)
	switch {
	case v.AttemptsRaw == "" && !compute:
		attempts = ""
	case v.AttemptsRaw == "":
		attempts += " (not set: the default)"
	case v.AttemptsRaw != attempts:
		attempts += " (the annotation says " + v.AttemptsRaw + ")"
	}
	f.add("attempts", attempts)
}

// served is what an L3 or DHCP agent serves; empty where nobody asked.
func served(a *core.NetworkAgent) string {
	if a.Load == nil {
		return ""
	}
	if a.Load.Err != "" {
		return "what it serves is not known: " + a.Load.Err
	}
	var names []string
	for _, r := range a.Load.Routers {
		name := r.Name
		if r.HA {
			name += " (HA)"
		}
		names = append(names, "router "+name)
	}
	for _, n := range a.Load.Networks {
		names = append(names, "network "+n.Name)
	}
	if len(names) == 0 {
		return "serves nothing"
	}
	return strings.Join(names, ", ")
}

func instanceFacts(m *Model, f *facts, id string) {
	v, ok := progress.InstanceView(m.snap, id)
	if !ok || v.Instance == nil {
		f.tone(themes.Warn, "gone", "the instance is no longer in Nova's list")
		return
	}
	now := m.snap.Now
	i := v.Instance
	noteFacts(m, f, m.snap.NotesAt(func(n core.Note) bool {
		a, ok := attention.Listed(m.snap, n.On.Entry)
		return n.On.Instance == id || ok && a.Instance == id
	}))
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
	f.add("flavor", i.Flavor().Name+", "+strings.TrimSpace(flavorText(i.Flavor()))+fmt.Sprintf(", %d GiB disk", i.Flavor().DiskGiB))
	specs := make([]string, 0, len(i.Flavor().ExtraSpecs))
	for k, val := range i.Flavor().ExtraSpecs {
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
		f.add("from, to", m.snap.Label(mig.SourceHost)+" "+m.look.Glyph.Arrow+" "+orNothing(m.snap.Label(mig.DestHost)))
		if n := mig.Percent(); n >= 0 {
			f.add("copied", fmt.Sprintf("%d %%", n))
		}
		f.add("began", stamp(mig.Created, now))
		f.add("updated", stamp(mig.Updated, now))
		f.tone(themes.Bad, "failure", mig.Failure)
	}
}

// podsText are the pods' names with their namespaces.
func podsText(pods []core.PodName) string {
	names := make([]string, len(pods))
	for i, p := range pods {
		names[i] = p.String()
	}
	return strings.Join(names, ", ")
}
