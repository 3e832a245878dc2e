package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/services"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maintenanceReason is the disabled_reason by which the controller knows its own work again.
const maintenanceReason = "OSDPL: Node is under maintenance"

// Maintenance actions of an instance, as its tag says them.
const (
	tagPrefix     = "openstack.lcm.mirantis.com:maintenance_action="
	actionLive    = "live_migrate"
	actionOff     = "poweroff"
	actionNotify  = "notify"
	defaultMode   = "live"
	defaultRounds = 3
)

// actionOfMode is NODE_MAINTENANCE_TO_INSTANCE_MAINTENANCE: what a node's migration mode means for its instances. A mode
// that is not in it makes the handler fail, as a KeyError does in the real one.
var actionOfMode = map[string]string{"live": actionLive, "manual": actionNotify, "skip": actionOff}

// nodeConfig is what the annotations of a node say about its instances.
type nodeConfig struct {
	action   string // for instances without a say of their own
	attempts int
}

func readNodeConfig(node *corev1.Node) (nodeConfig, error) {
	mode, attempts := defaultMode, defaultRounds
	if value, ok := node.Annotations[annotationMode]; ok {
		mode = value
	}
	if value, ok := node.Annotations[annotationAttempts]; ok {
		n, err := strconv.Atoi(value)
		if err != nil {
			return nodeConfig{}, fmt.Errorf("node %s: annotation %s: %w", node.Name, annotationAttempts, err)
		}
		attempts = n
	}
	action, ok := actionOfMode[mode]
	if !ok {
		return nodeConfig{}, fmt.Errorf("node %s: annotation %s: no mode %q", node.Name, annotationMode, mode)
	}
	return nodeConfig{action: action, attempts: attempts}, nil
}

// instanceAction is what happens to an instance: what its one recognised tag says, else what its node's mode does.
func instanceAction(server *servers.Server, fallback string) string {
	var recognised []string
	if server.Tags != nil {
		for _, action := range []string{actionLive, actionOff, actionNotify} {
			if slices.Contains(*server.Tags, tagPrefix+action) {
				recognised = append(recognised, action)
			}
		}
	}
	if len(recognised) == 1 {
		return recognised[0]
	}
	return fallback
}

// isCompute tells whether instances may run on the node.
func (v visit) isCompute() bool { return slices.Contains(rolesOf(v.node), roleCompute) }

// zoneAllows lets only computes of one availability zone be in maintenance at a time: the zone of the first one that is.
func (v visit) zoneAllows(ctx context.Context) (bool, error) {
	if v.IgnoreZones || !v.isCompute() {
		return true, nil
	}
	inMaintenance, err := v.inMaintenance(ctx)
	if err != nil {
		return false, err
	}
	for _, node := range inMaintenance {
		if !slices.Contains(rolesOf(node), roleCompute) {
			continue
		}
		if node.Name == v.node.Name {
			return true, nil // by the order of the locks, the first is the node itself
		}
		mine, err := v.computeService(ctx, v.node.Name)
		if err != nil {
			return false, err
		}
		first, err := v.computeService(ctx, node.Name)
		if err != nil {
			return false, err
		}
		if mine.Zone != first.Zone {
			v.log.Info(fmt.Sprintf("Do not allow handline nmr for node: %s. Node az %s does not match hosts that currently in maintenance %s", v.node.Name, mine.Zone, first.Zone))
			return false, nil
		}
		return true, nil
	}
	return true, nil
}

// prepareCompute takes the host out of scheduling and, where it may reboot, empties it.
func (v visit) prepareCompute(ctx context.Context) error {
	if !v.isCompute() {
		return nil
	}
	service, err := v.computeService(ctx, v.node.Name)
	if err == nil && service.Status != string(services.ServiceDisabled) { // who disabled it before has a reason of their own
		err = services.Update(ctx, v.compute, service.ID, services.UpdateOpts{
			Status: services.ServiceDisabled, DisabledReason: maintenanceReason,
		}).Err
	}
	if err != nil {
		v.log.Warn("disable nova-compute", "host", v.node.Name, "error", err)
		return v.sayLater(ctx, "Can not disable compute service on a host to be deleted") // L
	}
	if requestScope(v.request) != ScopeOS {
		return nil
	}
	err = v.evacuate(ctx)
	if err != nil && !temporary(err) && isOpenStackError(err) {
		return v.sayLater(ctx, "Retrying migrate instances from host. Cannot execute openstack commands, error: %s", err) // K
	}
	return err
}

// evacuate live-migrates the instances whose action that is, as often as the node allows, and then looks at who is left.
// It counts the tries of this run only: a retried handler starts from one again.
func (v visit) evacuate(ctx context.Context) error {
	node, err := v.kube.CoreV1().Nodes().Get(ctx, v.node.Name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read node %s: %w", v.node.Name, err)
	}
	config, err := readNodeConfig(node)
	if err != nil {
		return err
	}
	tries := map[string]int{}
	for {
		present, err := v.serversOfHost(ctx)
		if err != nil {
			return err
		}
		var candidates, migrating []string
		for i := range present {
			s := &present[i]
			switch {
			case s.Status == "MIGRATING":
				migrating = append(migrating, s.ID)
			case (s.Status == "ACTIVE" || s.Status == "PAUSED") && s.TaskState != "migrating" &&
				instanceAction(s, config.action) == actionLive && tries[s.ID] < config.attempts:
				candidates = append(candidates, s.ID)
			}
		}
		if len(candidates) == 0 {
			return v.blockers(ctx, present, config)
		}
		if len(migrating) < v.Migrations {
			slices.Sort(candidates)
			id := candidates[v.pick(len(candidates))]
			if err := v.say(ctx, "Starting migration for %s", id); err != nil { // H
				return err
			}
			tries[id]++
			if err := liveMigrate(ctx, v.compute, id); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				if err := v.say(ctx, "Got error while trying to migrate server %s: %s", id, err); err != nil { // I
					return err
				}
			}
			if err := v.clock.Sleep(ctx, v.timing.MigrateStart); err != nil {
				return err
			}
		} else {
			if err := v.say(ctx, "Waiting servers migration is completed: %s", pyList(migrating)); err != nil { // H
				return err
			}
			if err := v.clock.Sleep(ctx, v.timing.MigrateWait); err != nil {
				return err
			}
		}
		if err := v.clock.Sleep(ctx, v.timing.MigrateLoop); err != nil {
			return err
		}
	}
}

