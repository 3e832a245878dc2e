package core

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// optionalSources are those without which nothing is judged wrongly: less is shown.
var optionalSources = map[SourceID]bool{
	SourceDeletionRequests: true, SourceDisableNotices: true, SourceProjects: true, SourceNetworkAgents: true,
	SourceVolumeServices: true, SourceVolumes: true, SourceStatefulSets: true, SourceRedisSets: true, SourceRedisPods: true,
	SourceClaims: true, SourceRedisClaims: true, SourceLocalVolumes: true,
	SourceOpenStackController: true, SourceNodePods: true, SourceGroups: true, SourceAutoPauses: true, SourceReboots: true,
	SourceReleases: true, SourceManagementUpgrades: true,
}

// unprojected are the sources that lie in no project: who is bound to one may not read them, and is told so where they would be shown.
var unprojected = map[SourceID]bool{SourceReleases: true, SourceManagementUpgrades: true}

// hiccup is how long a source may be out of order before it is told: a watch that breaks off is opened again in less.
const hiccup = 5 * time.Second

// sources are those that are not live. Sources of one server that fail alike are one entry.
func (f *attentionFacts) sources() {
	type fault struct {
		server Server
		cause  string // what is the matter with the server as a whole; else the state
	}
	groups, all := map[fault][]Source{}, map[Server]int{}
	for _, src := range f.s.Sources {
		after := f.s.Settings.StaleAfterOf(src.ID)
		if src.State != SourceOff && src.State != SourceAbsent && !src.AsksNobody() {
			all[src.ID.Server()]++
		}
		switch src.State {
		case SourceLive:
			if src.AsOf.IsZero() || f.s.Wall.Sub(src.AsOf) <= 2*after {
				continue
			}
			src.State = SourceStale // nobody confirms it, and nobody says so
		case SourceOff:
			if src.ID.Server() == ServerManagement {
				continue // nobody asked for it
			}
		case SourceAbsent:
			if optionalSources[src.ID] {
				continue // a kind that older releases do not have
			}
		case SourceForbidden:
			if unprojected[src.ID] {
				continue
			}
			redis, _ := quorumNamed("redis")
			if _, there := f.s.quorum(redis); src.ID == SourceRedisClaims && !there && f.s.known(SourceRedisSets) {
				continue // there is none, and the manifest's Role had no namespace to be in
			}
		case SourceConnecting:
			if f.s.Wall.Sub(src.Since) <= after {
				continue
			}
		case SourceStale:
			refused := src.Err != nil && f.s.Wall.Sub(src.Since) > hiccup // the server says why
			if !refused && !src.AsOf.IsZero() && f.s.Wall.Sub(src.AsOf) <= after/2 {
				continue
			}
		}
		k := fault{server: src.ID.Server(), cause: string(src.State)}
		if e := src.trouble(); e != nil && e.WholeServer() {
			k.cause = e.Cause()
		}
		groups[k] = append(groups[k], src)
	}
	for k, list := range groups {
		slices.SortFunc(list, func(a, b Source) int { return strings.Compare(string(a.ID), string(b.ID)) })
		if e := list[0].trouble(); len(list) > 2 || len(list) == 2 && e != nil && e.WholeServer() {
			f.source(list, len(list) == all[k.server], RuleSources, fmt.Sprintf("%s/%s", k.server, k.cause), string(k.server))
			continue
		}
		for _, src := range list {
			f.source([]Source{src}, false, RuleSource, string(src.ID), string(src.ID))
		}
	}
}

// source adds one source, or several of one server with one trouble; whole says that the server has no others.
func (f *attentionFacts) source(list []Source, whole bool, rule AttentionRule, key, subject string) {
	src := list[0] // the one that tells
	names := make([]string, len(list))
	for i, other := range list {
		names[i] = string(other.ID)
		if !other.Since.IsZero() && other.Since.Before(src.Since) || !optionalSources[other.ID] && optionalSources[src.ID] {
			src = other
		}
	}
	what := some(names, 3)
	a := Attention{Rule: rule, Key: key, Severity: SeverityWarning, Subject: Ref{Kind: KindSource, Name: subject}, Label: string(src.ID.Server()), Since: f.since(src.Since),
		Resolve: &ProcedureKey{Kind: ProcedureSource, Subject: subject}}
	old := ""
	if src.State == SourceStale {
		old = "not confirmed for " + spanText(max(f.s.Wall.Sub(src.AsOf), 0))
	}
	trouble := src.trouble()
	if trouble != nil {
		a.Fault = trouble.Cause()
	}
	switch {
	case src.State == SourceOff:
		a.Severity, a.Reason = SeverityNotice, what+" not configured: what rests on them is not shown"
	case src.State == SourceConnecting:
		a.Severity, a.Reason = SeverityNotice, what+": no answer yet"
	case src.State == SourceAbsent:
		a.Severity, a.Reason = SeverityNotice, what+": the API does not have them"
	case trouble != nil && whole:
		a.Reason = trouble.Cause() + ": " + textOf(old, "nothing of it is seen")
	case trouble != nil:
		a.Reason = trouble.Cause() + ": " + what + textIf(old != "", ", "+old, "")
	case old != "":
		a.Reason = what + " " + old + ": what is shown may be old"
	default:
		a.Reason = what + ": " + string(src.State)
	}
	if optionalSources[src.ID] {
		a.Severity = SeverityNotice
	}
	if whole && src.ID.Server() == ServerKubernetes && trouble != nil && trouble.WholeServer() && f.s.Wall.Sub(src.Since) > f.s.Settings.StaleAfterOf(src.ID) {
		a.Severity = SeverityUrgent // all that is shown is old, or there is nothing
	}
	if src.Err != nil {
		if text := src.Err.Message; trouble != nil && text != "" {
			a.Reason += because(oneLine(text, mostRead))
		} else {
			a.Reason += because(oneLine(src.Err.Error(), mostRead))
		}
		a.Detail = src.Err.Remedy
	}
	if src.ID.Server() == ServerManagement && f.request != nil && (src.State == SourceStale || src.State == SourceFailed) {
		a.Detail = join(sentence(a.Detail), "LCM works from there: if its API is away for LCM, too, nothing new begins on the nodes; what their controllers have begun goes on.")
	}
	f.add(a)
}
