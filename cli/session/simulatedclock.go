package session

import (
	"context"
	"fmt"
	"sync"
	"time"

	"lockstep/kube"
)

const (
	clockEvery = 500 * time.Millisecond // real time between two looks at the clock of a simulated cluster
	clockWait  = 2 * time.Second        // for one look
)

// SimulatedClock follows the clock of a cluster of `lockstep sim`, which may run slower than its speed while the machine cannot keep
// up. Between two looks, and while the server does not answer, it goes on by itself.
type SimulatedClock struct {
	read func(context.Context) (kube.ClockReading, error)

	mu    sync.Mutex
	at    time.Time // this machine's time of the last look
	last  kube.ClockReading
	shown time.Time // it never goes back
}

// FollowClock gives a place the clock of its cluster, where that is a simulated one with a clock of its own, and says so in notice. It
// returns nil where there is nothing to follow.
func (p *Place) FollowClock(ctx context.Context, log *Log, client *kube.Client) (c *SimulatedClock, notice string) {
	switch {
	case p.Clock != nil || client == nil || !client.Simulated:
		return nil, ""
	case !client.OwnClock:
		return nil, "simulated cloud: nothing here is real"
	}
	c = &SimulatedClock{read: client.Clock}
	if err := c.look(ctx); err != nil {
		log.Warn("the clock of a simulated cluster", "error", err)
		return nil, "a simulated cloud whose clock did not answer: times are by this machine's clock, and wrong. Start Lockstep anew"
	}
	p.Clock, p.Pace = c.Now, c.last.Speed
	return c, fmt.Sprintf("simulated cloud, %g times as fast: nothing here is real", p.Pace)
}

func (c *SimulatedClock) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, clockWait)
	defer cancel()
	asked := time.Now()
	r, err := c.read(ctx)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at, c.last = asked.Add(time.Since(asked)/2), r
	return nil
}

// Now is the cluster's time.
func (c *SimulatedClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now := c.last.Now.Add(time.Duration(float64(time.Since(c.at)) * c.last.Rate)); now.After(c.shown) {
		c.shown = now
	}
	return c.shown
}

// Run looks again and again, until ctx is done.
func (c *SimulatedClock) Run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(clockEvery):
			_ = c.look(ctx) // it goes on by itself, and the sources tell that the server is silent
		}
	}
}
