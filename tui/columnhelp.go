package tui

import (
	"strings"

	"lockstep/core"
	"lockstep/themes"
	"lockstep/tui/draw"
)

// columnWords say what the columns of a pane hold, by their titles. The locks of the nodes have a title that depends on the controllers.
var columnWords = map[Scope][]struct{ title, text string }{
	ScopeNeeds: {{"for", "since when it needs you"}},
	ScopeNodes: {
		{"node", "the machine's name where it is known, else the node's"},
		{"role", "mst Kubernetes master, ctl OpenStack controller, cmp compute, gtw gateway, osd Ceph storage"},
		{"zone", "availability zone of its nova-compute, where there are several"},
		{"rack", "what a label of the node says, whose key has the word rack, where there are several"},
		{"stage", "where it stands in its maintenance"},
		{"for", "since when it is in this stage; > at least so long"},
		{"ready", "whether the kubelet is Ready, and the node not cordoned"},
		{"mode", "instance_migration_mode: live, manual or skip; in brackets where nobody goes by it"},
		{"tries", "instance_migration_attempts: how often the OpenStack controller tries to move an instance"},
		{"inst", "instances on its host; ? not known"},
		{"what", "what happens there now"},
	},
	ScopeInstances: {
		{"name", "the instance's name in Nova"},
		{"id", "the beginning of its UUID; i shows all of it"},
		{"project", "the Keystone project that it belongs to"},
		{"status", "Nova's status"},
		{"task", "Nova's task_state: what Nova does with it now"},
		{"power", "the guest's power as the hypervisor has it"},
		{"flavor", "its size"},
		{"action", "what becomes of it in a maintenance, by its own tag, by two tags that cancel each other, or by its node's mode"},
		{"blocks", "whether it holds the lock of its node"},
		{"migration", "how its migration goes, else why it is in the way or not"},
	},
	ScopeLocks: {
		{"of", "the node, or the cluster"},
		{"controller", "the application controller that owns the lock"},
		{"state", "active: LCM must wait; inactive: it may go on; failed: it stops"},
		{"inner", "annotation inner_state: active while the OpenStack controller works on the node or cluster"},
		{"release", "the release that the lock is at"},
		{"for", "the age of the lock's text, else of its state; > at least so long"},
		{"says", "what its text means, or how far it is"},
	},
	ScopeLog: {
		{"at", "when it began"},
		{"state", "how it goes, or went"},
		{"what", "what Lockstep did, each item of a batch below it"},
		{"took", "how long it took, or takes"},
	},
}

// abbreviations are the words that the screen shortens; the first four are kinds of objects.
var abbreviations = []struct{ short, long string }{
	{"CMR", "ClusterMaintenanceRequest: LCM asks all application controllers for the cluster"},
	{"NMR", "NodeMaintenanceRequest: LCM asks them for one node"},
	{"CWL", "ClusterWorkloadLock: a controller's answer for the cluster"},
	{"NWL", "NodeWorkloadLock: a controller's answer for one node"},
	{"LCM", "Container Cloud's lifecycle management: it updates Kubernetes and the hosts"},
	{"AZ", "availability zone"},
}

// lockTitles are the two letters of each controller in the nodes' column of locks, with its name.
func lockTitles(controllers []string) string {
	parts := make([]string, len(controllers))
	for i, c := range controllers {
		parts[i] = shortController(c) + " " + c
	}
	return strings.Join(parts, ", ")
}

// columnLines say what the columns of a pane hold; none for other places.
func columnLines(m *Model, s Scope, w int) []draw.Line {
	words := columnWords[s]
	if len(words) == 0 {
		return nil
	}
	out := []draw.Line{{}, draw.One(themes.Strong, "columns of "+string(s))}
	for _, c := range words {
		if s == ScopeNodes && c.title == "inst" && len(m.nodes.controllers) > 0 {
			titles := make([]string, len(m.nodes.controllers))
			for i, name := range m.nodes.controllers {
				titles[i] = shortController(name)
			}
			text := "the node's locks, one for each application controller: " + lockTitles(m.nodes.controllers)
			out = append(out, helpRow(draw.One(themes.Key, strings.Join(titles, " ")), themes.Text, text, w)...)
		}
		out = append(out, helpRow(draw.One(themes.Key, c.title), themes.Text, c.text, w)...)
	}
	return out
}

// shortLines say what the abbreviations stand for.
func shortLines(w int) []draw.Line {
	out := []draw.Line{draw.One(themes.Strong, "short for")}
	for _, a := range abbreviations {
		out = append(out, helpRow(draw.One(themes.Key, a.short), themes.Text, a.long, w)...)
	}
	return out
}

// shortFor says what the abbreviations in a text stand for: "NMR NodeMaintenanceRequest"; empty when there is none.
func shortFor(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return r < 'A' || r > 'Z' })
	var parts []string
	for _, a := range abbreviations[:4] {
		for _, w := range words {
			if w == a.short {
				long, _, _ := strings.Cut(a.long, ":")
				parts = append(parts, a.short+" "+long)
				break
			}
		}
	}
	return strings.Join(parts, ", ")
}

// lockLegend says what the marks in the nodes' column of locks are; empty without locks.
func lockLegend(m *Model) string {
	if len(m.nodes.controllers) == 0 {
		return ""
	}
	g := m.look.Glyph
	active, inactive := lockMark(g, core.LockActive).glyph, lockMark(g, core.LockInactive).glyph
	return "Locks: " + lockTitles(m.nodes.controllers) + ". " + active + " active: LCM waits, " + inactive + " inactive: it may go on"
}
