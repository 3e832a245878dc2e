package wire_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockstep/sim/bubble"
	"lockstep/sim/lan"
	"lockstep/sim/wire"
)

const answer = `{"kind":"List","items":[{"name":"one"},{"name":"two"}]}`

// ask is what a client gets, in a bubble, of the answer with the damage: the body, and how reading it failed.
func ask(t *testing.T, d wire.Damage, over <-chan struct{}) (*http.Response, string, error) {
	t.Helper()
	network := lan.New(1)
	listener, err := network.Listen("server:80")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w = d.Spoil(r.Context(), w, over)
		w.Header().Set("Content-Length", strconv.Itoa(len(answer)))
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, answer)
	})}
	go func() { _ = server.Serve(listener) }() // until Close
	defer server.Close()
	transport := network.Transport("client")
	defer transport.CloseIdleConnections()
	resp, err := (&http.Client{Transport: transport}).Get("http://server:80/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

func TestWhatHappensToABody(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		half := answer[:(len(answer)+1)/2]
		for _, test := range []struct {
			name   string
			damage wire.Damage
			body   string
			length int64
			breaks bool
		}{
			{"nothing", wire.Damage{}, answer, int64(len(answer)), false},
			{"broken", wire.Damage{Body: wire.Broken}, half, int64(len(answer)), true},
			{"short", wire.Damage{Body: wire.Short}, half, int64(len(half)), false},
			{"garbled", wire.Damage{Body: wire.Garbled}, strings.ReplaceAll(answer, `"`, `'`), int64(len(answer)), false},
			{"slow", wire.Damage{Body: wire.Slow, Rate: 400}, answer, int64(len(answer)), false},
		} {
			began := time.Now()
			resp, body, err := ask(t, test.damage, nil)
			if slow := time.Since(began) >= time.Second/10; slow != (test.damage.Body == wire.Slow) {
				t.Errorf("%s: it took %s", test.name, time.Since(began))
			}
			if body != test.body || (err != nil) != test.breaks || resp.ContentLength != test.length || resp.StatusCode != http.StatusAccepted {
				t.Errorf("%s: %d, length %d, %q, error %v", test.name, resp.StatusCode, resp.ContentLength, body, err)
			}
			if valid := json.Valid([]byte(body)); valid != (test.body == answer) {
				t.Errorf("%s: JSON: %v", test.name, valid)
			}
		}
	})
}

func TestASlowBodyComesAtOnceWhenTheTroubleIsOver(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		over := make(chan struct{})
		close(over)
		began := time.Now()
		if _, body, err := ask(t, wire.Damage{Body: wire.Slow, Rate: 1}, over); body != answer || err != nil {
			t.Errorf("%q, error %v", body, err)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("it took %s", took)
		}
	})
}

func TestTheClockOfAnAnswer(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		resp, body, err := ask(t, wire.Damage{Skew: time.Hour}, nil)
		if body != answer || err != nil {
			t.Errorf("%q, error %v", body, err)
		}
		date, err := http.ParseTime(resp.Header.Get("Date"))
		if ahead := time.Until(date); err != nil || ahead < 55*time.Minute || ahead > time.Hour {
			t.Errorf("ahead by %s, error %v", ahead, err)
		}
	})
}

func TestThePagesOfAProxy(t *testing.T) {
	for status, want := range map[int]string{200: "Sign in", 502: "502 Bad Gateway", 503: "503 Service Temporarily Unavailable"} {
		w := httptest.NewRecorder()
		wire.Page(w, status)
		if w.Code != status || !strings.Contains(w.Body.String(), want) || w.Header().Get("Content-Type") != "text/html" {
			t.Errorf("%d: %d %s", status, w.Code, w.Body)
		}
	}
}
