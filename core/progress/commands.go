package progress

import (
	"lockstep/core"
	"lockstep/core/wording"
)

// KubectlOpenStack is a command in OpenStack's namespace.
func KubectlOpenStack(args ...string) string {
	return wording.ShellCommand(append([]string{"kubectl", "-n", core.NamespaceOpenStack}, args...)...)
}

// ComputePodCommand deletes the pod of nova-compute on the node, so that its DaemonSet makes a new one.
func ComputePodCommand(s *core.Snapshot, node string) string {
	return KubectlOpenStack("delete", "pods", "-l", "application=nova,component=compute", "--field-selector=spec.nodeName="+node)
}
