package procedure

import (
	"fmt"
	"slices"

	"lockstep/core"
	"lockstep/core/wording"
)

// sourceProcedure says what mends a source, or all sources of one API server when the subject is a Server.
func sourceProcedure(s *core.Snapshot, subject string) (core.Procedure, bool) {
	var ids []core.SourceID
	for id := range s.Sources {
		if string(id) == subject || string(id.Server()) == subject {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return core.Procedure{}, false
	}
	slices.Sort(ids)
	p := core.Procedure{Title: "See " + subject + " again", Goal: "Lockstep sees it live; until then it writes nothing that rests on it."}
	told := map[string]core.SourceID{} // what is the matter with the server as a whole is told once
	for _, id := range ids {
		src := s.Sources[id]
		st := sourceStep(s, src)
		if e := src.Trouble(); e != nil && e.WholeServer() {
			if first, before := told[e.Cause()]; before {
				st.Status = fmt.Sprintf("%s: %s, as %s", src.State, e.Cause(), first)
			} else {
				told[e.Cause()] = id
			}
		}
		p.Steps = append(p.Steps, st)
	}
	return p, true
}

// sourceStep is the state of one source, and what mends it.
func sourceStep(s *core.Snapshot, src core.Source) core.Step {
	st := core.Step{ID: "source/" + string(src.ID), Target: core.Ref{Kind: core.KindSource, Name: string(src.ID)}, Label: string(src.ID),
		Title: "see " + string(src.ID) + " again", State: core.StepWaiting, Status: string(src.State)}
	switch {
	case src.State == core.SourceLive:
		st.State, st.Title = core.StepDone, string(src.ID)+" is live"
		_, st.Status = s.Fresh(src.ID)
		return st
	case src.State == core.SourceOff:
		st.State, st.Status = core.StepLater, "not configured"
	case !src.AsOf.IsZero():
		st.Status = fmt.Sprintf("%s; seen last %s ago", src.State, wording.SpanText(max(s.SpanByWall(src.AsOf), 0)))
	}
	if src.Err != nil {
		st.Status += ": " + wording.OneLine(src.Err.Error(), wording.MostRead)
		st.Why = wording.Sentence(src.Err.Remedy)
	}
	if !src.Next.IsZero() && src.Next.After(s.Wall) {
		st.Then = "It is tried again in " + wording.SpanText(src.Next.Sub(s.Wall)) + "."
	}
	if st.Why == "" {
		st.Why = sourceWhy[src.State]
		if src.ID.Server() == core.ServerManagement {
			st.Why = wording.TextOf(managementWhy[src.State], st.Why)
		}
	}
	st.Commands = SourceCommands(s, src)
	return st
}

// sourceWhy explains the state of a source whose adapter names no remedy.
var sourceWhy = map[core.SourceState]string{
	core.SourceConnecting: "It has not answered yet.",
	core.SourceStale:      "It was seen, and is not confirmed now; what it showed last stays on the screen, with its age.",
	core.SourceAbsent:     "The API server does not know the resource: a cluster of another version, or one without MOSK.",
	core.SourceForbidden:  "Your rights do not reach so far: an administrator applies deploy/rbac-readonly.yaml.",
	core.SourceFailed:     "It is tried again by itself.",
	core.SourceOff:        "Without it Lockstep shows less, and offers nothing that rests on it.",
}

// managementWhy is sourceWhy for sources of the management cluster, where it differs.
var managementWhy = map[core.SourceState]string{
	core.SourceAbsent:    "The management cluster does not know the resource: an older release of it, or another cluster.",
	core.SourceForbidden: "Your rights do not reach so far: an administrator applies deploy/rbac-management-readonly.yaml there.",
	core.SourceOff: "No management cluster is connected (--management-context): what LCM does on a machine, and the update plan, are " +
		"not shown.",
}

// SourceCommands show by hand whether the source's server answers.
func SourceCommands(s *core.Snapshot, src core.Source) []string {
	management := src.ID.Server() == core.ServerManagement
	switch {
	case src.State == core.SourceOff || src.State == core.SourceConnecting:
		return nil
	case src.ID == core.SourceAlertmanager:
		return []string{wording.ShellCommand("kubectl", "-n", "stacklight", "get", "services,pods", "-o", "wide")}
	case src.ID.MayBeAbsent() && src.ID.Server() == core.ServerOpenStack:
		return []string{wording.ShellCommand("openstack", "catalog", "list"), wording.ShellCommand("openstack", "volume", "service", "list")}
	case src.ID.Server() == core.ServerOpenStack:
		return []string{wording.ShellCommand("openstack", "token", "issue"), wording.ShellCommand("openstack", "compute", "service", "list")}
	case management && src.State == core.SourceForbidden:
		return []string{s.Place.Kubectl("auth", "can-i", "--list")}
	case management:
		return []string{s.Place.Kubectl("get", "--raw", "/readyz")}
	case src.State == core.SourceForbidden:
		return []string{wording.ShellCommand("kubectl", "auth", "can-i", "--list")}
	}
	return []string{wording.ShellCommand("kubectl", "get", "--raw", "/readyz")}
}
