package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lockstep/cli/session"
	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/progress"
	"lockstep/kube"
	"lockstep/nova"
)

// completionPatience is how long the names of a live cluster may take: a person waits for them in their shell.
const completionPatience = 2 * time.Second

// fromCluster completes names that only the cluster knows. Where it does not answer in time, or a login would ask a person, nothing is
// completed, and nothing is said: a shell has no place for it. Nothing is written. It waits for the sources on which the names rest, and
// for no other: whoever names a node does not wait for OpenStack.
func fromCluster(p *options, rest func(core.SourceID) bool, names func(*core.Snapshot) []cobra.Completion) cobra.CompletionFunc {
	return func(cmd *cobra.Command, given []string, part string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx := cmd.Context()
		if ctx == nil {
			ctx = context.Background()
		}
		at := *p
		at.Stderr, at.Unasked = nil, true
		if !rest(core.SourceInstances) { // each try would send the password: an account is locked after a few that are wrong
			at.NoCloud = "no name that is completed rests on it"
		}
		var found []cobra.Completion
		_ = glance(ctx, at, patience{completionPatience, true}, func(s *session.Session, _ options, left time.Duration) error {
			found = names(lookAt(ctx, s.Engine, left, rest))
			return nil
		})
		return fitting(found, given, part), cobra.ShellCompDirectiveNoFileComp
	}
}

// nodesRest tells whether the nodes, their names and their stages rest on the source.
func nodesRest(id core.SourceID) bool {
	return id.Server() != core.ServerOpenStack && id != core.SourceAlertmanager
}

// instancesRest tells whether the instances and the names of their hosts rest on the source.
func instancesRest(id core.SourceID) bool { return nodesRest(id) || id == core.SourceInstances }

// fitting are the completions that go on from part, each once, without those that are given already and those that a shell would read as
// something else than a word.
func fitting(all []cobra.Completion, given []string, part string) []cobra.Completion {
	var out []cobra.Completion
	seen := map[string]bool{}
	for _, c := range all {
		word, about, _ := strings.Cut(c, "\t")
		if seen[word] || !plainWord(word) || slices.Contains(given, word) || !strings.HasPrefix(word, part) {
			continue
		}
		seen[word] = true
		out = append(out, cobra.CompletionWithDesc(word, oneLine(about)))
	}
	slices.Sort(out)
	return out
}

// plainWord tells whether every shell takes the text as one word, as it stands.
func plainWord(text string) bool {
	odd := func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.:/@%+,=", r)
	}
	return text != "" && text[0] != '-' && text[0] != '=' && !strings.ContainsFunc(text, odd)
}

// nodeWords are the nodes, as people call them.
func nodeWords(s *core.Snapshot) []cobra.Completion {
	var out []cobra.Completion
	for _, name := range s.NodeNames() {
		out = append(out, cobra.CompletionWithDesc(s.Label(name), string(progress.ViewOf(s, name).Stage)))
	}
	return out
}

// computeWords are the nodes with instances, as people call them.
func computeWords(s *core.Snapshot) []cobra.Completion {
	var out []cobra.Completion
	for _, name := range s.NodeNames() {
		if n := s.Nodes[name]; n != nil && n.Is(core.RoleCompute) {
			out = append(out, s.Label(name))
		}
	}
	return out
}

// instanceWords are the instances by name; by their ID where several have the name, or a shell would not take it as one word.
func instanceWords(s *core.Snapshot) []cobra.Completion {
	count := map[string]int{}
	for _, host := range s.ByHost {
		for _, in := range host {
			count[in.Name]++
		}
	}
	var out []cobra.Completion
	for _, host := range s.ByHost {
		for _, in := range host {
			where := in.Status
			if in.Host != "" { // one that is shelved has none
				where = fmt.Sprintf("on %s, %s", hostLabel(s, in.Host), in.Status)
			}
			if count[in.Name] == 1 && plainWord(in.Name) {
				out = append(out, cobra.CompletionWithDesc(in.Name, where))
			} else {
				out = append(out, cobra.CompletionWithDesc(in.ID, in.Name+" "+where))
			}
		}
	}
	return out
}

// hostLabel is what people call the node of a compute host.
func hostLabel(s *core.Snapshot, host string) string {
	if n := s.NodeOfHost(host); n != nil {
		return s.Label(n.Name)
	}
	return host
}

// entryWords are the entries of "Needs you" by their IDs.
func entryWords(s *core.Snapshot) []cobra.Completion {
	var out []cobra.Completion
	for _, a := range attention.List(s) {
		out = append(out, cobra.CompletionWithDesc(a.ID, a.Label+": "+a.Reason))
	}
	return out
}

// contextWords completes the contexts of a kubeconfig: of the file that a flag names, else of the usual ones.
func contextWords(file func() string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, part string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return fitting(kube.Contexts(file()), nil, part), cobra.ShellCompDirectiveNoFileComp
	}
}

// cloudWords completes the names of clouds.yaml.
func cloudWords(_ *cobra.Command, _ []string, part string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return fitting(nova.CloudNames(), nil, part), cobra.ShellCompDirectiveNoFileComp
}
