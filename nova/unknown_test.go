package nova

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/sim/bubble"
)

// novaWrites has one of each change that is written to OpenStack, with the request it makes and the status that its API gives it.
var novaWrites = map[string]struct {
	request string
	status  int
	change  core.Change
}{
	"LiveMigrate":            {"POST /compute/v2.1/servers/a/action", 202, doing(core.IntentLiveMigrate, "a")},
	"ColdMigrate":            {"POST /compute/v2.1/servers/a/action", 202, doing(core.IntentColdMigrate, "a")},
	"ConfirmResize":          {"POST /compute/v2.1/servers/a/action", 204, doing(core.IntentConfirmResize, "a")},
	"RevertResize":           {"POST /compute/v2.1/servers/a/action", 202, doing(core.IntentRevertResize, "a")},
	"Stop":                   {"POST /compute/v2.1/servers/a/action", 202, doing(core.IntentStop, "a")},
	"Start":                  {"POST /compute/v2.1/servers/a/action", 202, doing(core.IntentStart, "a")},
	"Resume":                 {"POST /compute/v2.1/servers/a/action", 202, doing(core.IntentResume, "a")},
	"AbortMigration":         {"DELETE /compute/v2.1/servers/a/migrations/7", 202, onMigration(core.IntentAbortMigration, "a", 7)},
	"ForceCompleteMigration": {"POST /compute/v2.1/servers/a/migrations/7/action", 202, onMigration(core.IntentForceComplete, "a", 7)},
	"ResetState":             {"POST /compute/v2.1/servers/a/action", 202, doing(core.IntentResetState, "a")},
	"Evacuate":               {"POST /compute/v2.1/servers/a/action", 200, doing(core.IntentEvacuate, "a")},
	"Shelve":                 {"POST /compute/v2.1/servers/a/action", 202, doing(core.IntentShelve, "a")},
	"Unshelve":               {"POST /compute/v2.1/servers/a/action", 202, doing(core.IntentUnshelve, "a")},
	"SetTags":                {"PUT /compute/v2.1/servers/a/tags", 200, tagging("a", "x")},
	"SetComputeService":      {"PUT /compute/v2.1/os-services/1", 200, core.SetComputeService{Service: core.Ref{UID: "1"}, Enabled: true}},
	"SetVolumeService": {"PUT /volume/v3/os-services/enable", 200, core.SetVolumeService{Service: core.Ref{Name: "kaas-node-001@lvm"},
		Enabled: true}},
}

// strangeAnswers are answers that Nova does not give, each in the place of one with a certain status.
var strangeAnswers = map[string]func(w http.ResponseWriter, r *http.Request, status int){
	"another status": func(w http.ResponseWriter, _ *http.Request, status int) {
		if status == 200 {
			reply(w, 202, "{}")
			return
		}
		reply(w, 200, "{}")
	},
	"a page": func(w http.ResponseWriter, _ *http.Request, _ int) {
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(203)
		io.WriteString(w, "<html>Log in to the network</html>")
	},
	"a redirection": func(w http.ResponseWriter, r *http.Request, _ int) {
		http.Redirect(w, r, "/compute/v2.1/", http.StatusFound)
	},
	"no answer": func(_ http.ResponseWriter, r *http.Request, _ int) { <-r.Context().Done() },
	"a connection that breaks off": func(http.ResponseWriter, *http.Request, int) {
		panic(http.ErrAbortHandler)
	},
	"a body that is cut": func(w http.ResponseWriter, _ *http.Request, status int) {
		w.Header().Set("Content-Length", "1000")
		w.WriteHeader(status)
		io.WriteString(w, `{"serv`)
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	},
	"a body that is not JSON": func(w http.ResponseWriter, _ *http.Request, status int) { reply(w, status, "{{{") },
	"500":                     func(w http.ResponseWriter, _ *http.Request, _ int) { reply(w, 500, "") },
	"504":                     func(w http.ResponseWriter, _ *http.Request, _ int) { reply(w, 504, "") },
}

