package cli

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"lockstep/core"
	"lockstep/kube"
	"lockstep/sim"
	"lockstep/sim/fault"
	"lockstep/sim/scenario"
	"lockstep/tui"
)

// watched is the dashboard, and what it shows, for whoever looks from outside.
type watched struct {
	tea.Model
	mu    sync.Mutex
	frame string
}

func (w *watched) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	next, cmd := w.Model.Update(msg)
	w.Model = next
	return w, cmd
}

func (w *watched) View() tea.View {
	view := w.Model.View()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.frame = ansi.Strip(view.Content)
	return view
}

func (w *watched) shows() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.frame
}

// patience is how long a test waits for something, in real time: a busy machine may take many times as long as an idle one.
const patience = 2 * time.Minute

// rig is the program as `lockstep demo` puts it together, but for the terminal, and the cloud that it looks at.
type rig struct {
	*sim.Cloud
	t      *testing.T
	s      *session
	screen *watched
	snaps  <-chan *core.Snapshot
	last   *core.Snapshot
}

// newRig is a scenario that stands still: what is on the screen changes only by what goes wrong. It shows nothing before it
// begins.
func newRig(t *testing.T) *rig {
	t.Helper()
	told, err := scenario.Load(scenario.Default)
	if err != nil {
		t.Fatal(err)
	}
	cloud, err := sim.Start(t.Context(), sim.Options{Scenario: told, Speed: 60, Dir: t.TempDir(), Start: time.Now(), ControllersOff: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cloud.Close(); err != nil {
			t.Error(err)
		}
	})
	cloud.Clock.SetSpeed(0.001)
	p := place{options: ownOptions(t, cloud), name: "mos", clock: cloud.Clock.Now, pace: 60, journal: t.TempDir(), cloudsYAML: ownClouds(t, cloud)}
	s, err := open(t.Context(), p, ownLog(t))
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{Cloud: cloud, t: t, s: s}
	snaps, unsubscribe := s.engine.Subscribe()
	t.Cleanup(unsubscribe)
	r.snaps = snaps
	return r
}

// begin runs the program until the test t ends.
func (r *rig) begin(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	var running sync.WaitGroup
	running.Go(func() { r.s.run(ctx) })
	r.screen = &watched{Model: tui.New(tui.Options{Backend: r.s.engine, Rehearsal: &rehearsal{r.Cloud}})}
	input, keys := io.Pipe()
	program := tea.NewProgram(r.screen, tea.WithContext(ctx), tea.WithInput(input), tea.WithOutput(io.Discard), tea.WithWindowSize(200, 60),
		tea.WithoutSignalHandler(), tea.WithFPS(15))
	running.Go(func() {
		if _, err := program.Run(); err != nil && ctx.Err() == nil {
			t.Errorf("the dashboard ended: %v", err)
		}
	})
	t.Cleanup(func() {
		stop()
		_ = keys.Close()
		running.Wait()
	})
}

// until waits until what is so of the newest snapshot and of the screen.
func (r *rig) until(what string, so func(s *core.Snapshot, screen string) bool) {
	r.t.Helper()
	deadline, look := time.After(patience), time.NewTicker(30*time.Millisecond)
	defer look.Stop()
	for {
		if r.last != nil && so(r.last, r.screen.shows()) {
			return
		}
		select {
		case r.last = <-r.snaps:
		case <-look.C:
		case <-deadline:
			r.t.Fatalf("it did not come to be that %s; the sources are\n%s\nand the screen shows\n%s", what, sourceTexts(r.last), r.screen.shows())
		}
	}
}

func sourceTexts(s *core.Snapshot) string {
	var b strings.Builder
	if s == nil {
		return "unknown"
	}
	ids := slices.Concat(kube.Sources(), openStackSources(), core.ManagementSources())
	for _, id := range ids {
		src := s.Sources[id]
		fmt.Fprintf(&b, "  %s %s, %v\n", id, src.State, src.Err)
	}
	return b.String()
}

