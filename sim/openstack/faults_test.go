package openstack_test

import (
	"context"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"lockstep/sim/bubble"
	"lockstep/sim/lan"
	"lockstep/sim/openstack"
)

func TestFaultsMeetWhatTheyMatch(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	admin, demo := w.compute("sim", "2.53"), w.compute("sim-demo", "2.53")
	admin.ReauthFunc = nil
	for _, test := range []struct {
		fault  openstack.Fault
		status int
		text   string
	}{
		{openstack.Fault{Status: 500}, 500, "Unexpected API Error."},
		{openstack.Fault{Status: 503, Message: "the database is away"}, 503, "the database is away"},
		{openstack.Fault{Status: 429, RetryAfter: 2 * time.Second}, 429, "rate-limited"},
		{openstack.Fault{Status: 401}, 401, "requires authentication"},
		{openstack.Fault{Status: 403, Message: "Policy doesn't allow x to be performed."}, 403, "Policy doesn't allow x"},
		{openstack.Fault{Drop: true}, 0, "EOF"},
	} {
		test.fault.Path = regexp.MustCompile("/servers/detail$")
		test.fault.User = "admin"
		clear := w.SetFault(test.fault)
		if status, body := do(t.Context(), admin, http.MethodGet, "servers/detail", nil); status != test.status ||
			!strings.Contains(body, test.text) {
			t.Errorf("%+v: %d %s", test.fault, status, body)
		}
		if status, _ := do(t.Context(), admin, http.MethodGet, "servers", nil); status != 200 {
			t.Errorf("%+v: another path: %d", test.fault, status)
		}
		if status, _ := do(t.Context(), demo, http.MethodGet, "servers/detail", nil); status != 200 {
			t.Errorf("%+v: another user: %d", test.fault, status)
		}
		clear()
		if status, _ := do(t.Context(), admin, http.MethodGet, "servers/detail", nil); status != 200 {
			t.Errorf("%+v: when it is over: %d", test.fault, status)
		}
	}
}

func TestAFaultCanBeOverAfterSomeRequests(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	c := w.compute("sim", "2.1")
	w.SetFault(openstack.Fault{Status: 502, Times: 2})
	for i, want := range []int{502, 502, 200} {
		if status, _ := do(t.Context(), c, http.MethodGet, "servers", nil); status != want {
			t.Errorf("request %d: %d, want %d", i+1, status, want)
		}
	}
}

func TestAHangLastsUntilTheClientGivesUp(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		w := newWorld(t, openstack.Options{Network: lan.New(1)})
		id := w.server("vm", openstack.ServerSpec{})
		c := w.compute("sim", "2.1")
		w.SetFault(openstack.Fault{Hang: true, Method: http.MethodPost})
		ctx, giveUp := context.WithCancel(t.Context())
		defer giveUp()
		answer := make(chan string, 1)
		go func() {
			_, body := do(ctx, c, http.MethodPost, "servers/"+id+"/action", map[string]any{"os-stop": nil})
			answer <- body
		}()
		time.Sleep(time.Hour)
		if len(w.Writes()) != 1 || len(answer) != 0 {
			t.Errorf("after an hour, %d requests have come, and %d answers", len(w.Writes()), len(answer))
		}
		giveUp()
		if body := <-answer; !strings.Contains(body, context.Canceled.Error()) {
			t.Errorf("got %q", body)
		}
		w.wantState(id, "ACTIVE n1")
		if writes := w.Writes(); len(writes) != 1 || writes[0].Body != `{"os-stop":null}` {
			t.Errorf("the request was not logged: %+v", writes)
		}
	})
}

func TestAnOutageIsTheIngressControllers503(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	c := w.compute("sim", "2.1")
	w.Outage(true)
	if status, body := do(t.Context(), c, http.MethodGet, "servers", nil); status != 503 || !strings.Contains(body, "nginx") {
		t.Errorf("%d %s", status, body)
	}
	if _, _, err := w.provider("sim"); statusOf(err) != 503 {
		t.Errorf("login: %v, want 503", err)
	}
	w.Outage(false)
	if status, _ := do(t.Context(), c, http.MethodGet, "servers", nil); status != 200 {
		t.Errorf("afterwards: %d", status)
	}
}

