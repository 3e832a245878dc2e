package openstack

import (
	"encoding/json"
	"strings"
)

// consoleOutput is os-getConsoleOutput: the console's last lines, or all.
func consoleOutput(k *call, s *server, raw json.RawMessage) reply {
	if s.host == nil || s.vm == vmBuilding {
		return conflict("Instance %s is not ready", s.id)
	}
	lines := []string{"[    0.000000] Linux version 6.1.0-28-cloud-amd64", "[    1.204211] systemd[1]: Hostname set to <" + s.name + ">.",
		"Debian GNU/Linux 12 " + s.name + " ttyS0", "", s.name + " login: "}
	var args struct {
		Length json.RawMessage `json:"length"`
	}
	if json.Unmarshal(raw, &args) == nil && len(args.Length) > 0 && string(args.Length) != "null" {
		n, err := numberOf(args.Length)
		if err != nil {
			return badRequest("Invalid input for field/attribute length. Value: %s. %s is not of type 'integer', 'string', 'null'",
				unquoted(args.Length), python(args.Length))
		}
		if n >= 0 {
			lines = lines[max(0, len(lines)-n):]
		}
	}
	return ok(object{"output": strings.Join(lines, "\n")})
}

// serverDiagnostics shows what the hypervisor knows about a guest, in the form of 2.48.
func serverDiagnostics(k *call) reply {
	s, no := k.findServer()
	if no != nil {
		return *no
	}
	if s.host == nil {
		return conflict("Instance %s is not ready", s.id)
	}
	cpus := []object{}
	for i := range s.flavor.VCPUs {
		cpus = append(cpus, object{"id": i, "time": int64(k.now.Sub(s.launched)), "utilisation": nil})
	}
	return ok(object{"state": powerName(s.power), "driver": "libvirt", "hypervisor": "kvm", "hypervisor_os": "linux",
		"uptime":       int(k.now.Sub(s.launched).Seconds()),
		"config_drive": false, "num_cpus": len(cpus), "num_nics": 1, "num_disks": 1, "cpu_details": cpus,
		"disk_details": []object{}, "nic_details": []object{}, "memory_details": object{"maximum": s.flavor.RAM, "used": s.flavor.RAM / 2}})
}
