package core

import (
	"slices"
	"strings"
)

// projectWorkloads fills a Snapshot with the DaemonSets and StatefulSets, their revisions and pods, of all their namespaces,
// and with what tells of Tempest.
func (w *world) projectWorkloads(s, prev *Snapshot) {
	anew := func(sources ...SourceID) bool {
		return prev == nil || slices.ContainsFunc(sources, func(id SourceID) bool { return w.dirty[id] })
	}
	if anew(SourceDaemonSets, SourceFabricSets) {
		s.DaemonSets = slices.Concat(values[*DaemonSet](w, SourceDaemonSets), values[*DaemonSet](w, SourceFabricSets))
		slices.SortFunc(s.DaemonSets, func(a, b *DaemonSet) int { return strings.Compare(a.Key(), b.Key()) })
	} else {
		s.DaemonSets = prev.DaemonSets
	}
	if anew(SourceRevisions, SourceFabricRevisions) {
		all := slices.Concat(values[*DaemonRevision](w, SourceRevisions), values[*DaemonRevision](w, SourceFabricRevisions))
		slices.SortFunc(all, func(a, b *DaemonRevision) int { return strings.Compare(a.Key(), b.Key()) })
		s.DaemonRevisions = group(all, func(r *DaemonRevision) string { return r.Owner })
	} else {
		s.DaemonRevisions = prev.DaemonRevisions
	}
	if anew(SourceStatefulSets, SourceRedisSets) {
		s.StatefulSets = slices.Concat(values[*StatefulSet](w, SourceStatefulSets), values[*StatefulSet](w, SourceRedisSets))
		slices.SortFunc(s.StatefulSets, func(a, b *StatefulSet) int { return strings.Compare(a.Key(), b.Key()) })
	} else {
		s.StatefulSets = prev.StatefulSets
	}
	if anew(SourceDaemonPods, SourceFabricPods, SourceRedisPods) {
		all := slices.Concat(values[*DaemonPod](w, SourceDaemonPods), values[*DaemonPod](w, SourceFabricPods), values[*DaemonPod](w, SourceRedisPods))
		slices.SortFunc(all, func(a, b *DaemonPod) int { return strings.Compare(a.Key(), b.Key()) })
		s.DaemonPods = group(all, func(p *DaemonPod) string { return p.Owner })
	} else {
		s.DaemonPods = prev.DaemonPods
	}
	if anew(SourceClaims, SourceRedisClaims) {
		s.Claims = map[string]*VolumeClaim{}
		for _, c := range slices.Concat(values[*VolumeClaim](w, SourceClaims), values[*VolumeClaim](w, SourceRedisClaims)) {
			s.Claims[c.Key()] = c
		}
	} else {
		s.Claims = prev.Claims
	}
	if anew(SourceLocalVolumes) {
		s.LocalVolumes = collect(w, SourceLocalVolumes, func(v *PersistentVolume) string { return v.Name })
	} else {
		s.LocalVolumes = prev.LocalVolumes
	}
	if anew(SourceOpenStackDeployment) {
		s.Deployments = values[*OpenStackDeployment](w, SourceOpenStackDeployment)
		slices.SortFunc(s.Deployments, func(a, b *OpenStackDeployment) int { return strings.Compare(a.Key(), b.Key()) })
	} else {
		s.Deployments = prev.Deployments
	}
	if anew(SourceTempestJob) {
		for _, j := range values[*Job](w, SourceTempestJob) {
			s.TempestJob = j
		}
	} else {
		s.TempestJob = prev.TempestJob
	}
}
