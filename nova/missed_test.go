package nova

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"lockstep/core"
	"lockstep/sim/bubble"
)

// Nova leaves a cell out of its lists when the cell's database does not answer. An instance that the list of the whole cloud does not show
// is gone only if Nova does not know it when it is asked for it alone.
func TestAnInstanceThatAListLeavesOutIsAskedFor(t *testing.T) {
	const away = `{"computeFault": {"code": 500, "message": "Cell 1 is not responding, hence instance info is not available."}}`
	const there = `{"server": {"id": "b", "name": "b", "OS-EXT-SRV-ATTR:host": "h2", "status": "ACTIVE"}}`
	for name, tt := range map[string]struct {
		status int
		answer string
		state  core.SourceState
		known  bool
	}{
		"its cell is away": {500, away, core.SourceStale, true},
		"it is there":      {200, there, core.SourceLive, true},
		"it is elsewhere": {200, `{"server": {"id": "b", "name": "b", "OS-EXT-SRV-ATTR:host": "h3", "status": "ACTIVE"}}`,
			core.SourceLive, false},
		"it was deleted softly": {200, `{"server": {"id": "b", "OS-EXT-SRV-ATTR:host": "h2", "OS-EXT-STS:vm_state": "soft-delete"}}`,
			core.SourceLive, false},
		"no answer in time": {504, `{}`, core.SourceLive, true},
		"it is gone":        {404, `{"itemNotFound": {"code": 404, "message": "Instance b could not be found."}}`, core.SourceLive, false},
	} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				n := newSmallNova(t)
				n.put("a", "h1", "ACTIVE", 0)
				n.put("b", "h2", "ACTIVE", 0)
				_, b := poll(t, n.client())
				b.await("both", func() bool { return b.instance("b").Host == "h2" && b.state(core.SourceInstances) == core.SourceLive })
				n.set(func() { delete(n.servers, "b") })
				n.answer("GET /compute/v2.1/servers/b", tt.status, tt.answer)
				time.Sleep(relistEvery + time.Minute)
				b.await("the list is read again", func() bool {
					return b.state(core.SourceInstances) == tt.state && (b.instance("b").ID == "b") == tt.known && b.instance("a").Host == "h1"
				})
				if tt.state == core.SourceLive {
					return
				}
				if err := b.states[core.SourceInstances].Err; err.Kind != core.ErrServer {
					t.Errorf("it says %v", err)
				}
				n.put("b", "h2", "ACTIVE", 0)
				b.await("live again", func() bool { return b.state(core.SourceInstances) == core.SourceLive && b.instance("b").Host == "h2" })
			})
		})
	}
}

// The same of the list of a host that is being emptied: it is not empty because its cell is away.
func TestAHostIsNotEmptyBecauseItsCellIsAway(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		n := newSmallNova(t)
		n.put("a", "h1", "ACTIVE", 0)
		p, b := poll(t, n.client(), "h1")
		b.await("a on h1", func() bool { return b.instance("a").Host == "h1" && b.state(core.SourceInstances) == core.SourceLive })
		n.answer("GET /compute/v2.1/servers/a", 500, `{"computeFault": {"code": 500, "message": "Cell 1 is not responding."}}`)
		n.set(func() { delete(n.servers, "a") })
		p.Nudge()
		time.Sleep(3 * time.Minute)
		if b.instance("a").Host != "h1" || len(b.nowhere) > 0 {
			t.Errorf("a is on %q; on no host were %v", b.instance("a").Host, b.nowhere)
		}
		n.answer("GET /compute/v2.1/servers/a", 404, `{"itemNotFound": {"code": 404, "message": "Instance a could not be found."}}`)
		p.Nudge()
		b.await("a on no host", func() bool { return b.instance("a").Host == "" })
	})
}

// The same of the list of all migrations: what it leaves out stays known, unless Nova does not show it of its instance either. A cold
// migration that waits for a decision is known however old it is.
func TestAMigrationThatAListLeavesOutIsAskedFor(t *testing.T) {
	for name, tt := range map[string]struct {
		there bool
		state core.SourceState
	}{"its cell was away for a moment": {true, core.SourceStale}, "it is gone with its instance": {false, core.SourceLive}} {
		t.Run(name, func(t *testing.T) {
			bubble.Run(t, func(t *testing.T) {
				n := newSmallNova(t)
				list, own := `[`+migrationBody+`]`, `[`+migrationBody+`]` // own is what is told of the instance alone
				old := strings.NewReplacer(`"id": 2,`, `"id": 1,`, `"error"`, `"finished"`).Replace(migrationBody)
				n.on("GET /compute/v2.1/os-migrations", func(w http.ResponseWriter, r *http.Request) {
					n.mu.Lock()
					list, own := list, own
					n.mu.Unlock()
					switch q := r.URL.Query(); {
					case q.Get("status") == "finished" && list != `[]`:
						reply(w, 200, `{"migrations": [`+old+`]}`)
					case q.Get("status") != "" || q.Get("changes-since") != "":
						reply(w, 200, `{"migrations": []}`)
					case q.Get("instance_uuid") != "":
						reply(w, 200, `{"migrations": `+own+`}`)
					default:
						reply(w, 200, `{"migrations": `+list+`}`)
					}
				})
				_, b := poll(t, n.client())
				known := func() int { return len(b.objects[core.SourceMigrations]) }
				b.await("both", func() bool { return known() == 2 })
				n.set(func() {
					list = `[]`
					if !tt.there {
						own = `[]`
					}
				})
				time.Sleep(relistEvery + time.Minute)
				b.await("the list is read again", func() bool { return b.state(core.SourceMigrations) == tt.state })
				if got := known(); got == 2 != tt.there {
					t.Errorf("%d are known", got)
				}
			})
		})
	}
}
