//go:build openstack

package openstack

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	simulated "lockstep/sim/openstack"
)

// step is one command of a session, and its result.
type step struct {
	command string
	same    string // columns or fields that have the same values in both clouds, separated by commas
	as      string // admin if empty
	awaits  string // "server status" to wait for afterwards; without a status, the server is gone
	fails   bool   // both refuse it, in the same words
	besides string // columns that one of the clouds lacks, because the real one's driver or Cinder is missing
}

// session is what an operator does and looks at in the course of a day, with python-openstackclient. {live} stands for the number
// of the newest migration, once it runs.
var session = []step{
	{command: "token issue"},
	{command: "project show demo", same: "name,domain_id,enabled"},
	{command: "project list"},
	{command: "user list"},
	{command: "endpoint list --service nova", same: "Service Name,Service Type,Enabled,Interface,Region"},
	{command: "catalog list"},
	{command: "flavor list", same: "Name,VCPUs,Disk"},
	{command: "flavor show m1.tiny", same: "name,ram,vcpus,disk"},
	{command: "image list", same: "Name,Status"},
	{command: "image show tiny", same: "name,status,visibility,disk_format,container_format"},
	{command: "availability zone list --compute", same: "Zone Name,Zone Status"},
	{command: "compute service list", same: ""},
	{command: "compute service list --service nova-compute --long", same: "Binary,Host,Zone,Status,State,Disabled Reason"},
	{command: "hypervisor list", same: "Hypervisor Hostname,State"},
	{command: "hypervisor show kaas-node-001", same: "hypervisor_hostname,state,status", besides: "host_time,uptime,users,load_average"},
	{command: "hypervisor stats show", same: "count"},
	{command: "network agent list", same: ""},
	{command: "quota show", same: "instances,key-pairs",
		besides: "volumes,snapshots,gigabytes,backups,backup-gigabytes,per-volume-gigabytes,groups,injected-file-size,injected-path-size," +
			"injected-files"},
	{command: "limits show --absolute", same: ""},
	{command: "usage list", same: ""},
	{command: "server list --all-projects"},

	{command: "aggregate create --zone east east", same: "name,availability_zone"},
	{command: "aggregate add host east kaas-node-003", same: "name,hosts"},
	{command: "aggregate set --property ssd=true east"},
	{command: "aggregate show east", same: "name,availability_zone,hosts,properties"},
	{command: "aggregate list --long", same: "Name,Availability Zone,Properties"},
	{command: "availability zone list --compute --long", same: ""},
	{command: "aggregate unset --property ssd east"},
	{command: "aggregate remove host east kaas-node-003", same: "hosts"},
	{command: "aggregate delete east"},
	{command: "--os-compute-api-version 2.64 server group create --policy anti-affinity apart", same: "name,policy"},
	{command: "--os-compute-api-version 2.64 server group show apart", same: "name,policy,members"},
	{command: "server group delete apart"},

	{command: "--os-compute-api-version 2.79 server create --flavor m1.tiny --image tiny --nic none --host kaas-node-001 --tag blue web",
		same: "name,image", awaits: "web ACTIVE"},
	{command: "server list", same: "Name,Status,Networks,Image,Flavor"},
	{command: "server list --all-projects --long",
		same: "Name,Status,Task State,Power State,Networks,Image Name,Availability Zone,Host,Properties"},
	{command: "server list --host kaas-node-001", same: "Name,Status"},
	{command: "--os-compute-api-version 2.26 server list --tags blue", same: "Name,Status"},
	{command: "server show web",
		same: "name,status,OS-EXT-SRV-ATTR:host,OS-EXT-STS:vm_state,OS-EXT-STS:power_state,OS-EXT-AZ:availability_zone,properties,addresses"},
	{command: "--os-compute-api-version 2.79 server show web", same: "name,status,tags,locked,host_status,description"},
	{command: "--os-compute-api-version 2.26 server set --tag green web"},
	{command: "--os-compute-api-version 2.26 server unset --tag blue web"},
	{command: "server set --property team=shop web"},
	{command: "--os-compute-api-version 2.26 server show web", same: "tags,properties"},
	{command: "server unset --property team web"},
	{command: "console log show web"},
	{command: "server image create --name copy web", same: "name", awaits: "web ACTIVE", // its fields are those of a finished image
		besides: "checksum,container_format,disk_format,size,virtual_size"},
	{command: "image delete copy"},
	{command: "server event list web", same: "Action"},
	{command: "--os-compute-api-version 2.73 server lock --reason busy web"},
	{command: "server unlock web"},
	{command: "server start web", fails: true},
	{command: "server stop web", awaits: "web SHUTOFF"},
	{command: "server start web", awaits: "web ACTIVE"},
	{command: "server pause web", awaits: "web PAUSED"},
	{command: "server unpause web", awaits: "web ACTIVE"},
	{command: "server reboot --hard web", awaits: "web ACTIVE"},
	{command: "server remove port web none-such", fails: true},

	{command: "--os-compute-api-version 2.30 server migrate --live-migration web"},
	{command: "--os-compute-api-version 2.80 server migration show web {live}", same: "Status,Source Compute"},
	{command: "--os-compute-api-version 2.80 server migration list --server web", same: "Status,Type,Source Compute"},
	{command: "--os-compute-api-version 2.30 server migration abort web {live}", awaits: "web ACTIVE"},
	{command: "--os-compute-api-version 2.30 server migrate --live-migration --host kaas-node-002 web"},
	{command: "--os-compute-api-version 2.30 server migration force complete web {live}", awaits: "web ACTIVE"},
	{command: "--os-compute-api-version 2.80 server migration list --server web", same: "Status,Type,Source Compute"},
	{command: "--os-compute-api-version 2.30 server migrate --live-migration --host none-such web", fails: true},
	{command: "--os-compute-api-version 2.56 server migrate --host kaas-node-001 web", awaits: "web VERIFY_RESIZE"},
	{command: "server list --all-projects --long", same: "Name,Status,Host"},
	{command: "server stop web", fails: true},
	{command: "server migration confirm web", awaits: "web ACTIVE"},
	{command: "--os-compute-api-version 2.56 server migrate --host kaas-node-002 web", awaits: "web VERIFY_RESIZE"},
	{command: "server migration revert web", awaits: "web ACTIVE"},
	{command: "server evacuate web", fails: true}, // here, because it says which host is in use: a resize goes where each scheduler likes
	{command: "server resize --flavor m1.huge web", awaits: "web VERIFY_RESIZE"},
	{command: "server resize confirm web", awaits: "web ACTIVE"},
	{command: "server event list --long web", same: "Action,Message"},
	{command: "server shelve web", awaits: "web SHELVED_OFFLOADED"},
	{command: "server unshelve web", awaits: "web ACTIVE"},

	{command: "--os-compute-api-version 2.53 compute service set --disable --disable-reason upkeep kaas-node-003 nova-compute"},
	{command: "--os-compute-api-version 2.53 compute service list --host kaas-node-003 --long",
		same: "Binary,Host,Status,State,Disabled Reason,Forced Down"},
	{command: "--os-compute-api-version 2.53 compute service set --enable --down kaas-node-003 nova-compute"},
	{command: "--os-compute-api-version 2.53 compute service list --host kaas-node-003 --long",
		same: "Status,State,Disabled Reason,Forced Down"},
	{command: "--os-compute-api-version 2.53 compute service set --up kaas-node-003 nova-compute"},

	{command: "server show none-such", fails: true},
	{command: "aggregate show none-such", fails: true},
	{command: "hypervisor show none-such", fails: true},
	{command: "hypervisor list", as: "member", fails: true},
	{command: "compute service list", as: "member", fails: true},
	{command: "server list --all-projects", as: "member", fails: true},
	{command: "project list", as: "member", same: "Name"}, // only its own
	{command: "server show web", as: "member", fails: true},
	{command: "--os-password wrong token issue", as: "member", fails: true},
	{command: "server delete web", awaits: "web"},
	{command: "server list --all-projects"},
	{command: "server delete web", fails: true},
}

