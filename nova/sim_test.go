package nova

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/sim/bubble"
	"lockstep/sim/clock"
	"lockstep/sim/lan"
	"lockstep/sim/openstack"
)

// simulated is a cloud of the simulator, and the network that it is on.
type simulated struct {
	*openstack.Cloud
	network *lan.Network
}

// simCloud is a small one: three hosts, three instances on the first.
func simCloud(t *testing.T, o openstack.Options, servers ...openstack.ServerSpec) simulated {
	t.Helper()
	o.Network = lan.New(1)
	cloud, err := openstack.New(o)
	if err != nil {
		t.Fatal(err)
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, h := range []string{"kaas-node-001", "kaas-node-002", "kaas-node-003"} {
		must(cloud.AddHost(openstack.HostSpec{Name: h, VCPUs: 64, RAM: 262144, Disk: 2000}))
	}
	_, err = cloud.AddFlavor(openstack.FlavorSpec{Name: "m1.medium", VCPUs: 2, RAM: 4096, Disk: 40})
	must(err)
	for _, s := range servers {
		s.Host, s.Flavor = "kaas-node-001", "m1.medium"
		_, err := cloud.AddServer(s)
		must(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	must(cloud.Start(ctx))
	t.Cleanup(func() {
		cancel()
		must(cloud.Close())
	})
	return simulated{cloud, o.Network}
}

// simClient loads the cloud's own clouds.yaml.
func simClient(t *testing.T, cloud simulated, name string) *Client {
	t.Helper()
	content, err := cloud.CloudsYAML()
	if err != nil {
		t.Fatal(err)
	}
	cfg, err := Load(Options{Cloud: name, CloudsYAML: content, UserAgent: "lockstep/test", Transport: cloud.network.Transport("lockstep"),
		Jitter: halfway})
	if err != nil {
		t.Fatal(err)
	}
	c := Connect(cfg)
	t.Cleanup(c.Close)
	return c
}

// apart is a clock that is years away from the wall's.
func apart() *clock.Clock { return clock.New(time.Date(2031, 5, 1, 12, 0, 0, 0, time.UTC), 1) }

// until polls the cloud.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(time.Second) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

func TestSimALiveMigrationFromBeginningToEnd(t *testing.T) {
	for _, cloudName := range []string{"sim", "sim-appcred"} {
		t.Run(cloudName, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				cloud := simCloud(t, openstack.Options{Clock: apart()}, openstack.ServerSpec{Name: "web-1", ID: "11111111-1111-4111-8111-111111111111"})
				c := simClient(t, cloud, cloudName)
				p, b := poll(t, c, "kaas-node-001")
				id := "11111111-1111-4111-8111-111111111111"
				b.await("the instance", func() bool { return b.instance(id).Host == "kaas-node-001" && b.instance(id).Flavor().RAMMiB == 4096 })
				w := writes(t, c, p.Nudge)
				if err := w.write(doing(core.IntentLiveMigrate, id)); err != nil {
					t.Fatal(err)
				}
				b.await("it migrate, with progress", func() bool {
					return b.wasMigration(id, func(m *core.Migration) bool {
						return m.Running() && m.Percent() > 0 && m.Percent() < 100 && m.Type == core.MigrationLive && m.SourceHost == "kaas-node-001"
					})
				})
				b.await("it on another host, by the host's list and by the record", func() bool {
					i, m := b.instance(id), b.migrationOf(id)
					return m.Status == "completed" && i.Status == "ACTIVE" && i.Host == m.DestHost && i.Host != "kaas-node-001" && i.TaskState == ""
				})
				if list, err := w.InstancesOf(context.Background(), "kaas-node-001"); err != nil || len(list) != 0 {
					t.Errorf("the host still has %v, %v", list, err)
				}
				if len(b.nowhere) > 0 {
					t.Errorf("%v were on no host for a moment", b.nowhere)
				}
			})
		})
	}
}

func TestSimAFailureComesWithNovasText(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		const text = "internal error: guest CPU doesn't match specification"
		cloud := simCloud(t, openstack.Options{Clock: apart()},
			openstack.ServerSpec{Name: "db-1", ID: "db-1", Behaviour: openstack.Behaviour{FailLive: openstack.Failure{Times: 1, Text: text}}},
			openstack.ServerSpec{Name: "big", ID: "big", Behaviour: openstack.Behaviour{NoValidHost: true}})
		c := simClient(t, cloud, "sim")
		p, b := poll(t, c, "kaas-node-001")
		w := writes(t, c, p.Nudge)
		ctx := context.Background()
		if err := w.write(doing(core.IntentLiveMigrate, "db-1")); err != nil {
			t.Fatal(err)
		}
		b.await("the failure", func() bool { return b.migrationOf("db-1").Failed() && b.instance("db-1").Status == "ACTIVE" })
		b.await("its text", func() bool { return strings.Contains(b.migrationOf("db-1").Failure, text) })
		list, err := w.MigrationsOf(ctx, "db-1")
		if err != nil || len(list) != 1 || !strings.Contains(list[0].Failure, text) {
			t.Errorf("records %+v, %v", list, err)
		}
		// The oldest microversion that works answers with the reason.
		e := apiError(t, w.write(doing(core.IntentLiveMigrate, "big")))
		if e.Kind != core.ErrInvalid || !strings.Contains(e.Message, "No valid host") {
			t.Errorf("no valid host: %s", e)
		}
	})
}