// blockers refuses the node while an instance is on it that must not go down with the host. An instance that is just
// migrating is still on it, and is named too.
func (v visit) blockers(ctx context.Context, present []servers.Server, config nodeConfig) error {
	safeStates := []string{"building", "deleted", "soft_deleted", "stopped", "suspended", "shelved", "shelve_offloaded"}
	safePower := []servers.PowerState{servers.SHUTDOWN, servers.CRASHED, servers.SUSPENDED}
	var notify, other []string
	for i := range present {
		s := &present[i]
		action := instanceAction(s, config.action)
		if slices.Contains(safeStates, s.VmState) || slices.Contains(safePower, s.PowerState) || action == actionOff {
			continue
		}
		if action == actionNotify {
			notify = append(notify, s.ID)
		} else {
			other = append(other, s.ID)
		}
	}
	if len(notify)+len(other) == 0 {
		return nil
	}
	message := "Some servers are still present on the host." // J
	if len(notify) > 0 {
		message += " Notify owners of the following server: " + pyList(notify)
	}
	if len(other) > 0 {
		message += " Servers with unset maintenance action: " + pyList(other)
	}
	return v.sayLater(ctx, "%s", message)
}

// restoreCompute waits for nova-compute and lets the scheduler have it again, if it was the controller that took it away.
func (v visit) restoreCompute(ctx context.Context) error {
	if !v.isCompute() {
		return nil
	}
	limit := v.clock.Now().Add(v.timing.ServicesUp)
	for {
		service, err := v.computeService(ctx, v.node.Name)
		switch {
		case err != nil:
			return v.sayLater(ctx, "Got error while waiting services to be UP on the host. Cannot execute openstack commands, error: %s", err) // N
		case service.State == "up":
			if service.Status != string(services.ServiceDisabled) || service.DisabledReason != maintenanceReason {
				return nil
			}
			if err := services.Update(ctx, v.compute, service.ID, services.UpdateOpts{Status: services.ServiceEnabled}).Err; err != nil {
				return v.sayLater(ctx, "Can not bring node back to scheduling. Cannot execute openstack commands, error: %s", err) // O
			}
			return nil
		case !v.clock.Now().Before(limit):
			return v.sayLater(ctx, "Timeout waiting for compute services up on the host.") // M
		}
		if err := v.clock.Sleep(ctx, max(v.timing.ReturnPoll, time.Millisecond)); err != nil {
			return err
		}
	}
}

// computeService is the nova-compute of a host.
func (r *rockoon) computeService(ctx context.Context, host string) (services.Service, error) {
	pages, err := services.List(r.compute, services.ListOpts{Binary: "nova-compute", Host: host}).AllPages(ctx)
	if err != nil {
		return services.Service{}, fmt.Errorf("list the compute services of %s: %w", host, err)
	}
	all, err := services.ExtractServices(pages)
	if err != nil {
		return services.Service{}, fmt.Errorf("read the compute services of %s: %w", host, err)
	}
	if len(all) == 0 {
		return services.Service{}, fmt.Errorf("no nova-compute on host %s", host)
	}
	return all[0], nil
}

// serversOfHost are all projects' servers on the node.
func (v visit) serversOfHost(ctx context.Context) ([]servers.Server, error) {
	pages, err := servers.List(v.compute, servers.ListOpts{AllTenants: true, Host: v.node.Name}).AllPages(ctx)
	if err != nil {
		return nil, openstackError{fmt.Errorf("list the servers of %s: %w", v.node.Name, err)}
	}
	all, err := servers.ExtractServers(pages)
	if err != nil {
		return nil, openstackError{fmt.Errorf("read the servers of %s: %w", v.node.Name, err)}
	}
	return all, nil
}

// openstackError marks what the real controller knows as an SDKException.
type openstackError struct{ error }

func (e openstackError) Unwrap() error { return e.error }

func isOpenStackError(err error) bool {
	var marked openstackError
	return errors.As(err, &marked)
}

// liveToAny asks for a live migration to wherever the scheduler likes.
type liveToAny struct{}

// ToLiveMigrateMap is the body since microversion 2.25; gophercloud's own form cannot say "auto".
func (liveToAny) ToLiveMigrateMap() (map[string]any, error) {
	return map[string]any{"os-migrateLive": map[string]any{"host": nil, "block_migration": "auto"}}, nil
}

func liveMigrate(ctx context.Context, compute *gophercloud.ServiceClient, id string) error {
	return servers.LiveMigrate(ctx, compute, id, liveToAny{}).ExtractErr()
}
