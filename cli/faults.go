package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"lockstep/sim/fault"
	"lockstep/sim/scenario"
)

// parseFaults reads the values of --fault; its error names everything that is wrong with them.
func parseFaults(texts []string) ([]fault.Setting, error) {
	var all []fault.Setting
	var wrong []error
	for _, text := range texts {
		s, err := fault.Parse(text)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("--%w", err))
			continue
		}
		all = append(all, s)
	}
	return all, errors.Join(wrong...)
}

// listFaults prints the catalogue of faults.
func listFaults(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "FAULT\tWHAT\tSERVERS\tPARAMETERS")
	for _, k := range fault.Catalogue() {
		servers := make([]string, len(k.Servers))
		for i, s := range k.Servers {
			servers[i] = string(s)
		}
		id := k.ID
		if k.Value != "" {
			id += "=" + strings.ToUpper(k.Value)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", id, k.Title, everyServer(servers), orNone(k.Standard(k.Servers[0]).Details()))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nServers: %s.\n", strings.Join(everyServerName(), ", "))
	fmt.Fprint(out, `
Each fault takes further parameters: of=reads|writes|watches, resource=NODES (Kubernetes), path=/PART (OpenStack), rate=0.2,
count=10, for=10m (the cloud's clock), for-real=10s (your clock), everyone (it hits the cloud's own controllers, too). Examples:

  lockstep demo --fault kubernetes:429,retry-after=30
  lockstep demo --fault compute:latency=2s,rate=0.5 --fault kubernetes:watches-silent

`)
	for _, k := range fault.Catalogue() {
		fmt.Fprintf(out, "%-14s  %s\n%14s  You should see: %s\n", k.ID, k.Does, "", lowerFirst(k.Sees))
	}
	return nil
}

func everyServerName() []string {
	var names []string
	for _, s := range fault.Servers() {
		names = append(names, string(s))
	}
	return names
}

func everyServer(names []string) string {
	if len(names) == len(fault.Servers()) {
		return "all"
	}
	return strings.Join(names, ", ")
}

func orNone(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// completeSimFlags lets the shell complete scenarios and faults.
func completeSimFlags(cmd *cobra.Command) {
	complete := func(flag string, f func(typed string) ([]string, cobra.ShellCompDirective)) {
		// It fails only for an unknown flag, or for one that has a completion already.
		_ = cmd.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
			return f(typed)
		})
	}
	complete("scenario", func(string) ([]string, cobra.ShellCompDirective) {
		return scenario.List(), cobra.ShellCompDirectiveDefault
	})
	complete("fault", completeFault)
}

// completeFault completes the server, the fault and its parameters.
func completeFault(typed string) ([]string, cobra.ShellCompDirective) {
	server, rest, named := strings.Cut(typed, ":")
	var out []string
	add := func(text, note string) {
		if strings.HasPrefix(text, typed) {
			out = append(out, cobra.CompletionWithDesc(text, note))
		}
	}
	const more = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	if !named {
		for _, s := range fault.Servers() {
			add(string(s)+":", s.Name())
		}
		return out, more
	}
	begun := strings.LastIndex(rest, ",")
	if begun < 0 {
		for _, k := range fault.Catalogue() {
			if k.Has(fault.Server(server)) {
				add(server+":"+k.ID, k.Title)
			}
		}
		return out, more
	}
	id, _, _ := strings.Cut(rest, ",")
	id, _, _ = strings.Cut(id, "=")
	kind, _ := fault.Find(id)
	names, notes := kind.Parameters(fault.Server(server))
	for i, name := range names {
		if name != "everyone" {
			name += "="
		}
		add(server+":"+rest[:begun+1]+name, notes[i])
	}
	return out, more
}