// An answer that Nova does not give says nothing about the write: it may have been made, and does not count as refused. When the
// status is Nova's own for success, the write was accepted, whatever the rest of the answer.
func TestAStrangeAnswerToAWriteIsNoRefusal(t *testing.T) {
	var changes []core.Change
	for _, tt := range novaWrites {
		changes = append(changes, tt.change)
	}
	if got, want := kindsOf(changes), kindsOf(engine.ChangesAt(core.ServerOpenStack)); !slices.Equal(got, want) {
		t.Errorf("this test writes %v; there are %v", got, want)
	}
	for name, tt := range novaWrites {
		for what, answer := range strangeAnswers {
			t.Run(name+"/"+what, func(t *testing.T) {
				bubble.Run(t, func(t *testing.T) {
					f := newFakeCloud(t)
					f.cinder = "volumev3"
					status := tt.status
					if status == 204 && strings.HasPrefix(what, "a body") {
						status = 202 // which Nova may give as well, and 204 has no body
					}
					f.on(tt.request, func(w http.ResponseWriter, r *http.Request) { answer(w, r, status) })
					err := writes(t, f.client(), nil).write(tt.change)
					if n := len(f.seen(tt.request)); n != 1 {
						t.Errorf("it was sent %d times", n)
					}
					if err != nil && !apiError(t, err).Uncertain() {
						t.Errorf("it counts as refused: %v", err)
					}
					if taken := what == "a body that is not JSON"; (err == nil) != taken && what != "a body that is cut" {
						t.Errorf("got %v", err)
					}
				})
			})
		}
	}
}

// kindsOf are the kinds of changes, and of actions on instances, sorted.
func kindsOf(changes []core.Change) []string {
	var kinds []string
	for _, c := range changes {
		kind := fmt.Sprintf("%T", c)
		if a, ok := c.(core.InstanceAction); ok {
			kind += " " + string(a.Do)
		}
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	return kinds
}

// What Nova refuses is refused, however bad the line is.
func TestARefusalIsCertain(t *testing.T) {
	for name, tt := range novaWrites {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				f := newFakeCloud(t)
				f.cinder = "volumev3"
				f.on(tt.request, func(w http.ResponseWriter, _ *http.Request) {
					w.Header().Set("Content-Length", "1000")
					w.WriteHeader(409)
					io.WriteString(w, `{"conflictingRequest": {"mess`)
					w.(http.Flusher).Flush()
					panic(http.ErrAbortHandler)
				})
				if e := apiError(t, writes(t, f.client(), nil).write(tt.change)); e.Kind != core.ErrConflict || e.Uncertain() {
					t.Errorf("%s: %+v", name, e)
				}
			})
		})
	}
}

// Each write waits longer for its answer than Nova itself waits before it says why the write failed.
func TestAWriteWaitsLongerThanNova(t *testing.T) {
	const silent, long = 60 * time.Second, 1800 * time.Second // docs/mosk.md#how-long-nova-takes
	for name, tt := range novaWrites {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				takes := silent
				if name == "LiveMigrate" || name == "ColdMigrate" {
					takes = long
				}
				f := newFakeCloud(t)
				f.cinder = "volumev3"
				f.on(tt.request, func(w http.ResponseWriter, _ *http.Request) {
					time.Sleep(takes)
					reply(w, 400, `{"badRequest": {"message": "No valid host was found."}}`)
				})
				e := apiError(t, writes(t, f.client(), nil).write(tt.change))
				if e.Kind != core.ErrInvalid || e.Message != "No valid host was found." {
					t.Errorf("got %v", e)
				}
			})
		})
	}
}

// A login may take as long as the speed of the cloud's clock says. How often the cloud is polled changes nothing about it: a slow
// real cloud that is polled often was given up after three seconds.
func TestTheClocksSpeedDecidesHowLongALoginMayTake(t *testing.T) {
	for _, tt := range []struct {
		speed, pace float64
		want        time.Duration
	}{{0, 1, 30 * time.Second}, {0, 20, 30 * time.Second}, {1, 20, 30 * time.Second}, {20, 20, 3 * time.Second}} {
		t.Run(fmt.Sprint(tt.speed, tt.pace), func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				f := newFakeCloud(t)
				f.set(func() { f.mute = true })
				c := f.clientAt(tt.speed)
				NewPoller(c, func(core.Delta) {}, PollOptions{Pace: tt.pace})
				began := time.Now()
				_, err := c.session(context.Background())
				if took := time.Since(began); apiError(t, err).Kind != core.ErrTimeout || took != tt.want {
					t.Errorf("after %v, want %v: %v", took, tt.want, err)
				}
			})
		})
	}
}

// A Keystone that hangs delays a write no longer than a login may take.
func TestATokenIsNotWaitedForAsLongAsAMigration(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		f := newFakeCloud(t)
		c := f.client()
		if _, err := c.session(context.Background()); err != nil {
			t.Fatal(err)
		}
		f.expireToken()
		f.set(func() { f.mute = true })
		began := time.Now()
		e := apiError(t, writes(t, c, nil).write(doing(core.IntentLiveMigrate, "a")))
		if took := time.Since(began); took > loginLimit+time.Second || e.Kind != core.ErrTimeout {
			t.Errorf("after %v: %v", took, e)
		}
	})
}
