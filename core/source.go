package core

import (
	"fmt"
	"time"

	"lockstep/core/wording"
)

// SourceID names one stream of facts.
type SourceID string

// The sources of the cluster and of its cloud. Those of Kubernetes are watched, those of OpenStack polled.
const (
	SourceNodes               SourceID = "nodes"
	SourceClusterLocks        SourceID = "clusterworkloadlocks"
	SourceNodeLocks           SourceID = "nodeworkloadlocks"
	SourceClusterRequests     SourceID = "clustermaintenancerequests"
	SourceNodeRequests        SourceID = "nodemaintenancerequests"
	SourceDeletionRequests    SourceID = "nodedeletionrequests"
	SourceDisableNotices      SourceID = "nodedisablenotifications"
	SourceOpenStackStatus     SourceID = "openstackdeploymentstatus"
	SourceOpenStackController SourceID = "rockoon"    // the Deployment rockoon in osh-system
	SourceNodePods            SourceID = "pods"       // of the nodes in maintenance
	SourceDaemonSets          SourceID = "daemonsets" // of OpenStack's namespace, as the next two
	SourceRevisions           SourceID = "controllerrevisions"
	SourceDaemonPods          SourceID = "daemonset pods"
	SourceFabricSets          SourceID = "daemonsets of tf" // of Tungsten Fabric's namespace, as the next two
	SourceFabricRevisions     SourceID = "controllerrevisions of tf"
	SourceFabricPods          SourceID = "daemonset pods of tf"
	SourceStatefulSets        SourceID = "statefulsets"          // of OpenStack's namespace; their pods are among the daemonset pods
	SourceRedisSets           SourceID = "statefulsets of redis" // of Redis' own namespace, as the next
	SourceRedisPods           SourceID = "statefulset pods of redis"
	SourceClaims              SourceID = "persistentvolumeclaims" // of OpenStack's namespace; where Rockoon is played, as the next two
	SourceRedisClaims         SourceID = "persistentvolumeclaims of redis"
	SourceLocalVolumes        SourceID = "persistentvolumes"
	SourceOpenStackDeployment SourceID = "openstackdeployments" // what OpenStack should be; for operators only
	SourceCeph                SourceID = "cephclusters"         // of Rook
	SourceTempestJob          SourceID = "tempest job"          // the Job openstack-tempest-run-tests
	SourceComputeServices     SourceID = "compute services"
	SourceInstances           SourceID = "instances"
	SourceMigrations          SourceID = "migrations"
	SourceNetworkAgents       SourceID = "network agents"
	SourceProjects            SourceID = "projects"
	SourceVolumeServices      SourceID = "volume services" // cinder-volume
	SourceVolumes             SourceID = "volumes"         // on the disks of nodes
	SourceAlertmanager        SourceID = "alertmanager"    // of StackLight: its alerts and silences, polled
)

// The sources on the management cluster, all watched. They are off when no management cluster is configured.
const (
	SourceClusters    SourceID = "clusters"
	SourceMachines    SourceID = "machines"
	SourceLCMClusters SourceID = "lcmclusters"
	SourceLCMMachines SourceID = "lcmmachines"
	SourceDrains      SourceID = "lcmclusterstates"
	SourcePlans       SourceID = "clusterupdateplans"
	SourceGroups      SourceID = "updategroups"
	SourceAutoPauses  SourceID = "updateautopauses"
	SourceReboots     SourceID = "gracefulrebootrequests"

	SourceReleases           SourceID = "kaasreleases" // of the management cluster itself, as the next; neither lies in a project
	SourceManagementUpgrades SourceID = "mccupgrades"
)

// ManagementSources are the sources on the management cluster, in the order in which they are shown.
func ManagementSources() []SourceID {
	return []SourceID{SourceClusters, SourceMachines, SourceLCMClusters, SourceLCMMachines, SourceDrains, SourcePlans, SourceGroups,
		SourceAutoPauses, SourceReboots, SourceReleases, SourceManagementUpgrades}
}

// Server is the API server that a source talks to.
type Server string

// The servers.
const (
	ServerKubernetes Server = "kubernetes"
	ServerOpenStack  Server = "openstack"
	ServerManagement Server = "management" // the Kubernetes API of the management cluster
	// ServerAlertmanager is StackLight's Alertmanager, behind the proxy of the MOSK cluster's API server.
	ServerAlertmanager Server = "alertmanager"
)

// Server tells which API server the source talks to.
func (id SourceID) Server() Server {
	switch id {
	case SourceComputeServices, SourceInstances, SourceMigrations, SourceNetworkAgents, SourceProjects, SourceVolumeServices, SourceVolumes:
		return ServerOpenStack
	case SourceClusters, SourceMachines, SourceLCMClusters, SourceLCMMachines, SourceDrains, SourcePlans, SourceGroups, SourceAutoPauses,
		SourceReboots, SourceReleases, SourceManagementUpgrades:
		return ServerManagement
	case SourceAlertmanager:
		return ServerAlertmanager
	}
	return ServerKubernetes
}

