package engine

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/sim/bubble"
)

// slowServers delays one part of a step, as long as the context allows.
type slowServers struct {
	*testCloud
	check, lease, answer time.Duration

	before bool   // the write is made before its late answer, not after
	says   string // the refusal; empty: it is accepted
}

func (c *slowServers) wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return &core.APIError{Kind: core.ErrTimeout, Call: "test", Message: "no answer in time"}
	}
}

func (c *slowServers) Instance(ctx context.Context, id string) (*core.Instance, error) {
	if len(c.written()) == 0 {
		if err := c.wait(ctx, c.check); err != nil {
			return nil, err
		}
	}
	return c.testCloud.Instance(ctx, id)
}

func (c *slowServers) Confirm(ctx context.Context) error {
	if err := c.wait(ctx, c.lease); err != nil {
		return err
	}
	return c.testCloud.Confirm(ctx)
}

func (c *slowServers) Write(ctx context.Context, p Permit, change core.Change) error {
	if c.before {
		if err := c.testCloud.Write(ctx, p, change); err != nil {
			return err
		}
	} else {
		if err := TakePermit(p, change, core.ServerOpenStack); err != nil {
			return err
		}
		_ = c.write("live-migrate", change.(core.InstanceAction).Instance.UID, func() error { return nil })
	}
	if err := c.wait(ctx, c.answer); err != nil {
		return err
	}
	if c.says != "" {
		return &core.APIError{Kind: core.ErrInvalid, Call: "live-migrate", Message: c.says, Status: 400}
	}
	return nil
}

func (b *bench) slow(s *slowServers) {
	s.testCloud = b.cloud
	b.engine.cfg.OpenStack, b.engine.cfg.Writers.OpenStack, b.engine.cfg.Lease = s, s, s
	b.arm()
}

// Each part of a step has its own deadline: a slow check or a slow lease leaves Nova the time to say why it refuses.
func TestEachPartOfAStepHasItsOwnDeadline(t *testing.T) {
	const never = 1000 * time.Hour
	cases := map[string]struct {
		servers slowServers
		within  time.Duration
		written int
		state   core.OperationState
		text    string
	}{
		"all are slow": {slowServers{check: 55 * time.Second, lease: 25 * time.Second, answer: 30 * time.Minute, says: failText},
			32 * time.Minute, 1, core.OperationFailed, failText},
		"the check hangs": {slowServers{check: never}, checkTimeout + time.Second, 0, core.OperationFailed, "no answer in time"},
		"the lease hangs": {slowServers{lease: never}, leaseTimeout + time.Second, 0, core.OperationFailed,
			"the operator lease is still ours"},
		"the answer is lost": {slowServers{answer: never}, writeTimeout + time.Minute, 1, core.OperationFailed, "it was not done: timeout"},
		"the answer is lost, and it is done": {slowServers{answer: never, before: true},
			2 * answerPatience, 1, core.OperationDone, "runs on cmp-2"},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				b := newBench(t, t.TempDir(), newTestCloud())
				defer b.end()
				b.slow(&tt.servers)
				id, err := b.confirm(liveMigrate("web-1"))
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(tt.within)
				op := b.operation(id)
				if op.State != tt.state || !strings.Contains(op.Text, tt.text) {
					t.Errorf("after %s it is %s: %s", tt.within, op.State, op.Text)
				}
				if n := len(b.cloud.written()); n != tt.written {
					t.Errorf("%d writes were sent", n)
				}
			})
		})
	}
}

// While Nova does not answer, the operation says so, and says what the instance does.
func TestALateAnswerIsTold(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := newBench(t, t.TempDir(), newTestCloud())
		defer b.end()
		b.cloud.migrating = true
		b.slow(&slowServers{answer: 10 * time.Minute, before: true})
		id, err := b.confirm(liveMigrate("web-1"))
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(5*time.Minute + time.Second)
		if op := b.operation(id); op.State != core.OperationRunning || op.Text != "no answer for 5 m yet; running, to cmp-2" {
			t.Errorf("it is %s: %s", op.State, op.Text)
		}
		time.Sleep(6 * time.Minute)
		b.locked(func(c *testCloud) { c.finish("id-web-1") })
		if op := b.awaitEnd(id); op.State != core.OperationDone {
			t.Errorf("it is %s: %s", op.State, op.Text)
		}
	})
}

// When the record takes longer to reach the disk than the lease is valid, nothing is let through.
func TestALeaseThatGoesWhileTheRecordIsWrittenLetsNothingThrough(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		b := newBench(t, t.TempDir(), newTestCloud())
		defer b.end()
		b.arm()
		g := b.grant(liveMigrate("web-1"))
		b.engine.cfg.Journal.sync = func(*os.File) error {
			raw, err := os.ReadFile(b.path)
			if strings.Contains(string(raw), `"kind":"before"`) {
				b.locked(func(c *testCloud) { c.held = false })
			}
			return err
		}
		if err := b.execute(g); err != nil {
			t.Fatal(err)
		}
		if op := b.awaitEnd(g.ID); op.State != core.OperationFailed || !strings.Contains(op.Text, "not done: ") {
			t.Errorf("it is %s: %s", op.State, op.Text)
		}
		if got := b.cloud.written(); len(got) != 0 {
			t.Errorf("%q were sent", got)
		}
	})
}
