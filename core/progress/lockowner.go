package progress

import (
	"lockstep/core"
	"lockstep/core/wording"
)

// askText says whom to ask about a lock that is not released, and what to ask. For MOSK's own controllers the lock's text says
// more.
func askText(l *core.WorkloadLock) string {
	name := wording.OneLine(l.Controller, 40)
	who := name + " is not one of MOSK's own controllers: ask who runs it in this cluster"
	switch {
	case l.Foreign() && l.State() == core.LockFailed:
		return who +
			". Ask what failed, to have it mended, and to have the lock asked again (state active). Only with their word is it released by hand " +
			"(state inactive): what it guards is not looked at then. Until one of the two, LCM does not go on."
	case l.Foreign() && l.Message == "" && l.Progress == nil:
		return who + " whether it is at work: it says nothing."
	case l.Foreign():
		return who + " when it lasts."
	case l.State() == core.LockFailed:
		return "Look at the log of " + name + "'s controller: what failed has to be mended there. Until then LCM does not go on."
	}
	return ""
}

// AskCommands show who wrote the lock, and what runs under its controller's name.
func AskCommands(l *core.WorkloadLock) []string {
	if !l.Foreign() || l.Name == "" {
		return nil
	}
	kind := "nodeworkloadlock"
	if l.Kind == core.KindClusterWorkloadLock {
		kind = "clusterworkloadlock"
	}
	return []string{wording.ShellCommand("kubectl", "get", kind, l.Name, "-o", "yaml", "--show-managed-fields"),
		wording.ShellCommand("kubectl", "get", "deployments,daemonsets,statefulsets", "--all-namespaces") + " | " +
			wording.ShellCommand("grep", "-i", "-e", l.Controller)}
}

// AskAbout says whom to ask about the lock, and what to ask, where its text does not say; empty when there is nothing to ask, or
// when Lockstep plays its controller.
func AskAbout(s *core.Snapshot, l *core.WorkloadLock) string {
	if _, played := ActAs(s, l.Controller); played || l.State() == core.LockInactive || !l.Foreign() && l.State() != core.LockFailed {
		return ""
	}
	return askText(l)
}
