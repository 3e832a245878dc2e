package cli

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"lockstep/core"
	"lockstep/sim"
	"lockstep/sim/bubble"
	"lockstep/sim/bubble/lane"
	"lockstep/sim/fault"
	"lockstep/sim/switchboard"
	"lockstep/tui"
)

// watched is the dashboard, seen from outside.
type watched struct {
	mu    sync.Mutex
	model tea.Model
}

func (w *watched) Init() tea.Cmd { return w.model.Init() }

func (w *watched) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	w.mu.Lock()
	defer w.mu.Unlock()
	next, cmd := w.model.Update(msg)
	w.model = next
	return w, cmd
}

// View shows the terminal nothing: the dashboard is drawn when a test asks for it.
func (w *watched) View() tea.View { return tea.View{} }

func (w *watched) shows() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return ansi.Strip(w.model.View().Content)
}

// rig is the program as `lockstep demo` puts it together, without the terminal, and the cloud that it watches.
type rig struct {
	*story
	screen *watched
}

// newRig opens the dashboard on a cloud.
func newRig(t *testing.T, o sim.Options, change ...func(*story)) *rig {
	t.Helper()
	r := &rig{story: newStory(t, o)}
	for _, c := range change {
		c(r.story)
	}
	r.begin()
	r.screen = &watched{model: tui.New(tui.Options{Backend: r.s.Engine, Rehearsal: &rehearsal{r.Cloud}})}
	ctx, stop := context.WithCancel(context.WithoutCancel(t.Context()))
	input, keys := io.Pipe()
	program := tea.NewProgram(r.screen, tea.WithContext(ctx), tea.WithInput(input), tea.WithOutput(io.Discard), tea.WithWindowSize(200, 60),
		tea.WithoutSignalHandler(), tea.WithFPS(1))
	var running sync.WaitGroup
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
	return r
}

// shows waits until the screen contains the text.
func (r *rig) shows(text string) {
	r.t.Helper()
	r.showsOneOf([]string{text})
}

// showsOneOf waits until the screen contains one of the texts.
func (r *rig) showsOneOf(texts []string) {
	r.t.Helper()
	shown := func() bool {
		screen := r.screen.shows()
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(screen, text) })
	}
	for began := time.Now(); !shown(); time.Sleep(time.Second) {
		if time.Since(began) > longest {
			r.t.Fatalf("the screen does not show %q, but\n%s", texts, r.screen.shows())
		}
	}
}

// live tells whether all sources of a server are live.
func live(s *core.Snapshot, server core.Server) bool {
	for id, src := range s.Sources {
		if id.Server() == server && src.State != core.SourceLive {
			return false
		}
	}
	return true
}

// troubled returns a source of the server that is not live and for which the function is true; nil if there is none.
func troubled(s *core.Snapshot, server core.Server, is func(core.Source) bool) *core.Source {
	for id, src := range s.Sources {
		if id.Server() == server && src.State != core.SourceLive && src.State != core.SourceConnecting && is(src) {
			return &src
		}
	}
	return nil
}

// seen is what a fault shows: the kind and the status of the error, and words in its message and its remedy. The zero value is a
// fault that the program works on with.
type seen struct {
	kinds  []core.ErrorKind
	status int
	words  string
}

// Faults that show the operator only their effect on times, or that other tests cover.
var unseen = map[string]bool{"latency": true, "409": true, "410": true, "watches-end": true, "watches-cut": true, "clock-skew": true,
	"slow": true}

var sight = map[string]seen{
	"401":       {[]core.ErrorKind{core.ErrUnauthorized}, 401, ""},
	"403":       {[]core.ErrorKind{core.ErrForbidden}, 403, ""},
	"404":       {[]core.ErrorKind{core.ErrNotFound}, 404, ""},
	"429":       {[]core.ErrorKind{core.ErrTooManyRequests}, 429, "1s"},
	"500":       {[]core.ErrorKind{core.ErrServer}, 500, ""},
	"503":       {[]core.ErrorKind{core.ErrServer}, 503, ""},
	"page-502":  {[]core.ErrorKind{core.ErrServer}, 502, ""},
	"page-200":  {[]core.ErrorKind{core.ErrOther}, 0, "not"},
	"refused":   {[]core.ErrorKind{core.ErrUnreachable}, 0, ""},
	"hang":      {[]core.ErrorKind{core.ErrTimeout}, 0, ""},
	"reset":     {[]core.ErrorKind{core.ErrUnreachable}, 0, ""},
	"truncated": {[]core.ErrorKind{core.ErrUnreachable}, 0, ""},
	// a decoder cannot tell it from a broken connection
	"short":          {[]core.ErrorKind{core.ErrOther, core.ErrUnreachable}, 0, ""},
	"malformed":      {[]core.ErrorKind{core.ErrOther}, 0, "not"},
	"watches-silent": {[]core.ErrorKind{core.ErrTimeout}, 0, "nothing heard"},
	"token-expires":  {[]core.ErrorKind{core.ErrUnauthorized}, 401, ""},
}

