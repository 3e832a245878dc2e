package core

import (
	"strings"

	"lockstep/core/wording"
)

// ClusterPlace says what a command that is shown must name, so that it reaches this cluster and this cloud from the operator's shell. What
// is empty, the shell has by itself: its kubeconfig and current context, $OS_CLOUD.
type ClusterPlace struct {
	Kubeconfig string // file
	Context    string
	Cloud      string // in clouds.yaml
}

// commandAfter is what stands before a command in a line, or in a sentence that ends with one.
var commandAfter = []string{"| ", "&& ", "; ", ": ", "$("}

// Commands are lines of the shell, or sentences that end with one, whose kubectl and openstack name the place. A command that names one
// itself, as those for the management cluster do, stays as it is.
func (p ClusterPlace) Commands(lines []string) []string {
	if p == (ClusterPlace{}) || len(lines) == 0 {
		return lines
	}
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = p.Command(line)
	}
	return out
}

// Command is one line of Commands.
func (p ClusterPlace) Command(line string) string {
	if p.Kubeconfig != "" || p.Context != "" {
		var words []string
		if p.Kubeconfig != "" {
			words = append(words, "--kubeconfig", p.Kubeconfig)
		}
		if p.Context != "" {
			words = append(words, "--context", p.Context)
		}
		line = withWords(line, "kubectl", words, "--kubeconfig ", "--context ")
	}
	if p.Cloud != "" {
		line = withWords(line, "openstack", []string{"--os-cloud", p.Cloud}, "--os-cloud ")
	}
	return line
}

// Bare is a line of Commands without what p has put into it, for where there is room for a glance only: what the command does counts then.
// Whoever copies it, or sees all of it, gets the whole.
func (p ClusterPlace) Bare(line string) string {
	for _, added := range []string{p.Command("kubectl "), p.Command("openstack ")} {
		program, words, _ := strings.Cut(added, " ")
		if words != "" {
			line = strings.ReplaceAll(line, program+" "+words, program+" ")
		}
	}
	return line
}

// Steps is p in what steps show, alternatives included.
func (p ClusterPlace) Steps(steps []Step) []Step {
	if p == (ClusterPlace{}) {
		return steps
	}
	for i := range steps {
		p.step(&steps[i])
	}
	return steps
}

// Step is p in what a step shows.
func (p ClusterPlace) Step(st Step) Step {
	if p != (ClusterPlace{}) {
		p.step(&st)
	}
	return st
}

func (p ClusterPlace) step(st *Step) {
	st.Commands, st.Undo = p.Commands(st.Commands), p.Command(st.Undo)
	if len(st.Guards) > 0 {
		guards := make([]Guard, len(st.Guards))
		for i, g := range st.Guards {
			g.Remedy = p.Command(g.Remedy)
			guards[i] = g
		}
		st.Guards = guards
	}
	if len(st.Alternatives) > 0 {
		alternatives := make([]Step, len(st.Alternatives))
		for i, a := range st.Alternatives {
			alternatives[i] = p.Step(a)
		}
		st.Alternatives = alternatives
	}
}

// withWords puts words after each program that stands where a command begins, unless it goes on with one of own.
func withWords(line, program string, words []string, own ...string) string {
	if !strings.Contains(line, program+" ") {
		return line
	}
	insert := wording.ShellCommand(words...)
	var b strings.Builder
	for at := 0; ; {
		i := strings.Index(line[at:], program+" ")
		if i < 0 {
			b.WriteString(line[at:])
			return b.String()
		}
		end := at + i + len(program) + 1
		b.WriteString(line[at:end])
		if beginsCommand(line[:at+i]) && !startsWithAny(line[end:], own) {
			b.WriteString(insert)
			b.WriteByte(' ')
		}
		at = end
	}
}

func beginsCommand(before string) bool {
	if before == "" {
		return true
	}
	for _, sign := range commandAfter {
		if strings.HasSuffix(before, sign) {
			return true
		}
	}
	return false
}

func startsWithAny(s string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(s, p) {
			return true
		}
	}
	return false
}