// live tells whether all sources of a server are.
func live(s *core.Snapshot, server core.Server) bool {
	for id, src := range s.Sources {
		if id.Server() == server && src.State != core.SourceLive {
			return false
		}
	}
	return true
}

// troubled is a source of the server that is not live, in the way that is told; nil when there is none.
func troubled(s *core.Snapshot, server core.Server, is func(core.Source) bool) *core.Source {
	for id, src := range s.Sources {
		if id.Server() == server && src.State != core.SourceLive && src.State != core.SourceConnecting && is(src) {
			return &src
		}
	}
	return nil
}

// seen is what is to be seen of a fault: of which kind the error is, with which status, and which words its message and
// its remedy have. Nothing at all is a fault that the program works on with.
type seen struct {
	kinds  []core.ErrorKind
	status int
	words  string
}

// Faults that the operator is to see nothing of but what they do to the times, or that are told of by other tests.
var unseen = map[string]bool{"latency": true, "409": true, "410": true, "watches-end": true, "watches-cut": true, "clock-skew": true, "slow": true}

var sight = map[string]seen{
	"401":            {[]core.ErrorKind{core.ErrUnauthorized}, 401, ""},
	"403":            {[]core.ErrorKind{core.ErrForbidden}, 403, ""},
	"404":            {[]core.ErrorKind{core.ErrNotFound}, 404, ""},
	"429":            {[]core.ErrorKind{core.ErrTooManyRequests}, 429, "1s"},
	"500":            {[]core.ErrorKind{core.ErrServer}, 500, ""},
	"503":            {[]core.ErrorKind{core.ErrServer}, 503, ""},
	"page-502":       {[]core.ErrorKind{core.ErrServer}, 502, ""},
	"page-200":       {[]core.ErrorKind{core.ErrOther}, 0, "not"},
	"refused":        {[]core.ErrorKind{core.ErrUnreachable}, 0, ""},
	"hang":           {[]core.ErrorKind{core.ErrTimeout}, 0, ""},
	"reset":          {[]core.ErrorKind{core.ErrUnreachable}, 0, ""},
	"truncated":      {[]core.ErrorKind{core.ErrUnreachable}, 0, ""},
	"short":          {[]core.ErrorKind{core.ErrOther, core.ErrUnreachable}, 0, ""}, // who decodes a stream cannot tell it from a connection that broke
	"malformed":      {[]core.ErrorKind{core.ErrOther}, 0, "not"},
	"watches-silent": {[]core.ErrorKind{core.ErrTimeout}, 0, "nothing heard"},
	"token-expires":  {[]core.ErrorKind{core.ErrUnauthorized}, 401, ""},
}

func (s seen) is(src core.Source) bool {
	return src.Err != nil && slices.Contains(s.kinds, src.Err.Kind) && (s.status == 0 || src.Err.Status == s.status) &&
		strings.Contains(src.Err.Message+" "+src.Err.Remedy, s.words) && src.Err.Call != "" && src.Err.Remedy != "" &&
		!strings.Contains(src.Err.Message, "<html")
}

// Every fault of the catalogue, one after the other, while the dashboard runs: the screen says which server, what, and what
// to do; what was seen stays on it; the other server goes on; nothing is written; and all is live again when it is over.
// The most of it is waiting, so that several dashboards, each with its own cloud, share the faults among them.
func TestEveryFaultIsToldAndGotOver(t *testing.T) {
	t.Parallel()
	rigs := make([]*rig, 4)
	for i := range rigs {
		rigs[i] = newRig(t)
	}
	for _, r := range rigs {
		r.begin(t)
	}
	shares := make([][]fault.State, len(rigs))
	for i, st := range demandedOfTheDashboard(rigs[0].Faults.States()) {
		shares[i%len(rigs)] = append(shares[i%len(rigs)], st)
	}
	for i, r := range rigs {
		t.Run(fmt.Sprintf("dashboard %d", i+1), func(t *testing.T) {
			t.Parallel()
			r.t = t
			r.until("all is live at the start", allLive)
			for _, st := range shares[i] {
				t.Run(st.String(), func(t *testing.T) {
					r.t = t
					r.getsOver(st)
				})
			}
			r.t = t
			r.wroteNothing()
		})
	}
}

