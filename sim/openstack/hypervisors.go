package openstack

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// computeHosts returns the hosts with a compute service, in the order of their creation.
func (c *Cloud) computeHosts() []*host {
	return slices.DeleteFunc(slices.Clone(c.hostOrder), func(h *host) bool { return h.compute == nil })
}

func listHypervisors(k *call) reply       { return k.hypervisors(false) }
func listHypervisorsDetail(k *call) reply { return k.hypervisors(true) }

func (k *call) hypervisors(detail bool) reply {
	hosts := k.c.computeHosts()
	limit, marker, no := math.MaxInt, "", (*reply)(nil)
	if k.mv.atLeast(33) {
		if limit, marker, no = k.page(); no != nil {
			return *no
		}
	}
	if no := k.onlyQuery(53, "hypervisor_hostname_pattern", "with_servers", "limit", "marker"); no != nil {
		return *no
	}
	pattern, withServers := "", false
	if k.mv.atLeast(53) {
		pattern, withServers = k.query.Get("hypervisor_hostname_pattern"), flag(k.query, "with_servers")
	}
	if pattern != "" {
		if k.query.Has("limit") || marker != "" {
			return badRequest("Paging over hypervisors with the hypervisor_hostname_pattern query parameter is not supported.")
		}
		hosts = slices.DeleteFunc(hosts, func(h *host) bool { return !strings.Contains(h.Name, pattern) })
		if len(hosts) == 0 {
			return missing("No hypervisor matching '%s' could be found.", pattern)
		}
	}
	if marker != "" {
		i := slices.IndexFunc(hosts, func(h *host) bool { return h.uuid == marker || fmt.Sprint(h.number) == marker })
		if i < 0 {
			return badRequest("marker [%s] not found", marker)
		}
		hosts = hosts[i+1:]
	}
	items := []object{}
	for _, h := range hosts[:min(limit, len(hosts))] {
		items = append(items, k.hypervisorView(h, detail, withServers))
	}
	body := object{"hypervisors": items}
	if n := len(items); n > 0 && pattern == "" {
		k.next(body, "hypervisors_links", n, limit, fmt.Sprint(items[n-1]["id"]))
	}
	return ok(body)
}

func (k *call) hypervisorView(h *host, detail, withServers bool) object {
	v := object{"id": h.number, "hypervisor_hostname": h.Name, "state": k.stateOf(h.compute), "status": h.compute.status()}
	svc := object{"id": h.compute.number, "host": h.Name, "disabled_reason": orNull(h.compute.reason)}
	if k.mv.atLeast(53) {
		v["id"], svc["id"] = h.uuid, h.compute.uuid
	}
	if withServers {
		if list := k.serverNames(h); len(list) > 0 || k.mv.atLeast(75) {
			v["servers"] = list
		}
	}
	if !detail {
		return v
	}
	v["service"], v["hypervisor_type"], v["hypervisor_version"], v["host_ip"] = svc, "QEMU", 6002000, h.address
	if k.mv.atLeast(88) {
		v["uptime"] = k.uptime(h)
		return v
	}
	cpu := object{"arch": "x86_64", "model": "Cascadelake-Server", "vendor": "Intel", "features": []string{"vmx", "avx2"},
		"topology": object{"cells": 1, "sockets": 2, "cores": max(h.VCPUs/4, 1), "threads": 2}}
	v["cpu_info"] = any(cpu)
	if !k.mv.atLeast(28) {
		v["cpu_info"] = `{"arch":"x86_64","model":"Cascadelake-Server","vendor":"Intel","features":["vmx","avx2"],"topology":{"cells":1,` +
			`"sockets":2,"cores":` +
			strconv.Itoa(max(h.VCPUs/4, 1)) + `,"threads":2}}`
	}
	for name, n := range h.figures() {
		v[name] = n
	}
	return v
}

// figures returns what a hypervisor has and uses, with what the host takes itself.
func (h *host) figures() map[string]int {
	return map[string]int{
		"vcpus": h.VCPUs, "vcpus_used": h.usedCPU, "memory_mb": h.RAM, "memory_mb_used": h.usedRAM + reservedRAM,
		"free_ram_mb": h.RAM - h.usedRAM - reservedRAM, "local_gb": h.Disk, "local_gb_used": h.usedDisk, "free_disk_gb": h.Disk - h.usedDisk,
		"disk_available_least": h.Disk - h.usedDisk, "running_vms": len(h.servers), "current_workload": len(h.live),
	}
}

func (k *call) serverNames(h *host) []object {
	list := []object{}
	for _, s := range k.c.serversOn(h) {
		list = append(list, object{"name": s.name, "uuid": s.id})
	}
	return list
}

// uptime is the line of uptime(1), or null while the compute service does not answer.
func (k *call) uptime(h *host) any {
	if !k.c.up(h.compute, k.now) {
		return nil
	}
	up := k.now.Sub(h.created)
	return fmt.Sprintf(" %s up %d days, %2d:%02d,  0 users,  load average: 1.52, 1.61, 1.58\n", k.now.Format("15:04:05"),
		int(up.Hours())/24, int(up.Hours())%24, int(up.Minutes())%60)
}

// hypervisor returns the host in the path: by UUID from 2.53 on, by number before.
func (k *call) hypervisor() (*host, *reply) {
	id := k.r.PathValue("id")
	if k.mv.atLeast(53) && !uuidForm.MatchString(id) {
		r := badRequest("Invalid uuid %s", id)
		return nil, &r
	}
	for _, h := range k.c.computeHosts() {
		if k.mv.atLeast(53) && h.uuid == id || !k.mv.atLeast(53) && strconv.Itoa(h.number) == id {
			return h, nil
		}
	}
	r := missing("Hypervisor with ID '%s' could not be found.", id)
	return nil, &r
}

func showHypervisor(k *call) reply {
	h, no := k.hypervisor()
	if no != nil {
		return *no
	}
	return ok(object{"hypervisor": k.hypervisorView(h, true, k.mv.atLeast(53) && flag(k.query, "with_servers"))})
}

func hypervisorUptime(k *call) reply {
	h, no := k.hypervisor()
	if no != nil {
		return *no
	}
	line := k.uptime(h)
	if line == nil {
		return badRequest("%s", unavailable(h.Name))
	}
	v := k.hypervisorView(h, false, false)
	v["uptime"] = line
	return ok(object{"hypervisor": v})
}

// searchHypervisors is GET /os-hypervisors/{pattern}/search, as before 2.53.
func searchHypervisors(k *call) reply { return k.hypervisorsLike(false) }

// hypervisorServers is GET /os-hypervisors/{pattern}/servers, as before 2.53.
func hypervisorServers(k *call) reply { return k.hypervisorsLike(true) }

func (k *call) hypervisorsLike(withServers bool) reply {
	pattern := k.r.PathValue("id")
	items := []object{}
	for _, h := range k.c.computeHosts() {
		if strings.Contains(h.Name, pattern) {
			v := k.hypervisorView(h, false, false)
			if list := k.serverNames(h); withServers && len(list) > 0 {
				v["servers"] = list
			}
			items = append(items, v)
		}
	}
	if len(items) == 0 {
		return missing("No hypervisor matching '%s' could be found.", pattern)
	}
	return ok(object{"hypervisors": items})
}

func hypervisorStatistics(k *call) reply {
	sum := map[string]int{"count": 0}
	for _, h := range k.c.computeHosts() {
		if h.compute.disabled {
			continue // Nova leaves them out
		}
		sum["count"]++
		for name, n := range h.figures() {
			sum[name] += n
		}
	}
	return ok(object{"hypervisor_statistics": sum})
}
