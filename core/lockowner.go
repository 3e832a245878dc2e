package core

import "slices"

// mosksOwn are the application controllers that MOSK brings along (docs/mosk.md#locks).
var mosksOwn = []string{ControllerOpenStack, ControllerCeph, ControllerTungstenFabric, ControllerStackLight}

// foreign tells whether the lock belongs to a controller that is none of MOSK's own.
func (l *WorkloadLock) foreign() bool { return !slices.Contains(mosksOwn, l.Controller) }

// askText says whom to ask about a lock that is not released, and what. Of MOSK's own controllers the texts say more.
func askText(l *WorkloadLock) string {
	name := oneLine(l.Controller, 40)
	who := name + " is none of MOSK's own controllers: ask whoever runs it in this cluster"
	switch {
	case l.foreign() && l.State() == LockFailed:
		return who + ". Ask what failed, to have it mended, and to have the lock asked again (state active). Only with their word is it released by hand " +
			"(state inactive): what it guards is not looked at then. Until one of the two, LCM does not go on."
	case l.foreign() && l.Message == "" && l.Progress == nil:
		return who + " whether it is at work: it says nothing."
	case l.foreign():
		return who + " when it lasts."
	case l.State() == LockFailed:
		return "Look at the log of " + name + "'s controller: what failed has to be mended there. Until then LCM does not go on."
	}
	return ""
}

// askCommands show who wrote the lock, and what runs under its controller's name.
func askCommands(l *WorkloadLock) []string {
	if !l.foreign() || l.Name == "" {
		return nil
	}
	kind := "nodeworkloadlock"
	if l.Kind == KindClusterWorkloadLock {
		kind = "clusterworkloadlock"
	}
	return []string{shellCommand("kubectl", "get", kind, l.Name, "-o", "yaml", "--show-managed-fields"),
		shellCommand("kubectl", "get", "deployments,daemonsets,statefulsets", "--all-namespaces") + " | " + shellCommand("grep", "-i", "-e", l.Controller)}
}

// AskAbout is whom to ask about the lock and what, where its text alone does not say; empty when there is nothing to ask, or
// when Lockstep itself plays its controller.
func (s *Snapshot) AskAbout(l *WorkloadLock) string {
	if _, played := s.actAs(l.Controller); played || l.State() == LockInactive || !l.foreign() && l.State() != LockFailed {
		return ""
	}
	return askText(l)
}