func TestSimAColdMigration(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := simCloud(t, openstack.Options{Clock: apart()}, openstack.ServerSpec{Name: "web-1", ID: "web-1"})
		c := simClient(t, cloud, "sim")
		p, b := poll(t, c, "kaas-node-001")
		w := writes(t, c, p.Nudge)
		if err := w.write(doing(core.IntentColdMigrate, "web-1")); err != nil {
			t.Fatal(err)
		}
		b.await("it wait for the confirmation", func() bool { return b.instance("web-1").Status == "VERIFY_RESIZE" })
		if err := w.write(doing(core.IntentConfirmResize, "web-1")); err != nil {
			t.Fatal(err)
		}
		b.await("it confirmed", func() bool {
			return b.instance("web-1").Status == "ACTIVE" && b.instance("web-1").Host != "kaas-node-001" &&
				b.migrationOf("web-1").Status == "confirmed"
		})
	})
}

func TestSimAMigrationIsAborted(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := simCloud(t, openstack.Options{Clock: apart()},
			openstack.ServerSpec{Name: "busy", ID: "busy", Behaviour: openstack.Behaviour{NeverConverges: true}},
			openstack.ServerSpec{Name: "forced", ID: "forced", Behaviour: openstack.Behaviour{NeverConverges: true}})
		c := simClient(t, cloud, "sim")
		p, b := poll(t, c, "kaas-node-001")
		w := writes(t, c, p.Nudge)
		ctx := context.Background()
		if err := w.write(doing(core.IntentLiveMigrate, "busy")); err != nil {
			t.Fatal(err)
		}
		b.await("it run", func() bool { return b.migrationOf("busy").Status == "running" })
		for host, want := range map[string]int{"kaas-node-001": 1, b.target("busy"): 1, "nowhere": 0} {
			if list, err := w.MigrationsOn(ctx, host); err != nil || len(list) != want ||
				want == 1 && (list[0].InstanceID != "busy" || !list[0].Running()) {
				t.Errorf("migrations on %s: %+v, %v", host, list, err)
			}
		}
		if _, err := w.MigrationsOn(ctx, ""); apiError(t, err).Kind != core.ErrInvalid {
			t.Errorf("on no host: %v", err)
		}
		if err := w.write(onMigration(core.IntentAbortMigration, "busy", b.migrationID("busy"))); err != nil {
			t.Fatal(err)
		}
		b.await("it cancelled", func() bool {
			return b.migrationOf("busy").Status == "cancelled" && b.instance("busy").Host == "kaas-node-001" && b.instance("busy").Status == "ACTIVE"
		})
		if err := w.write(doing(core.IntentLiveMigrate, "forced")); err != nil {
			t.Fatal(err)
		}
		b.await("it run", func() bool { return b.migrationOf("forced").Status == "running" })
		if err := w.write(onMigration(core.IntentForceComplete, "forced", b.migrationID("forced"))); err != nil {
			t.Fatal(err)
		}
		b.await("it completed", func() bool {
			return b.migrationOf("forced").Status == "completed" && b.instance("forced").Host != "kaas-node-001"
		})
		e := apiError(t, w.write(onMigration(core.IntentAbortMigration, "forced", 999)))
		if e.Kind != core.ErrConflict {
			t.Errorf("abort of a finished migration: %s", e)
		}
	})
}

func TestSimAComputeServiceIsDisabledAndEnabled(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := simCloud(t, openstack.Options{Clock: apart()})
		c := simClient(t, cloud, "sim")
		_, b := poll(t, c)
		ctx := context.Background()
		w := writes(t, c, nil)
		s, err := w.ComputeService(ctx, "kaas-node-002")
		if err != nil {
			t.Fatal(err)
		}
		service := func() *core.ComputeService {
			s, _ := b.objects[core.SourceComputeServices][s.ID].(*core.ComputeService)
			return s
		}
		if err := w.write(core.SetComputeService{Service: core.Ref{UID: s.ID}, Reason: "the fan is loud"}); err != nil {
			t.Fatal(err)
		}
		b.await("it disabled", func() bool {
			s := service()
			return s != nil && !s.Enabled && s.DisabledReason == "the fan is loud" && s.Up
		})
		if err := w.write(core.SetComputeService{Service: core.Ref{UID: s.ID}, Enabled: true}); err != nil {
			t.Fatal(err)
		}
		b.await("it enabled", func() bool { s := service(); return s.Enabled && s.DisabledReason == "" })
	})
}

