package controller

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/services"
	"github.com/gophercloud/gophercloud/v2/pagination"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// maintenanceReason is the disabled_reason by which the controller recognises its own work.
const maintenanceReason = "OSDPL: Node is under maintenance"

// Maintenance actions of an instance, as in its tag.
const (
	tagKey        = "openstack.lcm.mirantis.com:maintenance_action"
	actionLive    = "live_migrate"
	actionOff     = "poweroff"
	actionNotify  = "notify"
	defaultMode   = "live"
	defaultRounds = 3
)

// actionOfMode is NODE_MAINTENANCE_TO_INSTANCE_MAINTENANCE, in its order: what a node's migration mode means for its
// instances.
var actionOfMode = []struct{ mode, action string }{
	{"skip", actionOff}, {"manual", actionNotify}, {"live", actionLive},
}

// nodeConfig holds what the annotations of a node say about its instances.
type nodeConfig struct {
	mode     string // for instances without an action of their own
	attempts int
}

func readNodeConfig(node *corev1.Node) (nodeConfig, error) {
	config := nodeConfig{mode: defaultMode, attempts: defaultRounds}
	if value, ok := node.Annotations[annotationMode]; ok {
		config.mode = value
	}
	if value, ok := node.Annotations[annotationAttempts]; ok {
		n, err := strconv.Atoi(value)
		if err != nil {
			return nodeConfig{}, exception{"ValueError", "invalid literal for int() with base 10: " + pyString(value)}
		}
		config.attempts = n
	}
	return config, nil
}

// instanceAction is the maintenance action of an instance: from its one recognised tag, otherwise from its node's
// migration mode. An unknown mode is a KeyError, but only once an instance needs it.
func (e *env) instanceAction(server *servers.Server, mode string) (string, error) {
	var recognised []string
	if server.Tags != nil {
		for _, known := range actionOfMode {
			if slices.Contains(*server.Tags, tagKey+"="+known.action) {
				recognised = append(recognised, known.action)
			}
		}
	}
	switch {
	case len(recognised) == 1:
		return recognised[0], nil
	case len(recognised) > 1:
		e.log.Warn(fmt.Sprintf("Instance %s has multiple %s tags: %s. Fallback to the default action.", server.ID, tagKey, pyList(recognised)))
	}
	for _, known := range actionOfMode {
		if known.mode == mode {
			return known.action, nil
		}
	}
	return "", exception{"KeyError", pyString(mode)}
}

// zoneAllows limits maintenance to computes of one availability zone at a time: the zone of the first compute in
// maintenance, in the order of the locks. That may be the node itself.
func (v visit) zoneAllows(ctx context.Context) (bool, error) {
	if v.IgnoreZones || !v.is(roleCompute) {
		return true, nil
	}
	mine, err := v.computeService(ctx, v.name)
	if err != nil {
		return false, err
	}
	inMaintenance, err := v.inMaintenance(ctx)
	if err != nil {
		return false, err
	}
	first := slices.IndexFunc(inMaintenance, func(node *corev1.Node) bool { return v.roles.has(node.Labels, roleCompute) })
	if first < 0 {
		return true, nil
	}
	other, err := v.computeService(ctx, inMaintenance[first].Name)
	if err != nil {
		return false, err
	}
	if mine.Zone != other.Zone {
		v.log.Info(fmt.Sprintf("Do not allow handline nmr for node: %s. Node az %s does not match hosts that currently in maintenance %s", v.name,
			mine.Zone, other.Zone))
		return false, nil
	}
	return true, nil
}

// prepareCompute disables the host's compute service and, if the host may reboot, evacuates it.
func (v visit) prepareCompute(ctx context.Context) error {
	if !v.is(roleCompute) {
		return nil
	}
	if err := v.disableCompute(ctx); err != nil {
		return err
	}
	if reboot, err := rebootPossible(v.request); err != nil || !reboot {
		return err
	}
	v.log.Info("The reboot is possible, migrating workloads")
	err := v.evacuate(ctx)
	if isOpenStackError(err) && !temporary(err) {
		return v.sayLater(ctx, "Retrying migrate instances from host. Cannot execute openstack commands, error: %s", sdkText(err)) // K
	}
	return err
}

// disableCompute disables the host's compute service. A service that was already disabled keeps its reason.
func (v visit) disableCompute(ctx context.Context) error {
	service, err := v.computeService(ctx, v.name)
	if err == nil && service.Status != string(services.ServiceDisabled) {
		err = openstackErr("disable nova-compute of "+v.name, services.Update(ctx, v.compute, service.ID, services.UpdateOpts{
			Status: services.ServiceDisabled, DisabledReason: maintenanceReason,
		}).Err)
	}
	if isOpenStackError(err) {
		v.log.Error("Cannot execute openstack commands, error: " + sdkText(err))
		return v.sayLater(ctx, "Can not disable compute service on a host to be deleted") // L
	}
	return err
}