// plain tells whether a command has no output in JSON, or none at all.
func plain(command string) bool {
	for _, verb := range []string{" set ", " unset ", " delete ", "console log", " lock ", " unlock ", " start ", " stop ", " pause ",
		" unpause ", " suspend ", " resume ",
		" reboot ", " migrate ", " abort ", " force ", " confirm ", " revert ", " resize ", " shelve ", " unshelve ", "server evacuate",
		"server add", "server remove"} {
		if strings.Contains(" "+command+" ", verb) {
			return true
		}
	}
	return false
}

// TestTheOpenstackClientFindsBothCloudsAlike runs one session of python-openstackclient against the real and the simulated cloud,
// and compares the exit codes, the error texts, the columns, and the values that do not depend on the cloud.
func TestTheOpenstackClientFindsBothCloudsAlike(t *testing.T) {
	real := newCloud(t)
	for _, host := range hosts {
		real.order(t, host, map[string]any{"live_seconds": 3600})
	}
	t.Cleanup(func() {
		for _, host := range hosts {
			real.order(t, host, nil)
		}
	})
	sim, simYAML := simulatedCloud(t, real.hosts(t))
	clients := []*client{
		sitDownWithClient(t, "real", real.cloudsYAML(), map[string]string{"admin": cloudControllers, "member": cloudMember}),
		sitDownWithClient(t, "simulated", simYAML, map[string]string{"admin": "sim", "member": "sim-demo"}),
	}
	for _, st := range session {
		if st.as == "" {
			st.as = "admin"
		}
		var answers [2]printed
		var failures [2]error
		var both sync.WaitGroup
		for i, c := range clients {
			command := st.command
			if strings.Contains(command, "{live}") {
				command = strings.ReplaceAll(command, "{live}", c.migrationID(t, "web", "running"))
			}
			args := strings.Fields(command)
			if !plain(command) {
				args = append(args, "-f", "json")
			}
			both.Go(func() { answers[i], failures[i] = c.do(st.as, args...) })
		}
		both.Wait()
		if err := errors.Join(failures[:]...); err != nil {
			t.Fatal(err)
		}
		compare(t, st, answers[0], answers[1])
		if st.awaits != "" {
			name, status, _ := strings.Cut(st.awaits, " ")
			for _, c := range clients {
				c.settled(t, name, status)
			}
			if status == "ACTIVE" {
				for _, s := range sim.ServersOn(hosts[0]) {
					never(t, sim, s.ID)
				}
				for _, s := range sim.ServersOn(hosts[1]) {
					never(t, sim, s.ID)
				}
			}
		}
	}
}

