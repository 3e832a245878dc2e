package core

import (
	"fmt"
	"time"

	"lockstep/core/wording"
)

// Cause is why a call failed in two or three words, for where there is room for no more: "login refused", "unreachable".
func (e *APIError) Cause() string {
	switch e.Kind {
	case ErrTimeout:
		return "no answer"
	case ErrConfiguration:
		return "misconfigured"
	case ErrUnsupported:
		return "not supported"
	case ErrServer:
		if e.Status != 0 {
			return fmt.Sprintf("%s %d", e.Kind, e.Status)
		}
	case ErrOther:
		return "failed"
	}
	return string(e.Kind)
}

// WholeServer tells whether the cause is the server's or the login's as a whole, and no matter of what was asked for.
func (e *APIError) WholeServer() bool {
	switch e.Kind {
	case ErrUnauthorized, ErrUnreachable, ErrTimeout, ErrConfiguration, ErrServer:
		return true
	}
	return false
}

// AsksNobody tells whether the source can be live while its server is not asked: where no node is in maintenance, no pods are listed.
func (s Source) AsksNobody() bool { return s.ID == SourceNodePods && s.State == SourceLive }

// Trouble is the error of a source that is out of order for a reason; nil when it is not, or when its state says it all.
func (s Source) Trouble() *APIError {
	switch s.State {
	case SourceStale, SourceFailed, SourceForbidden:
		return s.Err
	}
	return nil
}

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
	SourceTempestJob          SourceID = "tempest job"          // the Job openstack-tempest-run-tests
	SourceComputeServices     SourceID = "compute services"
	SourceInstances           SourceID = "instances"
	SourceMigrations          SourceID = "migrations"
	SourceNetworkAgents       SourceID = "network agents"
	SourceProjects            SourceID = "projects"
	SourceVolumeServices      SourceID = "volume services" // cinder-volume
	SourceVolumes             SourceID = "volumes"         // on the disks of nodes
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

// ManagementSources are the sources on the management cluster, in the order in which they are told.
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
)

// Server tells which API server the source talks to.
func (id SourceID) Server() Server {
	switch id {
	case SourceComputeServices, SourceInstances, SourceMigrations, SourceNetworkAgents, SourceProjects, SourceVolumeServices, SourceVolumes:
		return ServerOpenStack
	case SourceClusters, SourceMachines, SourceLCMClusters, SourceLCMMachines, SourceDrains, SourcePlans, SourceGroups, SourceAutoPauses,
		SourceReboots, SourceReleases, SourceManagementUpgrades:
		return ServerManagement
	}
	return ServerKubernetes
}

// SourceState is how a source does.
type SourceState string

// forActing tells whether the source is watched only where Lockstep plays the OpenStack controller.
func (id SourceID) forActing() bool {
	return id == SourceClaims || id == SourceRedisClaims || id == SourceLocalVolumes
}

// The states of a source.
const (
	SourceConnecting SourceState = "connecting" // nothing has arrived yet
	SourceLive       SourceState = "live"
	SourceStale      SourceState = "stale"     // what it showed last stays on the screen, with its age
	SourceAbsent     SourceState = "absent"    // the API does not know the resource (a missing CRD)
	SourceForbidden  SourceState = "forbidden" // 403
	SourceFailed     SourceState = "failed"    // anything else, an unreachable server and a refused login among it
	SourceOff        SourceState = "off"       // not configured: no clouds.yaml, say, or no management cluster
)

// Source is one stream of facts and how it does. Its times are the wall clock's, not the cluster's.
type Source struct {
	ID    SourceID
	State SourceState
	Since time.Time // when it came into this state
	AsOf  time.Time // when the server last confirmed what is known: an event, a bookmark, an answer; zero for never
	Err   *APIError // why it is not live; nil when it is
	Next  time.Time // when it will be tried again; zero when unknown
}

// ErrorKind is what an API's refusal means, whatever server said it.
type ErrorKind string

