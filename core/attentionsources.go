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
		state  SourceState
	}
	groups := map[fault][]Source{}
	for _, src := range f.s.Sources {
		after := f.s.Settings.StaleAfterOf(src.ID)
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
		k := fault{server: src.ID.Server(), state: src.State}
		groups[k] = append(groups[k], src)
	}
	for k, list := range groups {
		slices.SortFunc(list, func(a, b Source) int { return strings.Compare(string(a.ID), string(b.ID)) })
		whole := len(list) > 2
		if !whole {
			for _, src := range list {
				f.source(src, string(src.ID), "source/"+string(src.ID), string(src.ID))
			}
			continue
		}
		oldest := list[0]
		for _, src := range list {
			if !src.Since.IsZero() && src.Since.Before(oldest.Since) {
				oldest = src
			}
			if !optionalSources[src.ID] && optionalSources[oldest.ID] {
				oldest = src
			}
		}
		names := make([]string, len(list))
		for i, src := range list {
			names[i] = string(src.ID)
		}
		f.source(oldest, some(names, 3), fmt.Sprintf("sources/%s/%s", k.server, k.state), string(k.server))
	}
}

// source adds one source, or several told by one of them.
func (f *attentionFacts) source(src Source, what, id, subject string) {
	a := Attention{ID: id, Severity: SeverityWarning, Subject: Ref{Kind: KindSource, Name: subject}, Label: string(src.ID.Server()), Since: f.since(src.Since),
		Resolve: &ProcedureKey{Kind: ProcedureSource, Subject: subject}}
	switch src.State {
	case SourceOff:
		a.Severity, a.Reason = SeverityNotice, what+" not configured: what rests on them is not shown"
	case SourceConnecting:
		a.Severity, a.Reason = SeverityNotice, what+": no answer yet"
	case SourceAbsent:
		a.Severity, a.Reason = SeverityNotice, what+": the API does not have them"
	case SourceStale:
		a.Reason = what + " not confirmed for " + spanText(max(f.s.Wall.Sub(src.AsOf), 0)) + ": what is shown may be old"
	default:
		a.Reason = what + ": " + string(src.State)
	}
	if optionalSources[src.ID] {
		a.Severity = SeverityNotice
	}
	if src.Err != nil {
		a.Reason += because(oneLine(src.Err.Error(), 300))
		a.Detail = src.Err.Remedy
	}
	if src.ID.Server() == ServerManagement && f.request != nil && (src.State == SourceStale || src.State == SourceFailed) {
		a.Detail = join(sentence(a.Detail), "LCM works from there: if its API is away for LCM, too, nothing new begins on the nodes; what their controllers have begun goes on.")
	}
	f.add(a)
}