// never makes live migrations of a server in the simulated cloud last until somebody ends them, as in the real one here.
func never(t *testing.T, sim *simulated.Cloud, id string) {
	t.Helper()
	if err := sim.SetBehaviour(id, simulated.Behaviour{NeverConverges: true}); err != nil {
		t.Fatal(err)
	}
}

func compare(t *testing.T, st step, real, sim printed) {
	t.Helper()
	what := "openstack " + st.command
	if real.Code != sim.Code || alike(real.Err) != alike(sim.Err) {
		t.Errorf("%s: the real cloud exits with %d and %q, the simulated one with %d and %q", what, real.Code, real.Err, sim.Code, sim.Err)
		return
	}
	if st.fails != (real.Code != 0) {
		t.Errorf("%s: both clouds exit with %d and %q", what, real.Code, real.Err)
		return
	}
	if plain(st.command) || real.Code != 0 {
		if (real.Out == "") != (sim.Out == "") {
			t.Errorf("%s: the real cloud shows %q, the simulated one %q", what, real.Out, sim.Out)
		}
		return
	}
	realRows, simRows := rows(t, what, real.Out), rows(t, what, sim.Out)
	if len(realRows) > 0 && len(simRows) > 0 {
		if a, b := columns(realRows, st.besides), columns(simRows, st.besides); !slices.Equal(a, b) {
			t.Errorf("%s: the real cloud has the columns %q, the simulated one %q", what, a, b)
		}
	}
	if st.same == "" {
		return
	}
	for _, column := range strings.Split(st.same, ",") {
		if len(realRows) > 0 && !slices.Contains(columns(realRows, ""), column) {
			t.Errorf("%s: the real cloud has no column %s", what, column)
		}
		if a, b := values(realRows, column), values(simRows, column); !slices.Equal(a, b) {
			t.Errorf("%s: %s is %q at the real cloud, %q at the simulated one", what, column, a, b)
		}
	}
}

// rows returns a table, or the single row of an object.
func rows(t *testing.T, what, out string) []map[string]any {
	t.Helper()
	var many []map[string]any
	if json.Unmarshal([]byte(out), &many) == nil {
		return many
	}
	one := map[string]any{}
	if err := json.Unmarshal([]byte(out), &one); err != nil {
		t.Errorf("%s: %q is no JSON: %v", what, out, err)
		return nil
	}
	return []map[string]any{one}
}

// columns returns the names of a table's columns, except some.
func columns(rows []map[string]any, but string) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(rows[0])),
		func(name string) bool { return slices.Contains(strings.Split(but, ","), name) })
}

// values returns the values of a column, sorted, without what always differs between clouds.
func values(rows []map[string]any, column string) []string {
	var all []string
	for _, row := range rows {
		all = append(all, alike(fmt.Sprint(row[column])))
	}
	slices.Sort(all)
	return all
}

// TestTheOpenstackCommandWorksAgainstTheSimulatedCloud runs the command itself once, as an operator does.
func TestTheOpenstackCommandWorksAgainstTheSimulatedCloud(t *testing.T) {
	_, cloudsYAML := simulatedCloud(t, hosts)
	command := exec.CommandContext(t.Context(), "/usr/bin/openstack", "--os-cloud", "sim", "hypervisor", "list", "-f", "value", "-c",
		"Hypervisor Hostname", "-c", "State")
	command.Env = append(bareEnvironment(), "OS_CLIENT_CONFIG_FILE="+cloudsYAML)
	var complaints bytes.Buffer
	command.Stderr = &complaints
	out, err := command.Output()
	if want := "kaas-node-001 up\nkaas-node-002 up\nkaas-node-003 up\n"; err != nil || string(out) != want {
		t.Errorf("openstack hypervisor list: %v %q %s, want %q", err, out, complaints.String(), want)
	}
}