// evacuate live-migrates the instances with that action, as often as the node allows, and then looks at those left. It
// counts only the tries of this run: a retried handler starts from one again and rereads the node's annotations.
func (v visit) evacuate(ctx context.Context) error {
	node, err := v.kube.CoreV1().Nodes().Get(ctx, v.name, metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("read node %s: %w", v.name, err)
	}
	config, err := readNodeConfig(node)
	if err != nil {
		return err
	}
	chance := v.chance(v.name)
	tries := map[string]int{}
	for {
		present, err := v.serversOfHost(ctx)
		if err != nil {
			return err
		}
		candidates, migrating, err := v.sort(present, config, tries)
		if err != nil {
			return err
		}
		if len(candidates) == 0 {
			return v.blockers(ctx, present, config)
		}
		if len(migrating) < v.Migrations {
			id := candidates[chance.IntN(len(candidates))]
			if err := v.say(ctx, "Starting migration for %s", id); err != nil { // H
				return err
			}
			tries[id]++
			if err := liveMigrate(ctx, v.compute, id); err == nil {
				err = v.clock.Sleep(ctx, v.timing.MigrateStart)
				if err != nil {
					return err
				}
			} else if ctx.Err() != nil {
				return ctx.Err()
			} else if err := v.say(ctx, "Got error while trying to migrate server %s: %s", id, sdkText(err)); err != nil { // I
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

// sort returns the instances to migrate, by ID, and those that are migrating.
func (v visit) sort(present []servers.Server, config nodeConfig, tries map[string]int) (candidates, migrating []string, err error) {
	for i := range present {
		s := &present[i]
		switch {
		case s.Status == "MIGRATING":
			migrating = append(migrating, s.ID)
		case (s.Status == "ACTIVE" || s.Status == "PAUSED") && s.TaskState != "migrating":
			action, err := v.instanceAction(s, config.mode)
			if err != nil {
				return nil, nil, err
			}
			if action == actionLive && tries[s.ID] < config.attempts {
				candidates = append(candidates, s.ID)
			}
		}
	}
	slices.Sort(candidates)
	return candidates, migrating, nil
}

// States in which an instance may stop with its host.
var (
	safeStates = []string{"building", "deleted", "soft_deleted", "stopped", "suspended", "shelved", "shelve_offloaded"}
	safePower  = []servers.PowerState{servers.SHUTDOWN, servers.CRASHED, servers.SUSPENDED}
)

// blockers refuses the node while it has an instance that must not stop with the host. A migrating instance is still on
// the host, so it is listed too.
func (v visit) blockers(ctx context.Context, present []servers.Server, config nodeConfig) error {
	var notify, other []string
	for i := range present {
		s := &present[i]
		if slices.Contains(safeStates, s.VmState) || slices.Contains(safePower, s.PowerState) {
			continue
		}
		switch action, err := v.instanceAction(s, config.mode); {
		case err != nil:
			return err
		case action == actionNotify:
			notify = append(notify, s.ID)
		case action != actionOff:
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

// restoreCompute waits for nova-compute and enables its service again, if the controller disabled it.
func (v visit) restoreCompute(ctx context.Context) error {
	if !v.is(roleCompute) {
		return nil
	}
	limit := v.clock.Now().Add(v.timing.ServicesUp)
	for {
		all, err := v.computeServices(ctx, v.name, "nova-compute")
		if err != nil {
			// N
			return v.sayLater(ctx, "Got error while waiting services to be UP on the host. Cannot execute openstack commands, error: %s",
				sdkText(err))
		}
		if v.LooksOnce || len(all) > 0 && !slices.ContainsFunc(all, func(s services.Service) bool { return s.State != "up" }) {
			break
		}
		if !v.clock.Now().Before(limit) {
			return v.sayLater(ctx, "Timeout waiting for compute services up on the host.") // M
		}
		if err := v.clock.Sleep(ctx, max(v.timing.ReturnPoll, time.Millisecond)); err != nil {
			return err
		}
	}
	service, err := v.computeService(ctx, v.name)
	if err == nil && service.DisabledReason == maintenanceReason && service.Status != string(services.ServiceEnabled) {
		err = openstackErr("enable nova-compute of "+v.name,
			services.Update(ctx, v.compute, service.ID, services.UpdateOpts{Status: services.ServiceEnabled}).Err)
	}
	if isOpenStackError(err) {
		return v.sayLater(ctx, "Can not bring node back to scheduling. Cannot execute openstack commands, error: %s", sdkText(err)) // O
	}
	return err
}

// surrenderCompute disables the compute service of a host that will be deleted, and refuses while any instance is on
// it.
func (v visit) surrenderCompute(ctx context.Context) error {
	if !v.is(roleCompute) {
		return nil
	}
	if err := v.disableCompute(ctx); err != nil || v.SkipServers {
		return err
	}
	present, err := v.serversOfHost(ctx)
	if err != nil || len(present) == 0 {
		return err
	}
	var states []pyPair
	for i := range present {
		states = append(states, pyPair{present[i].ID, pyString(present[i].Status)})
	}
	// S
	return v.sayLater(ctx, "Some servers %s are still present on host %s. Blocking node removal unless they removed or migrated.",
		pyPairs(states), v.name)
}

// forgetCompute removes the compute services of a host that is gone, once they are down. Nova removes the host's
// resource provider with them.
func (v visit) forgetCompute(ctx context.Context) error {
	for {
		all, err := v.computeServices(ctx, v.name, "")
		if err != nil {
			return err
		}
		v.log.Info("Waiting 30 for compute services are down on the " + v.name)
		if err := v.clock.Sleep(ctx, v.timing.CleanupPoll); err != nil {
			return err
		}
		if slices.ContainsFunc(all, func(s services.Service) bool { return s.State != "down" }) {
			continue
		}
		for _, s := range all {
			if err := services.Delete(ctx, v.compute, s.ID).ExtractErr(); err != nil && !gophercloud.ResponseCodeIs(err, 404) {
				return openstackErr("delete "+s.Binary+" of "+v.name, err)
			}
		}
		return nil
	}
}

// computeService returns the nova-compute of a host; if it is missing, the controller raises an exception.
func (r *rockoon) computeService(ctx context.Context, host string) (services.Service, error) {
	all, err := r.computeServices(ctx, host, "nova-compute")
	if err != nil {
		return services.Service{}, err
	}
	if len(all) == 0 {
		return services.Service{}, exception{"IndexError", "list index out of range"}
	}
	return all[0], nil
}

// computeServices returns Nova's services of a host; an empty binary means all.
func (r *rockoon) computeServices(ctx context.Context, host, binary string) ([]services.Service, error) {
	pages, err := services.List(r.compute, services.ListOpts{Binary: binary, Host: host}).AllPages(ctx)
	if err != nil {
		return nil, openstackErr("list the compute services of "+host, err)
	}
	all, err := services.ExtractServices(pages)
	return all, openstackErr("read the compute services of "+host, err)
}

// serversOfHost returns the servers of all projects on the node, with what the controller looks at: ID, states and tags.
func (v visit) serversOfHost(ctx context.Context) ([]servers.Server, error) {
	var all []servers.Server
	err := servers.List(v.compute, servers.ListOpts{AllTenants: true, Host: v.name}).WithPageCreator(asServersPage).EachPage(ctx,
		func(_ context.Context, page pagination.Page) (bool, error) {
			for _, one := range page.(serversPage).list {
				fields, ok := one.(map[string]any)
				if !ok {
					return false, errors.New("a server is not an object")
				}
				all = append(all, serverOf(fields))
			}
			return true, nil
		})
	return all, openstackErr("list the servers of "+v.name, err)
}

// serversPage is a page of a list of servers as it was decoded. The controller asks every few seconds while a node is evacuated, and
// gophercloud's own page encodes and decodes its whole content anew to tell whether it is empty, and where the next one is.
type serversPage struct {
	body map[string]any
	list []any
	err  error // the answer has no servers
}

func asServersPage(r pagination.PageResult) pagination.Page {
	var page serversPage
	var ok bool
	page.body, _ = r.Body.(map[string]any)
	if page.list, ok = page.body["servers"].([]any); !ok {
		page.err = errors.New("the answer has no servers")
	}
	return page
}

// NextPageURL is where the list goes on; empty at its end.
func (p serversPage) NextPageURL() (string, error) {
	links, _ := p.body["servers_links"].([]any)
	for _, one := range links {
		if link, ok := one.(map[string]any); ok && link["rel"] == "next" {
			return field(link, "href"), nil
		}
	}
	return "", nil
}

// IsEmpty tells whether there are no servers.
func (p serversPage) IsEmpty() (bool, error) { return len(p.list) == 0, p.err }

// GetBody is the whole answer.
func (p serversPage) GetBody() any { return p.body }

// serverOf reads the fields of a server that the controller looks at.
func serverOf(fields map[string]any) servers.Server {
	number, _ := fields["OS-EXT-STS:power_state"].(json.Number) // gophercloud decodes all numbers so
	power, _ := number.Int64()
	s := servers.Server{ID: field(fields, "id"), Status: field(fields, "status"), TaskState: field(fields, "OS-EXT-STS:task_state"),
		VmState: field(fields, "OS-EXT-STS:vm_state"), PowerState: servers.PowerState(power)}
	if tags, ok := fields["tags"].([]any); ok {
		names := make([]string, 0, len(tags))
		for _, one := range tags {
			if name, ok := one.(string); ok {
				names = append(names, name)
			}
		}
		s.Tags = &names
	}
	return s
}

// liveToAny requests a live migration to a host of the scheduler's choice.
type liveToAny struct{}

// ToLiveMigrateMap builds the body since microversion 2.25; gophercloud's own form cannot express "auto".
func (liveToAny) ToLiveMigrateMap() (map[string]any, error) {
	return map[string]any{"os-migrateLive": map[string]any{"host": nil, "block_migration": "auto"}}, nil
}

func liveMigrate(ctx context.Context, compute *gophercloud.ServiceClient, id string) error {
	return servers.LiveMigrate(ctx, compute, id, liveToAny{}).ExtractErr()
}
