package tui

import (
	"lockstep/core/progress"
	"lockstep/themes"
)

// accountFacts is what the OpenStack controller has noted about its own work on a request for a node, or for the cluster.
func accountFacts(m *Model, f *facts, a progress.Account, node string) {
	now := m.snap.Now
	if a.State == progress.AccountNone {
		return
	}
	f.section("The OpenStack controller's own account")
	tone := themes.Text
	switch a.State {
	case progress.AccountUnseen, progress.AccountGaveUp, progress.AccountStopped:
		tone = themes.Warn
	}
	f.tone(tone, "it", named(m.snap, progress.AccountText(m.snap, a, false)))
	if a.Words == "" && a.Failed == 0 {
		return
	}
	f.tone(themes.Warn, "last words", named(m.snap, a.Words))
	f.add("which means", progress.AccountMeaning(m.snap, a, node))
	f.add("called for", a.Purpose)
	if !a.Started.IsZero() {
		f.add("first try", stamp(a.Started, now))
	}
	if a.Next.IsZero() {
		return
	}
	label := "next try"
	if !a.Next.After(now) {
		label = "this try"
	}
	f.add(label, stamp(a.Next, now))
}