// demandedOfTheDashboard are the faults that it can meet.
func demandedOfTheDashboard(all []fault.State) []fault.State {
	return slices.DeleteFunc(all, func(st fault.State) bool {
		switch st.Server {
		case fault.Network, fault.Compute: // one client asks all of OpenStack, and that meets every fault under the name of openstack
			return st.Kind != "503" && st.Kind != "404"
		case fault.Management: // it is watched as the MOSK cluster is, which meets every fault; TestTheManagementClusterMayBeAway meets some
			return true
		}
		return false
	})
}

func allLive(s *core.Snapshot, screen string) bool {
	return live(s, core.ServerKubernetes) && live(s, core.ServerOpenStack) && strings.Contains(screen, "cmp-04") && strings.Contains(screen, "● kubernetes  ● openstack")
}

// getsOver goes through a fault, loses nothing by it, and finds all live again after it.
func (r *rig) getsOver(st fault.State) {
	r.t.Helper()
	r.t.Cleanup(r.Faults.Clear) // one that is not got over must not spoil the next
	nodes, instances := len(r.last.Nodes), len(r.last.Instances)
	r.goesThrough(st)
	if n, i := len(r.last.Nodes), len(r.last.Instances); n != nodes || i != instances {
		r.t.Errorf("of %d nodes and %d instances %d and %d are left", nodes, instances, n, i)
	}
	if err := r.Faults.Off(st.Server, st.Kind); err != nil {
		r.t.Fatal(err)
	}
	r.until("all is live again", allLive)
}

// goesThrough switches a fault on and waits until what is to be seen of it is on the screen.
func (r *rig) goesThrough(st fault.State) {
	r.t.Helper()
	switch st.Kind {
	case "429":
		st.RetryAfter = time.Second
	case "latency":
		st.Latency = 200 * time.Millisecond
	case "slow":
		st.Bytes = 20_000
	}
	server, other := core.ServerKubernetes, core.ServerOpenStack
	if !st.Server.IsKubernetes() {
		server, other = other, server
	}
	if err := r.Faults.On(st.Setting); err != nil {
		r.t.Fatal(err)
	}
	want, told := sight[st.Kind]
	switch {
	case st.Server == fault.Identity && st.Kind == "clock-skew": // nobody asks Keystone while the token is good
	case unseen[st.Kind], st.Server == fault.Identity && st.Kind == "token-expires":
		r.meets(st)
	case told:
		var src *core.Source
		r.until("it is told", func(s *core.Snapshot, screen string) bool {
			src = troubled(s, server, want.is)
			return src != nil && !strings.Contains(screen, "● "+string(server))
		})
		r.until("the other server goes on", func(s *core.Snapshot, _ string) bool { return live(s, other) })
	default:
		r.t.Errorf("nobody says what is to be seen of it")
	}
}

// meets waits until something has met a fault.
func (r *rig) meets(st fault.State) {
	r.t.Helper()
	if st.Kind == "token-expires" || st.Kind == "409" {
		return
	}
	r.until(st.String()+" is met", func(*core.Snapshot, string) bool {
		for _, now := range r.Faults.States() {
			if now.Server == st.Server && now.Kind == st.Kind {
				return now.Met > 0
			}
		}
		return false
	})
}

// wroteNothing fails the test when a server has received a write.
func (r *rig) wroteNothing() {
	r.t.Helper()
	for _, w := range r.Kube.Requests() {
		if strings.HasPrefix(w.UserAgent, "lockstep/") && w.Write() {
			r.t.Errorf("Kubernetes received %s %s", w.Verb, w.Path)
		}
	}
	for _, w := range r.OpenStack.Writes() {
		if w.Method != http.MethodGet {
			r.t.Errorf("OpenStack received %s %s", w.Method, w.Path)
		}
	}
}