func TestRequestsTellWhatWasSentAndNoSecret(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	id := w.server("vm", openstack.ServerSpec{})
	c := w.compute("sim", "2.30")
	w.act(c, id, "os-migrateLive", live, 202, "")
	writes := w.Writes()
	if len(writes) != 1 {
		t.Fatalf("%+v", writes)
	}
	writes[0].At = writes[0].At.Truncate(time.Second)
	if agent := writes[0].UserAgent; !strings.HasPrefix(agent, "gophercloud/") {
		t.Errorf("it was sent by %q", agent)
	}
	writes[0].UserAgent = "" // with its version
	want := openstack.Request{At: start, Method: "POST", Path: "/compute/v2.1/servers/" + id + "/action", Microversion: "2.30",
		Body: `{"os-migrateLive":{"block_migration":"auto","host":null}}`, Status: 202, User: "admin"}
	if writes[0] != want {
		t.Errorf("got %+v, want %+v", writes[0], want)
	}
	for _, r := range w.Requests() {
		if strings.Contains(r.Body, "password") || strings.Contains(r.Path+r.Query+r.Body, c.Token()) {
			t.Errorf("a secret is in %+v", r)
		}
	}
	w.ForgetRequests()
	if got := w.Requests(); len(got) != 0 {
		t.Errorf("still there: %+v", got)
	}
}

func TestMalformedRequestsAreRefused(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	id := w.server("vm", openstack.ServerSpec{})
	c := w.compute("sim", "2.80")
	for _, test := range []struct {
		method, path string
		body         any
	}{
		{"POST", "servers/" + id + "/action", map[string]any{"os-stop": nil, "os-start": nil}},
		{"POST", "servers/" + id + "/action", map[string]any{"reboot": 7}},
		{"POST", "servers/" + id + "/action", map[string]any{"os-migrateLive": nil}},
		{"POST", "servers/" + id + "/action", map[string]any{"os-migrateLive": map[string]any{"host": 7, "block_migration": "auto"}}},
		{"POST", "servers/" + id + "/action", map[string]any{"os-migrateLive": map[string]any{"host": nil, "block_migration": "perhaps"}}},
		{"POST", "servers/" + id + "/action", map[string]any{"migrate": map[string]any{"target": "n2"}}},
		{"POST", "servers/" + id + "/action", map[string]any{"os-resetState": "error"}},
		{"POST", "servers/" + id + "/action", map[string]any{"resize": map[string]any{"flavorRef": "none"}}},
		{"GET", "servers?limit=-1", nil},
		{"GET", "servers?limit=many", nil},
		{"GET", "servers?changes-since=yesterday", nil},
		{"GET", "servers?name=(", nil},
		{"GET", "servers?status=FLYING", nil},
		{"GET", "servers?colour=red", nil},
		{"GET", "os-migrations?limit=x", nil},
	} {
		if status, body := do(t.Context(), c, test.method, test.path, test.body); status != 400 ||
			!strings.Contains(body, `{"badRequest":{"code":400,`) {
			t.Errorf("%s %s %v: %d %s, want 400", test.method, test.path, test.body, status, body)
		}
	}
	w.wantState(id, "ACTIVE n1")
}

func TestSeedingRefusesWhatCannotBe(t *testing.T) {
	w := newWorld(t, openstack.Options{})
	add := func(s openstack.ServerSpec) error { _, err := w.AddServer(s); return err }
	id := w.server("vm", openstack.ServerSpec{})
	for name, err := range map[string]error{
		"host twice":       w.AddHost(openstack.HostSpec{Name: "n1", VCPUs: 1, RAM: 1, Disk: 1}),
		"host of nothing":  w.AddHost(openstack.HostSpec{Name: "n9"}),
		"unknown host":     add(openstack.ServerSpec{Name: "x", Host: "nowhere", Flavor: "small"}),
		"gateway":          add(openstack.ServerSpec{Name: "x", Host: "gw1", Flavor: "small"}),
		"unknown flavor":   add(openstack.ServerSpec{Name: "x", Host: "n1", Flavor: "huge"}),
		"unknown project":  add(openstack.ServerSpec{Name: "x", Host: "n1", Flavor: "small", Project: "none"}),
		"unknown status":   add(openstack.ServerSpec{Name: "x", Host: "n1", Flavor: "small", Status: "FLYING"}),
		"unknown group":    add(openstack.ServerSpec{Name: "x", Host: "n1", Flavor: "small", Group: "none"}),
		"no previous host": add(openstack.ServerSpec{Name: "x", Host: "n1", Flavor: "small", Status: "VERIFY_RESIZE"}),
		"same ID":          add(openstack.ServerSpec{ID: id, Name: "x", Host: "n1", Flavor: "small"}),
		"power off":        w.PowerOffHost("nowhere"),
		"power on":         w.PowerOnHost("nowhere"),
		"behaviour":        w.SetBehaviour("nobody", openstack.Behaviour{}),
		"second start":     w.Start(t.Context()),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := openstack.New(openstack.Options{MaxMicroversion: "2.999"}); err == nil {
		t.Error("microversion 2.999: no error")
	}
	if got := len(w.ServersOn("n1")); got != 1 {
		t.Errorf("%d servers on n1, want the one that could be added", got)
	}
	if err := errors.Join(w.SetTags(id, "a"), w.SetBehaviour(id, openstack.Behaviour{})); err != nil {
		t.Error(err)
	}
}
