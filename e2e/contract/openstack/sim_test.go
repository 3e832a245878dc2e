package openstack

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"lockstep/sim/clock"
	"lockstep/sim/openstack"
)

// TestTheSimulatedCloudKeepsTheContract checks the simulated servers against the same contract as the real ones (package
// e2e/openstack, `make e2e-openstack`).
func TestTheSimulatedCloudKeepsTheContract(t *testing.T) {
	c := clock.New(time.Now(), 60)
	go c.Govern(t.Context()) // on a busy machine a minute of the cloud's takes longer than a second, as in the demo
	cloud, err := openstack.New(openstack.Options{Clock: c})
	if err != nil {
		t.Fatal(err)
	}
	var hosts []string
	for i := 1; i <= 6; i++ {
		name := fmt.Sprintf("kaas-node-%03d", i)
		hosts = append(hosts, name)
		err = errors.Join(err, cloud.AddHost(openstack.HostSpec{Name: name, VCPUs: 64, RAM: 100 << 10, Disk: 1000}))
	}
	_, tiny := cloud.AddFlavor(openstack.FlavorSpec{Name: "m1.tiny", VCPUs: 1, RAM: 1024, Disk: 1})
	_, huge := cloud.AddFlavor(openstack.FlavorSpec{Name: "m1.huge", VCPUs: 1, RAM: 64 << 10, Disk: 1})
	_, image := cloud.AddImage(openstack.ImageSpec{Name: "tiny", Size: 4096})
	if err := errors.Join(err, cloud.AddController("ctl-01"), tiny, huge, image, cloud.Start(context.Background())); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cloud.Close(); err != nil {
			t.Error(err)
		}
	})
	logins, err := cloud.CloudsYAML()
	if err != nil {
		t.Fatal(err)
	}
	Run(t, Cloud{
		CloudsYAML: logins, Admin: "sim", Member: "sim-demo", Hosts: hosts, Flavor: "m1.tiny", Large: "m1.huge", Image: "tiny",
		Compute: func(host string, runs bool) error {
			if runs {
				return cloud.StartCompute(host)
			}
			return cloud.StopCompute(host)
		},
		Steer: func(s Server, b Behaviour) error {
			return cloud.SetBehaviour(s.ID, openstack.Behaviour{
				NeverConverges: b.Endless, FailLive: failure(b.FailBefore, b.FailLive), FailCold: failure(b.FailCold, ""),
				FailFinish: failure(b.FailFinish, ""),
			})
		},
	})
}

// failure is a failure that happens each time: at the beginning, or half-way; none when both are empty.
func failure(beginning, halfWay string) openstack.Failure {
	switch {
	case beginning != "":
		return openstack.Failure{Times: -1, Text: beginning}
	case halfWay != "":
		return openstack.Failure{Times: -1, Text: halfWay, At: 0.5}
	}
	return openstack.Failure{}
}