func TestSimAPlainMemberIsToldWhatItLacks(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := simCloud(t, openstack.Options{Clock: apart()}, openstack.ServerSpec{Name: "web-1"})
		_, b := poll(t, simClient(t, cloud, "sim-demo"))
		for id, call := range map[core.SourceID]string{
			core.SourceComputeServices: "list compute services", core.SourceInstances: "list instances", core.SourceMigrations: "list migrations",
		} {
			b.await(call+" forbidden", func() bool {
				d := b.states[id]
				return d.State == core.SourceForbidden && d.Err.Kind == core.ErrForbidden && d.Err.Call == call &&
					strings.Contains(d.Err.Remedy, "role admin")
			})
		}
	})
}

func TestSimTokensExpireAndTheCloudGoesAway(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := simCloud(t, openstack.Options{Clock: apart()}, openstack.ServerSpec{Name: "web-1", ID: "web-1"})
		c := simClient(t, cloud, "sim")
		_, b := poll(t, c, "kaas-node-001")
		b.await("live", func() bool {
			return b.state(core.SourceInstances) == core.SourceLive && b.state(core.SourceMigrations) == core.SourceLive
		})
		cloud.ExpireTokens()
		from := func() int { b.mu.Lock(); defer b.mu.Unlock(); return len(b.deltas) }()
		b.await("news with a new token", func() bool {
			for _, d := range b.deltas[from:] {
				if d.Err != nil {
					t.Errorf("an expired token was seen: %v", d.Err)
				}
				if d.Source == core.SourceInstances {
					return true
				}
			}
			return false
		})
		cloud.Outage(true)
		b.await("stale", func() bool {
			d := b.states[core.SourceInstances]
			return d.State == core.SourceStale && d.Err.Kind == core.ErrServer && b.instance("web-1").Host == "kaas-node-001"
		})
		cloud.Outage(false)
		b.await("live again", func() bool {
			return b.state(core.SourceInstances) == core.SourceLive && b.state(core.SourceMigrations) == core.SourceLive
		})
	})
}

// Nova counts a change of tags as no change of the instance. One that was made here is seen at once, on whatever host; a colleague's is
// seen in the list of a focus host, and on other hosts with the next list of all instances.
func TestSimTagsAreNoChange(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		const near, far = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
		longAgo := apart().Now().Add(-time.Hour) // what changed lately is read again for some minutes, with its tags
		cloud := simCloud(t, openstack.Options{Clock: apart()}, openstack.ServerSpec{Name: "near", ID: near, Created: longAgo},
			openstack.ServerSpec{Name: "new"})
		if _, err := cloud.AddServer(openstack.ServerSpec{Name: "far", ID: far, Flavor: "m1.medium", Host: "kaas-node-002",
			Created: longAgo}); err != nil {
			t.Fatal(err)
		}
		c := simClient(t, cloud, "sim")
		p, b := poll(t, c, "kaas-node-001")
		b.await("both", func() bool { return b.state(core.SourceInstances) == core.SourceLive && b.instance(far).TagsKnown })
		shown := func(id, tag string) time.Duration {
			t.Helper()
			began := time.Now()
			b.await("the tag "+tag, func() bool { return slices.Equal(b.instance(id).Tags, []string{tag}) })
			return time.Since(began)
		}
		if err := writes(t, c, p.Nudge).write(tagging(far, "mine")); err != nil {
			t.Fatal(err)
		}
		if d := shown(far, "mine"); d > 10*time.Second {
			t.Errorf("its own tag was seen after %s", d)
		}
		if err := errors.Join(cloud.SetTags(near, "theirs"), cloud.SetTags(far, "theirs")); err != nil {
			t.Fatal(err)
		}
		if d := shown(near, "theirs"); d > 30*time.Second {
			t.Errorf("a colleague's tag on a focus host was seen after %s", d)
		}
		if d := shown(far, "theirs"); d < time.Minute || d > relistEvery+time.Minute {
			t.Errorf("a colleague's tag elsewhere was seen after %s", d)
		}
	})
}

func TestSimAnOldCloud(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		cloud := simCloud(t, openstack.Options{Clock: apart(), MaxMicroversion: "2.40", PageLimit: 2},
			openstack.ServerSpec{Name: "a", ID: "a", Tags: []string{"x"}}, openstack.ServerSpec{Name: "b", ID: "b"},
			openstack.ServerSpec{Name: "c", ID: "c"})
		c := simClient(t, cloud, "sim")
		p, b := poll(t, c, "kaas-node-001")
		b.await("all three, by pages, with tags and without flavors", func() bool {
			return b.state(core.SourceInstances) == core.SourceLive && len(b.objects[core.SourceInstances]) == 3 &&
				b.instance("a").TagsKnown && len(b.instance("a").Tags) == 1 && b.instance("a").Flavor().RAMMiB == 0
		})
		if err := writes(t, c, p.Nudge).write(doing(core.IntentLiveMigrate, "a")); err != nil {
			t.Fatal(err)
		}
		b.await("its record, without a UUID", func() bool {
			return b.wasMigration("a", func(m *core.Migration) bool { return m.Running() && m.UUID == "" })
		})
		b.await("its end", func() bool {
			return b.migrationOf("a").Status == "completed" && b.instance("a").Host != "kaas-node-001"
		})
	})
}
