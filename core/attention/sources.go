package attention

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/progress"
	"lockstep/core/wording"
)

// optionalSources are those without which nothing is judged wrongly; less is shown.
var optionalSources = map[core.SourceID]bool{
	core.SourceDeletionRequests: true, core.SourceDisableNotices: true, core.SourceProjects: true, core.SourceNetworkAgents: true,
	core.SourceVolumeServices: true, core.SourceVolumes: true, core.SourceStatefulSets: true, core.SourceRedisSets: true,
	core.SourceRedisPods: true,
	core.SourceClaims:    true, core.SourceRedisClaims: true, core.SourceLocalVolumes: true,
	core.SourceOpenStackController: true, core.SourceNodePods: true, core.SourceGroups: true, core.SourceAutoPauses: true,
	core.SourceReboots:  true,
	core.SourceReleases: true, core.SourceManagementUpgrades: true,
	core.SourceAlertmanager: true,
}

// unprojected are the sources outside every project of the management cluster. A login that is bound to one project may not read them;
// the screen says so where they would be shown.
var unprojected = map[core.SourceID]bool{core.SourceReleases: true, core.SourceManagementUpgrades: true}

// UnseenByRight tells whether a source is refused to a login as the manifests have it: nothing is to be mended.
func UnseenByRight(s *core.Snapshot, src core.Source) bool {
	switch {
	case src.State != core.SourceForbidden:
		return false
	case unprojected[src.ID]:
		return true
	case src.ID != core.SourceRedisClaims || !s.Known(core.SourceRedisSets):
		return false
	}
	redis, _ := progress.QuorumNamed("redis")
	_, there := progress.Quorum(s, redis)
	return !there // there is no Redis, so the manifest's Role has no namespace to be in
}

// LiveAndOld tells whether a live source was not confirmed for so long that its facts count as old, although no error says why.
func LiveAndOld(s *core.Snapshot, src core.Source) bool {
	return src.State == core.SourceLive && !src.AsOf.IsZero() && s.LongerByWall(src.AsOf, 2*s.Settings.StaleAfterOf(src.ID))
}

// hiccup is how long a source may fail before there is an entry: a watch that breaks off is opened again sooner.
const hiccup = 5 * time.Second

// sources finds those that are not live. Sources of one server that fail in the same way share an entry.
func (f *facts) sources() {
	type fault struct {
		server core.Server
		cause  string // what is wrong with the whole server; else the source's state
	}
	groups := map[fault][]core.Source{}
	all, away := map[core.Server]int{}, map[core.Server][]core.Source{} // those that are asked, and those of them that cannot be seen
	for _, src := range f.s.Sources {
		if src.ID == core.SourceAlertmanager && f.s.Sources[core.SourceNodes].State != core.SourceLive {
			continue // it is reached through the API server, whose own entry says what is wrong
		}
		after := f.s.Settings.StaleAfterOf(src.ID)
		if isAsked(src) && !src.AsksNobody() {
			all[src.ID.Server()]++
		}
		switch src.State {
		case core.SourceLive:
			if !LiveAndOld(f.s, src) {
				continue
			}
			src.State = core.SourceStale // its facts are old, and no error says why
		case core.SourceOff:
			if src.ID.Server() == core.ServerManagement || src.ID == core.SourceAlertmanager || src.Err != nil && src.Err.Kind == core.ErrForbidden {
				continue // it was not configured, on purpose; or nobody has given the right, which the checklist says
			}
		case core.SourceAbsent:
			if optionalSources[src.ID] {
				continue // older releases do not have the kind
			}
		case core.SourceForbidden:
			if UnseenByRight(f.s, src) {
				continue
			}
		case core.SourceConnecting:
			if !f.s.LongerByWall(src.Since, after) {
				continue
			}
		case core.SourceStale:
			refused := src.Err != nil && f.s.LongerByWall(src.Since, hiccup) // the server says why
			if !refused && !src.AsOf.IsZero() && !f.s.LongerByWall(src.AsOf, after/2) {
				continue
			}
		}
		k := fault{server: src.ID.Server(), cause: string(src.State)}
		if e := src.Trouble(); e != nil && e.WholeServer() {
			k.cause = e.Cause()
		}
		groups[k] = append(groups[k], src)
		if isAsked(src) {
			away[k.server] = append(away[k.server], src)
		}
	}
	// A server that is away says so in many words: 502, 503, no answer. It is one matter.
	for server, n := range all {
		if n < 2 || len(away[server]) < n || !slices.ContainsFunc(away[server], tellsOfServer) {
			continue
		}
		slices.SortFunc(away[server], bySource)
		f.source(away[server], true, core.RuleSources, string(server), string(server))
		for k, list := range groups {
			if k.server == server {
				groups[k] = slices.DeleteFunc(list, isAsked)
			}
		}
	}
	for k, list := range groups {
		if len(list) == 0 {
			continue
		}
		slices.SortFunc(list, bySource)
		if e := list[0].Trouble(); len(list) > 2 || len(list) == 2 && e != nil && e.WholeServer() {
			f.source(list, false, core.RuleSources, fmt.Sprintf("%s/%s", k.server, k.cause), string(k.server))
			continue
		}
		for _, src := range list {
			f.source([]core.Source{src}, false, core.RuleSource, string(src.ID), string(src.ID))
		}
	}
}

