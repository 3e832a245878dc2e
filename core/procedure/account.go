package procedure

import (
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
)

// account is what the OpenStack controller does with what is asked of the node, for its page. Where Lockstep plays it, that it was
// through with it is worth a word too.
func (b *nodeSteps) account() []string {
	s, name, a := b.s, b.v.Name, progress.NodeAccount(b.s, b.v.Name)
	played := progress.PlaysOn(s, core.ControllerOpenStack, name)
	text := progress.AccountLine(s, a, name, b.message)
	switch {
	case text == "" || a.State == progress.AccountHandled && !played:
		return nil
	case played:
	case strings.HasSuffix(b.v.Reason, text), a.Fails() && strings.Contains(b.v.Reason, progress.AccountText(s, a, !a.OnLock(b.message))):
		return nil // the first line says it
	}
	return []string{progress.ControllerName(s, name) + " " + text}
}
