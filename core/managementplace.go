package core

import "lockstep/core/wording"

// ManagementPlace says which management cluster is connected, and which of its clusters this one is.
type ManagementPlace struct {
	Kubeconfig string // file, for the commands that are shown; empty: the shell's
	Context    string // of the kubeconfig; empty: the current one
	Namespace  string // the project; empty: found by the nodes
	Cluster    string // name of the Cluster object; empty: found by the nodes
}

// Kubectl is a command of kubectl on the management cluster.
func (p ManagementPlace) Kubectl(words ...string) string {
	command := []string{"kubectl"}
	if p.Kubeconfig != "" {
		command = append(command, "--kubeconfig", p.Kubeconfig)
	}
	if p.Context != "" {
		command = append(command, "--context", p.Context)
	}
	return wording.ShellCommand(append(command, words...)...)
}

// KubectlManagement is a command of kubectl in the cluster's project on the management cluster.
func (s *Snapshot) KubectlManagement(words ...string) string {
	if s.Management != nil && s.Management.Namespace != "" {
		words = append([]string{"-n", s.Management.Namespace}, words...)
	}
	return s.Place.Kubectl(words...)
}
