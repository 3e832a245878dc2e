// Package derivedtest compares what Lockstep derives from what has changed with what it derives anew. Only tests use it.
package derivedtest

import (
	"fmt"
	"reflect"
	"slices"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/forecast"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/timeline"
)

// Differ says how what is derived from the Snapshot differs from what is derived from its facts alone, each difference in a line; nil
// when it does not.
func Differ(s *core.Snapshot) []string {
	anew := s.CopyFacts()
	var out []string
	differ := func(what string, kept, fresh any) {
		if !reflect.DeepEqual(kept, fresh) {
			out = append(out, fmt.Sprintf("%s, kept and derived anew:\n  %+v\n  %+v", what, kept, fresh))
		}
	}
	lists(differ, "node", progress.NodeViews(s), progress.NodeViews(anew))
	lists(differ, "phase", progress.Phases(s), progress.Phases(anew))
	differ("the update", progress.Update(s), progress.Update(anew))
	differ("the forecast", *forecast.Of(s), *forecast.Of(anew))
	differ("the hosts that are watched", watchedHosts(s), watchedHosts(anew))
	lists(differ, "DaemonSet", progress.DaemonViews(s), progress.DaemonViews(anew))
	lists(differ, "point", procedure.AfterUpdate(s), procedure.AfterUpdate(anew))
	lists(differ, "entry", attention.Of(s), attention.Of(anew))
	then, now := timeline.Of(s), timeline.Of(anew)
	lists(differ, "row of the timeline", then.Rows, now.Rows)
	for i := range min(len(then.Rows), len(now.Rows)) {
		differ("the bar of "+then.Rows[i].ID, then.Spans(then.Rows[i], s.Now), now.Spans(now.Rows[i], s.Now))
	}
	for _, name := range progress.NodeNames(s) {
		differ("the migrations from "+name, timeline.Moves(s, name), timeline.Moves(anew, name))
		differ("how urgently "+name+" needs a person", attention.NodeNeeds(s, name), attention.NodeNeeds(anew, name))
	}
	return out
}

// watchedHosts are the hosts that the slow sources are asked about.
func watchedHosts(s *core.Snapshot) []string {
	hosts, moving := progress.HostsToWatch(s)
	return slices.Concat(hosts, []string{fmt.Sprint("moving: ", moving, ", with volumes:")}, progress.HostsWithVolumesToWatch(s),
		[]string{"with routers:"}, progress.HostsWithRoutersToWatch(s))
}

func lists[T any](differ func(string, any, any), what string, kept, fresh []T) {
	if len(kept) != len(fresh) {
		differ("the list by "+what, kept, fresh)
		return
	}
	for i := range kept {
		differ(fmt.Sprintf("%s %d", what, i), kept[i], fresh[i])
	}
}