// The kinds of errors.
const (
	ErrForbidden       ErrorKind = "forbidden"         // 403
	ErrUnauthorized    ErrorKind = "login refused"     // 401: the login was refused or has expired
	ErrNotFound        ErrorKind = "not found"         // 404
	ErrConflict        ErrorKind = "conflict"          // 409, or a JSON patch whose test failed
	ErrInvalid         ErrorKind = "invalid"           // 400, 422
	ErrTooManyRequests ErrorKind = "too many requests" // 429
	ErrServer          ErrorKind = "server error"      // 5xx
	ErrTimeout         ErrorKind = "timeout"           // no answer in time: the call may have been carried out all the same
	ErrUnreachable     ErrorKind = "unreachable"       // no connection
	ErrConfiguration   ErrorKind = "configuration"     // a broken kubeconfig, a missing clouds.yaml, an unknown context
	ErrUnsupported     ErrorKind = "unsupported"       // the cloud is too old for it
	// any other: a refusal where its Status says so (4xx), else an answer that is not the API's
	ErrOther ErrorKind = "error"
)

// APIError is a call that did not do what was asked, in words for the operator. Adapters make them; nothing in it is
// secret, and nothing in it was sanitised for a terminal.
type APIError struct {
	Kind    ErrorKind
	Server  Server
	Call    string // what was being done, "list nodes", "live-migrate web-1 (0ab4dd8f)"
	Message string // the server's own words, cut to 4 KiB
	Remedy  string // what the operator can do; may be empty
	Status  int    // the HTTP status; 0 when there was no answer
	Err     error  // the cause; may be nil

	After time.Duration // how long the server asks to wait before the next try; 0 when it asks for nothing
}

// Error is "call: kind: message".
func (e *APIError) Error() string {
	if e.Message == "" {
		return fmt.Sprintf("%s: %s", e.Call, e.Kind)
	}
	return fmt.Sprintf("%s: %s: %s", e.Call, e.Kind, e.Message)
}

// Unwrap is the cause.
func (e *APIError) Unwrap() error { return e.Err }

// Uncertain tells whether the call may have been carried out although it failed: the answer was lost, or is none that the API gives
// (a status that was not expected, a body that cannot be read). Only a refusal is certain.
func (e *APIError) Uncertain() bool {
	switch e.Kind {
	case ErrTimeout, ErrUnreachable, ErrServer:
		return true
	case ErrOther:
		return e.Status < 400
	}
	return false
}

// Delta is news from one source: objects that came, changed or went, or that the source itself does better or worse.
type Delta struct {
	Source SourceID
	At     time.Time // wall time at which the server said it

	// State, when not empty, is the source's new state; Err says why it is not live, Next when it is tried again.
	State SourceState
	Err   *APIError
	Next  time.Time

	// Replace says that Upserts is the whole list: what is not in it is gone. With Host, it is the whole list of that
	// host's objects only (instances of a host).
	Replace bool
	Host    string
	Upserts []Object
	Deletes []string // keys

	// Touch says only that the server confirmed what is known (a bookmark, an empty delta list).
	Touch bool
}

// Known tells whether what the source shows can be taken for the whole truth as of some moment: it has answered once, and
// not merely begun to.
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
	case src.State == SourceOff && src.Err != nil && src.Err.Kind == ErrForbidden:
		return "only operators may read it (deploy/rbac-operator.yaml)"
	case src.State == SourceForbidden && src.Err != nil && id.forActing():
		return "you may not " + wording.OneLine(src.Err.Call, 120) + " (deploy/rbac-maintenance.yaml)"
	case src.State == SourceOff:
		return "not configured"
	case src.State == SourceConnecting || src.State == SourceLive:
		return "nothing has arrived yet"
	case src.State == SourceAbsent:
		return "the API does not have the resource"
	}
	if e := src.Trouble(); e != nil {
		return e.Cause()
	}
	return string(src.State)
}

// Fresh tells whether the source is live and was confirmed recently enough to write on, and what to say of its age.
func (s *Snapshot) Fresh(id SourceID) (bool, string) {
	src, ok := s.Sources[id]
	if !ok || src.AsOf.IsZero() {
		return false, fmt.Sprintf("%s: %s", id, s.WhyUnknown(id))
	}
	old := max(s.Wall.Sub(src.AsOf), 0).Truncate(time.Second)
	text := fmt.Sprintf("%s %s", id, wording.SpanText(old))
	switch {
	case src.State != SourceLive:
		return false, fmt.Sprintf("%s: %s since %s", id, src.State, wording.SpanText(max(s.Wall.Sub(src.Since), 0)))
	case old > s.Settings.StaleAfterOf(id):
		return false, text + " old"
	}
	return true, text
}
