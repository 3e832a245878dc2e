package progress

import (
	"lockstep/core"
	"lockstep/core/wording"
)

// KubectlOpenStack is a command in OpenStack's namespace.
func KubectlOpenStack(args ...string) string {
	return wording.ShellCommand(append([]string{"kubectl", "-n", core.NamespaceOpenStack}, args...)...)
}
