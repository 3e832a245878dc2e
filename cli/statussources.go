package cli

import (
	"fmt"
	"io"
	"strings"

	"lockstep/core"
	"lockstep/core/attention"
)

// sourceGroup are sources of one server that are not live, in one state and for one reason.
type sourceGroup struct {
	server core.Server
	state  string
	error  string
	ids    []string
}

// printSources prints which sources are not live, each reason once: it does not repeat the reason of an entry above. Sources that
// nobody configured are not a trouble, and get one line at most.
func printSources(w io.Writer, s Status) {
	var groups []*sourceGroup
	for _, src := range s.Sources {
		if src.State == string(core.SourceLive) {
			continue
		}
		server := core.SourceID(src.ID).Server()
		var own *sourceGroup
		for _, g := range groups {
			if g.server == server && g.state == src.State && (g.error == src.Error || src.cause != "" && g.error == src.cause) {
				own = g
			}
		}
		if own == nil {
			own = &sourceGroup{server: server, state: src.State, error: src.Error}
			if src.cause != "" {
				own.error = src.cause
			}
			groups = append(groups, own)
		}
		own.ids = append(own.ids, src.ID)
	}
	if len(groups) == 0 {
		return
	}
	fmt.Fprintln(w, "\nNOT LIVE\tSTATE\tSOURCES")
	for _, g := range groups {
		what := strings.Join(g.ids, ", ")
		switch {
		case g.state == string(core.SourceOff) && g.server == core.ServerManagement:
			what = "not connected (--management-context)"
		case g.error != "":
			what += ": " + g.error
		}
		fmt.Fprintf(w, "%s\t%s\t%s\n", g.server, g.state, what)
	}
}

// causeTold is the cause of a source's trouble in a word or two, where an entry of "Needs you" has the server's words; empty
// where none has.
func causeTold(s *core.Snapshot, src core.Source) string {
	if src.Err == nil || src.Err.Message == "" {
		return ""
	}
	for _, a := range attention.List(s) {
		if a.Subject.Kind == core.KindSource && a.Label == string(src.ID.Server()) && a.Fault == src.Err.Cause() {
			return src.Err.Cause()
		}
	}
	return ""
}