// MayBeAbsent tells whether a healthy cloud can lack the source: not every cloud has Cinder, Ceph or StackLight.
func (id SourceID) MayBeAbsent() bool {
	return id == SourceVolumeServices || id == SourceVolumes || id == SourceCeph || id == SourceAlertmanager
}

// forActing tells whether the source is watched only when Lockstep plays the OpenStack controller.
func (id SourceID) forActing() bool {
	return id == SourceClaims || id == SourceRedisClaims || id == SourceLocalVolumes
}

// SourceState is the state of a source.
type SourceState string

// The states of a source.
const (
	SourceConnecting SourceState = "connecting" // nothing has arrived yet
	SourceLive       SourceState = "live"
	SourceStale      SourceState = "stale"     // what it last showed stays on the screen, with its age
	SourceAbsent     SourceState = "absent"    // the API does not know the resource (a missing CRD)
	SourceForbidden  SourceState = "forbidden" // 403
	SourceFailed     SourceState = "failed"    // anything else, such as an unreachable server or a refused login
	SourceOff        SourceState = "off"       // not configured: no clouds.yaml, say, or no management cluster
)

// Source is one stream of facts with its state. Its times are the wall clock's, not the cluster's.
type Source struct {
	ID    SourceID
	State SourceState
	Since time.Time // when it came into this state
	AsOf  time.Time // when the server last confirmed what is known: an event, a bookmark, an answer; zero for never
	Err   *APIError // why it is not live; nil when it is
	Next  time.Time // when it will be tried again; zero when unknown
}

// AsksNobody tells whether the source can be live without a request to its server: pods are listed only for nodes in maintenance.
func (s Source) AsksNobody() bool { return s.ID == SourceNodePods && s.State == SourceLive }

// Trouble is the error of a stale, failed or forbidden source; nil for any other state.
func (s Source) Trouble() *APIError {
	switch s.State {
	case SourceStale, SourceFailed, SourceForbidden:
		return s.Err
	}
	return nil
}

// AnswersYet tells whether the source has shown nothing yet, and may before the deadline (of the wall clock): a failure that may pass is
// tried again by then.
func (s Source) AnswersYet(deadline time.Time) bool {
	switch s.State {
	case SourceConnecting:
		return true
	case SourceFailed:
		return s.AsOf.IsZero() && s.Err != nil && s.Err.MayPass() && !s.Next.IsZero() && s.Next.Before(deadline)
	}
	return false
}

// Known tells whether the source has shown everything as of some moment: it has answered completely once.
func (s *Snapshot) Known(id SourceID) bool {
	src, ok := s.Sources[id]
	if !ok || src.AsOf.IsZero() {
		return false
	}
	switch src.State {
	case SourceLive, SourceStale, SourceFailed:
		return true
	}
	return false
}

// WhyUnknown is why the source says nothing: "forbidden", "not configured".
func (s *Snapshot) WhyUnknown(id SourceID) string {
	src, ok := s.Sources[id]
	switch {
	case !ok:
		return "not watched"
	case src.State == SourceOff && src.Err != nil && src.Err.Kind == ErrForbidden && id == SourceAlertmanager:
		return "you may not read it (deploy/rbac-alerts.yaml)"
	case src.State == SourceOff && src.Err != nil && src.Err.Kind == ErrForbidden:
		return "only operators may read it (deploy/rbac-operator.yaml)"
	case src.State == SourceForbidden && src.Err != nil && id.forActing():
		return "you may not " + wording.OneLine(src.Err.Call, 120) + " (deploy/rbac-maintenance.yaml)"
	case src.State == SourceOff:
		return "not configured"
	case src.State == SourceConnecting || src.State == SourceLive:
		return "nothing has arrived yet"
	case src.State == SourceAbsent && id == SourceAlertmanager:
		return "the cluster has no such Service"
	case src.State == SourceAbsent:
		return "the API does not have the resource"
	}
	if e := src.Trouble(); e != nil {
		return e.Cause()
	}
	return string(src.State)
}

// Fresh tells whether the source is live and was confirmed recently enough to write on, and says how old it is.
func (s *Snapshot) Fresh(id SourceID) (bool, string) {
	src, ok := s.Sources[id]
	if !ok || src.AsOf.IsZero() {
		return false, fmt.Sprintf("%s: %s", id, s.WhyUnknown(id))
	}
	old := max(s.SpanByWall(src.AsOf), 0).Truncate(time.Second)
	text := fmt.Sprintf("%s %s", id, wording.SpanText(old))
	switch {
	case src.State != SourceLive:
		return false, fmt.Sprintf("%s: %s since %s", id, src.State, wording.SpanText(max(s.SpanByWall(src.Since), 0)))
	case s.LongerByWall(src.AsOf, s.Settings.StaleAfterOf(id)+time.Second-1): // by full seconds, as the text
		return false, text + " old"
	}
	return true, text
}