func (s seen) is(src core.Source) bool {
	return src.Err != nil && slices.Contains(s.kinds, src.Err.Kind) && (s.status == 0 || src.Err.Status == s.status) &&
		strings.Contains(src.Err.Message+" "+src.Err.Remedy, s.words) && src.Err.Call != "" && src.Err.Remedy != "" &&
		!strings.Contains(src.Err.Message, "<html")
}

// Every fault of the catalogue, one after the other, while the dashboard runs. The screen says which server, what, and what to
// do; the last facts stay; the other server goes on; nothing is written; and everything is live again when the fault is over.
// Several dashboards, each with its own cloud, share the faults.
func TestEveryFaultIsToldAndGotOver(t *testing.T) {
	t.Parallel()
	const dashboards = 4
	for i := range dashboards {
		if !lane.Chosen(t, i, dashboards) {
			continue
		}
		t.Run(fmt.Sprintf("dashboard %d", i+1), func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				r := newRig(t, sim.Options{ControllersOff: true}) // only the faults change the screen
				r.allLive()
				for j, st := range demandedOfTheDashboard(r.Faults.States()) {
					if j%dashboards == i {
						r.getsOver(st)
					}
				}
				r.wroteNothing()
			})
		})
	}
}

// demandedOfTheDashboard returns the faults that it can meet.
func demandedOfTheDashboard(all []switchboard.State) []switchboard.State {
	return slices.DeleteFunc(all, func(st switchboard.State) bool {
		switch st.Server {
		case fault.Network, fault.Compute: // one client asks all of OpenStack, and meets every fault under the name of openstack
			return st.Kind != "503" && st.Kind != "404"
		case fault.Management: // it is watched like the MOSK cluster, which meets every fault; TestTheManagementClusterMayBeAway meets some
			return true
		}
		return false
	})
}

// allLive waits until everything is live and the screen says so.
func (r *rig) allLive() {
	r.t.Helper()
	r.until("all is live", func(s *core.Snapshot) bool { return live(s, core.ServerKubernetes) && live(s, core.ServerOpenStack) })
	r.shows("● kubernetes  ● openstack")
	r.shows("cmp-04")
}

// getsOver goes through a fault, loses nothing by it, and sees everything live again after it.
func (r *rig) getsOver(st switchboard.State) {
	r.t.Helper()
	r.t.Logf("%s goes wrong", st)
	nodes, instances := len(r.last.Nodes), r.last.Instances.Len()
	r.goesThrough(st)
	if n, i := len(r.last.Nodes), r.last.Instances.Len(); n != nodes || i != instances {
		r.t.Errorf("%s: of %d nodes and %d instances %d and %d are left", st, nodes, instances, n, i)
	}
	if err := r.Faults.Off(st.Server, st.Kind); err != nil {
		r.t.Fatal(err)
	}
	r.allLive()
}

// goesThrough switches a fault on and waits until the screen shows its effect.
func (r *rig) goesThrough(st switchboard.State) {
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
	case st.Server == fault.Identity && st.Kind == "clock-skew": // nobody asks Keystone while the token is valid
	case unseen[st.Kind], st.Server == fault.Identity && st.Kind == "token-expires":
		r.meets(st)
		time.Sleep(time.Minute) // nothing may be lost in this time
		r.last = r.s.Engine.Snapshot()
	case told:
		if halved[st.Kind] && st.Server.IsKubernetes() {
			r.nodeChanges()
		}
		r.until("it is told", func(s *core.Snapshot) bool { return troubled(s, server, want.is) != nil })
		r.showsOneOf(worst(want.kinds, string(server)))
		r.until("the other server goes on", func(s *core.Snapshot) bool { return live(s, other) })
	default:
		r.t.Errorf("nobody says what is to be seen of %s", st)
	}
}

// halved are the faults that spoil what comes. A watch on which nothing comes works on, and all it has shown is right.
var halved = map[string]bool{"truncated": true, "short": true}

// nodeChanges changes a node, so that an event is due.
func (r *rig) nodeChanges() {
	r.t.Helper()
	config := rest.CopyConfig(r.AdminConfig())
	config.UserAgent = "rockoon" // no fault hits the cloud's own
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		r.t.Fatal(err)
	}
	name := slices.Min(slices.Collect(maps.Keys(r.last.Nodes)))
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{"changed":%q}}}`, time.Now().Format("150405"))
	if _, err := client.CoreV1().Nodes().Patch(r.t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		r.t.Fatal(err)
	}
}

// worst returns the ways to show a server that has a fault of one of these kinds.
func worst(kinds []core.ErrorKind, server string) (texts []string) {
	for _, kind := range kinds {
		if (&core.APIError{Kind: kind}).WholeServer() {
			texts = append(texts, "x "+server)
		} else {
			texts = append(texts, "○ "+server)
		}
	}
	return texts
}

// meets waits until a request has met the fault.
func (r *rig) meets(st switchboard.State) {
	r.t.Helper()
	if st.Kind == "token-expires" || st.Kind == "409" {
		return
	}
	r.until(st.String()+" is met", func(*core.Snapshot) bool {
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
