package engine

import (
	"slices"
	"strings"

	"lockstep/core"
)

// projectWorkloads fills a Snapshot with the DaemonSets and StatefulSets, their revisions and pods, of all their namespaces,
// and with what tells of Tempest.
func (w *world) projectWorkloads(s, prev *core.Snapshot) {
	anew := func(sources ...core.SourceID) bool {
		return prev == nil || slices.ContainsFunc(sources, func(id core.SourceID) bool { return w.dirty[id] })
	}
	if anew(core.SourceDaemonSets, core.SourceFabricSets) {
		s.DaemonSets = slices.Concat(values[*core.DaemonSet](w, core.SourceDaemonSets), values[*core.DaemonSet](w, core.SourceFabricSets))
		slices.SortFunc(s.DaemonSets, func(a, b *core.DaemonSet) int { return strings.Compare(a.Key(), b.Key()) })
	} else {
		s.DaemonSets = prev.DaemonSets
	}
	if anew(core.SourceRevisions, core.SourceFabricRevisions) {
		all := slices.Concat(values[*core.DaemonRevision](w, core.SourceRevisions), values[*core.DaemonRevision](w, core.SourceFabricRevisions))
		slices.SortFunc(all, func(a, b *core.DaemonRevision) int { return strings.Compare(a.Key(), b.Key()) })
		s.DaemonRevisions = group(all, func(r *core.DaemonRevision) string { return r.Owner })
	} else {
		s.DaemonRevisions = prev.DaemonRevisions
	}
	if anew(core.SourceStatefulSets, core.SourceRedisSets) {
		s.StatefulSets = slices.Concat(values[*core.StatefulSet](w, core.SourceStatefulSets), values[*core.StatefulSet](w, core.SourceRedisSets))
		slices.SortFunc(s.StatefulSets, func(a, b *core.StatefulSet) int { return strings.Compare(a.Key(), b.Key()) })
	} else {
		s.StatefulSets = prev.StatefulSets
	}
	if anew(core.SourceDaemonPods, core.SourceFabricPods, core.SourceRedisPods) {
		all := slices.Concat(values[*core.DaemonPod](w, core.SourceDaemonPods), values[*core.DaemonPod](w, core.SourceFabricPods),
			values[*core.DaemonPod](w, core.SourceRedisPods))
		slices.SortFunc(all, func(a, b *core.DaemonPod) int { return strings.Compare(a.Key(), b.Key()) })
		s.DaemonPods = group(all, func(p *core.DaemonPod) string { return p.Owner })
	} else {
		s.DaemonPods = prev.DaemonPods
	}
	if anew(core.SourceClaims, core.SourceRedisClaims) {
		s.Claims = map[string]*core.VolumeClaim{}
		for _, c := range slices.Concat(values[*core.VolumeClaim](w, core.SourceClaims), values[*core.VolumeClaim](w, core.SourceRedisClaims)) {
			s.Claims[c.Key()] = c
		}
	} else {
		s.Claims = prev.Claims
	}
	if anew(core.SourceLocalVolumes) {
		s.LocalVolumes = collect(w, core.SourceLocalVolumes, func(v *core.PersistentVolume) string { return v.Name })
	} else {
		s.LocalVolumes = prev.LocalVolumes
	}
	if anew(core.SourceOpenStackDeployment) {
		s.Deployments = values[*core.OpenStackDeployment](w, core.SourceOpenStackDeployment)
		slices.SortFunc(s.Deployments, func(a, b *core.OpenStackDeployment) int { return strings.Compare(a.Key(), b.Key()) })
	} else {
		s.Deployments = prev.Deployments
	}
	if anew(core.SourceTempestJob) {
		for _, j := range values[*core.Job](w, core.SourceTempestJob) {
			s.TempestJob = j
		}
	} else {
		s.TempestJob = prev.TempestJob
	}
}
