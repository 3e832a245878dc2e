// Package sessiontest says of a session and of its simulated cloud what tests ask of both: whether all is known, what is wrong with what
// needs a person, what the cloud holds. It also isolates a test program from the machine.
package sessiontest

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/adrg/xdg"
	"github.com/gophercloud/gophercloud/v2"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/progress"
	"lockstep/core/step"
	"lockstep/kube"
	"lockstep/sim"
)

// Isolate takes from a test program what the machine has of its own: its settings for clusters, clouds and Lockstep, its time zone and
// client-go's log. Parallel tests can set none of them, as they belong to the whole process. The function that it returns removes the home
// folder that the program has instead.
func Isolate() (remove func()) {
	time.Local = time.UTC
	home, err := os.MkdirTemp("", "lockstep-test-")
	if err != nil {
		panic(err)
	}
	for _, name := range ownEnvironment {
		os.Unsetenv(name)
	}
	for name, folder := range map[string]string{"HOME": "", "XDG_CONFIG_HOME": ".config", "XDG_STATE_HOME": ".state"} {
		os.Setenv(name, filepath.Join(home, folder))
	}
	xdg.Reload()
	kube.RedirectLogs(slog.New(slog.DiscardHandler))
	return func() { os.RemoveAll(home) }
}

// ownEnvironment are the variables by which the machine's own environment chooses the cluster and the cloud, and configures
// Lockstep.
var ownEnvironment = []string{"KUBECONFIG", "OS_CLOUD", "OS_CLIENT_CONFIG_FILE", "OS_AUTH_URL", "KUBERNETES_SERVICE_HOST",
	"LOCKSTEP_CONFIG", "LOCKSTEP_THEME"}

// AllKnown tells whether every source has answered; the management cluster's may be off.
func AllKnown(s *core.Snapshot) bool {
	for _, src := range s.Sources {
		if src.State != core.SourceLive && src.ID.Server() != core.ServerManagement {
			return false
		}
	}
	return true
}

// SourceTexts are the states of all sources, a line each.
func SourceTexts(s *core.Snapshot) string {
	var b strings.Builder
	if s == nil {
		return "unknown"
	}
	for _, id := range slices.Sorted(maps.Keys(s.Sources)) {
		src := s.Sources[id]
		fmt.Fprintf(&b, "  %s %s, %v\n", id, src.State, src.Err)
	}
	return b.String()
}

// Urgency returns what is wrong with the urgency of the nodes; empty when nothing is. A node has at most one urgent entry about
// itself. A node that waits for the operator, or that failed, has an entry, or somebody deals with it.
func Urgency(s *core.Snapshot) string {
	urgent, seenTo := map[string][]string{}, map[string]bool{}
	for _, a := range attention.Of(s) {
		if a.Severity == core.SeverityUrgent && a.Instance == "" && a.Node != "" {
			urgent[a.Node] = append(urgent[a.Node], a.ID+" ("+a.Reason+")")
		}
		seenTo[a.Node] = seenTo[a.Node] || a.Severity >= core.SeverityWarning || strings.HasPrefix(a.Hint, "wait: ")
	}
	for _, v := range progress.NodeViews(s) {
		if len(urgent[v.Name]) > 1 {
			return v.Label + " has several urgent entries: " + strings.Join(urgent[v.Name], ", ")
		}
		if (v.Stage == core.StageWaiting || v.Stage == core.StageFailed) && AllKnown(s) && !seenTo[v.Name] {
			return v.Label + " is " + string(v.Stage) + " (" + v.Reason + "), and nothing is told of it"
		}
	}
	return ""
}

// OfferedOnOldFacts returns a node that is offered, on facts from before its return, what the OpenStack controller has done on
// that return; empty when there is none.
func OfferedOnOldFacts(s *core.Snapshot) string {
	for _, v := range progress.NodeViews(s) {
		if v.Node == nil || v.Service == nil || v.Service.Enabled || v.Service.DisabledReason != core.DisabledReasonMaintenance {
			continue
		}
		round, asked := s.History.Rounds[v.Node.UID], s.Wall.Sub(s.Sources[core.SourceComputeServices].AsOf)
		if round.Ended.IsZero() || s.Now.Sub(round.Ended) >= asked {
			continue
		}
		if st := step.Plan(s, core.Intent{Kind: core.IntentEnableCompute, Node: v.Name}); st.Doable() {
			return v.Label + " is offered to be enabled by what was known before its return"
		}
	}
	return ""
}

// The resources of MOSK's maintenance API.
var (
	NodeRequests    = LCM("nodemaintenancerequests")
	ClusterRequests = LCM("clustermaintenancerequests")
	NodeLocks       = LCM("nodeworkloadlocks")
	ClusterLocks    = LCM("clusterworkloadlocks")
)

// LCM is a resource of MOSK's maintenance API, by its plural.
func LCM(plural string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "lcm.mirantis.com", Version: "v1alpha1", Resource: plural}
}

// Service is a service of Nova or Cinder, as their administrator sees it.
type Service struct {
	Binary, Host, Status string
	Reason               string `json:"disabled_reason"`
}

// Services returns the services of the cloud, asked for now.
func Services(ctx context.Context, cloud *sim.Cloud) (all []Service, err error) {
	options := cloud.Controllers()
	for _, client := range []*gophercloud.ServiceClient{options.Compute, options.Volume} {
		var found struct{ Services []Service }
		if _, err := client.Get(ctx, client.ServiceURL("os-services"), &found, nil); err != nil {
			return nil, err
		}
		all = append(all, found.Services...)
	}
	return all, nil
}