// isAsked tells whether a source is asked, and the server neither lacks it nor forbids it.
func isAsked(src core.Source) bool {
	return src.State != core.SourceOff && src.State != core.SourceAbsent && src.State != core.SourceForbidden
}

// tellsOfServer tells whether the source's trouble is that of its whole server.
func tellsOfServer(src core.Source) bool {
	e := src.Trouble()
	return e != nil && e.WholeServer()
}

func bySource(a, b core.Source) int { return strings.Compare(string(a.ID), string(b.ID)) }

// source adds an entry for one source, or for several of one server with the same trouble. whole says that they are all sources of the
// server.
func (f *facts) source(list []core.Source, whole bool, rule core.AttentionRule, key, subject string) {
	src := list[0] // the one that tells
	names := make([]string, len(list))
	for i, other := range list {
		names[i] = string(other.ID)
		switch {
		case whole && tellsOfServer(other) != tellsOfServer(src):
			if tellsOfServer(other) {
				src = other
			}
		case !other.Since.IsZero() && other.Since.Before(src.Since) || !optionalSources[other.ID] && optionalSources[src.ID]:
			src = other
		}
	}
	what := wording.Some(names, 3)
	a := core.Attention{Rule: rule, Key: key, Severity: core.SeverityWarning, Subject: core.Ref{Kind: core.KindSource, Name: subject},
		Label: string(src.ID.Server()), Since: f.since(src.Since),
		Resolve: &core.ProcedureKey{Kind: core.ProcedureSource, Subject: subject}}
	old := ""
	if src.State == core.SourceStale {
		old = "not confirmed for " + wording.SpanText(max(f.s.SpanByWall(src.AsOf), 0))
	}
	trouble := src.Trouble()
	if trouble != nil {
		a.Fault = trouble.Cause()
	}
	switch {
	case src.State == core.SourceOff:
		a.Severity, a.Reason = core.SeverityNotice, what+" not configured: what rests on them is not shown"
	case src.State == core.SourceConnecting:
		a.Severity, a.Reason = core.SeverityNotice, what+": no answer yet"
	case src.State == core.SourceAbsent:
		a.Severity, a.Reason = core.SeverityNotice, what+": the API does not have them"
	case trouble != nil && whole:
		a.Reason = trouble.Cause() + ": " + wording.TextOf(old, "nothing of it is seen")
	case trouble != nil:
		a.Reason = trouble.Cause() + ": " + what + wording.TextIf(old != "", ", "+old, "")
	case old != "":
		a.Reason = what + " " + old + ": what is shown may be old"
	default:
		a.Reason = what + ": " + string(src.State)
	}
	if optionalSources[src.ID] {
		a.Severity = core.SeverityNotice
	}
	if whole && src.ID.Server() == core.ServerKubernetes && trouble != nil && trouble.WholeServer() &&
		f.s.LongerByWall(src.Since, f.s.Settings.StaleAfterOf(src.ID)) {
		a.Severity = core.SeverityUrgent // everything shown is old, or nothing is shown
	}
	if src.Err != nil {
		if text := src.Err.Message; trouble != nil && text != "" {
			a.Reason += wording.Because(wording.OneLine(text, wording.MostRead))
		} else {
			a.Reason += wording.Because(wording.OneLine(src.Err.Error(), wording.MostRead))
		}
		a.Detail = src.Err.Remedy
	}
	if src.ID.Server() == core.ServerManagement && f.request != nil && (src.State == core.SourceStale || src.State == core.SourceFailed) {
		a.Detail = wording.Join(wording.Sentence(a.Detail),
			"LCM works from there: if its API is away for LCM, too, nothing new begins on the nodes; what their controllers have begun goes on.")
	}
	f.add(a)
}
