package core

import (
	"fmt"
	"slices"
)

// sourceProcedure is what mends a source, or all sources of one API server when the subject is a Server.
func (s *Snapshot) sourceProcedure(subject string) (Procedure, bool) {
	var ids []SourceID
	for id := range s.Sources {
		if string(id) == subject || string(id.Server()) == subject {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 {
		return Procedure{}, false
	}
	slices.Sort(ids)
	p := Procedure{Title: "See " + subject + " again", Goal: "Lockstep sees it live; until then it writes nothing that rests on it."}
	told := map[string]SourceID{} // what is the matter with the server as a whole is told once
	for _, id := range ids {
		src := s.Sources[id]
		st := s.sourceStep(src)
		if e := src.trouble(); e != nil && e.WholeServer() {
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

// sourceStep says how one source does, and what mends it.
func (s *Snapshot) sourceStep(src Source) Step {
	st := Step{ID: "source/" + string(src.ID), Target: Ref{Kind: KindSource, Name: string(src.ID)}, Label: string(src.ID),
		Title: "see " + string(src.ID) + " again", State: StepWaiting, Status: string(src.State)}
	switch {
	case src.State == SourceLive:
		st.State, st.Title = StepDone, string(src.ID)+" is live"
		_, st.Status = s.fresh(src.ID)
		return st
	case src.State == SourceOff:
		st.State, st.Status = StepLater, "not configured"
	case !src.AsOf.IsZero():
		st.Status = fmt.Sprintf("%s; seen last %s ago", src.State, spanText(max(s.Wall.Sub(src.AsOf), 0)))
	}
	if src.Err != nil {
		st.Status += ": " + oneLine(src.Err.Error(), mostRead)
		st.Why = sentence(src.Err.Remedy)
	}
	if !src.Next.IsZero() && src.Next.After(s.Wall) {
		st.Then = "It is tried again in " + spanText(src.Next.Sub(s.Wall)) + "."
	}
	if st.Why == "" {
		st.Why = sourceWhy[src.State]
		if src.ID.Server() == ServerManagement {
			st.Why = textOf(managementWhy[src.State], st.Why)
		}
	}
	st.Commands = s.sourceCommands(src)
	return st
}

// sourceWhy is what to make of a source whose adapter names no remedy.
var sourceWhy = map[SourceState]string{
	SourceConnecting: "It has not answered yet.",
	SourceStale:      "It was seen, and is not confirmed now; what it showed last stays on the screen, with its age.",
	SourceAbsent:     "The API server does not know the resource: a cluster of another version, or one without MOSK.",
	SourceForbidden:  "Your rights do not reach so far: an administrator applies deploy/rbac-readonly.yaml.",
	SourceFailed:     "It is tried again by itself.",
	SourceOff:        "Without it Lockstep shows less, and offers nothing that rests on it.",
}

// managementWhy is sourceWhy where the management cluster is another matter.
var managementWhy = map[SourceState]string{
	SourceAbsent:    "The management cluster does not know the resource: an older release of it, or another cluster.",
	SourceForbidden: "Your rights do not reach so far: an administrator applies deploy/rbac-management-readonly.yaml there.",
	SourceOff:       "No management cluster is connected (--management-context): what LCM does on a machine, and the update plan, are not shown.",
}

// sourceCommands show by hand whether the source's server answers.
func (s *Snapshot) sourceCommands(src Source) []string {
	management := src.ID.Server() == ServerManagement
	switch {
	case src.State == SourceOff || src.State == SourceConnecting:
		return nil
	case src.ID.MayBeAbsent():
		return []string{shellCommand("openstack", "catalog", "list"), shellCommand("openstack", "volume", "service", "list")}
	case src.ID.Server() == ServerOpenStack:
		return []string{shellCommand("openstack", "token", "issue"), shellCommand("openstack", "compute", "service", "list")}
	case management && src.State == SourceForbidden:
		return []string{s.Place.kubectl("auth", "can-i", "--list")}
	case management:
		return []string{s.Place.kubectl("get", "--raw", "/readyz")}
	case src.State == SourceForbidden:
		return []string{shellCommand("kubectl", "auth", "can-i", "--list")}
	}
	return []string{shellCommand("kubectl", "get", "--raw", "/readyz")}
}
