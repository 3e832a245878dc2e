package kube

import (
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"lockstep/sim/bubble/lane"
)

// Under change a watch wakes up some twenty times a second, however many events come; an event that comes alone is read at once. What is
// there is read without a rest: a thousand events that came together take no time.
func TestAWatchLetsEventsGather(t *testing.T) {
	for name, tt := range map[string]struct {
		events int
		every  time.Duration
		waits  int           // at most
		within time.Duration // from an event to its reading, at most
		whole  time.Duration // from the last event to the reading of all, at most
	}{
		"one now and then":   {20, time.Second, 21, 0, 0},
		"hundreds a second":  {1000, 5 * time.Millisecond, 200, gather, gather},
		"all at one moment":  {1000, 0, 10, gather, gather},
		"more than a buffer": {20000, 0, 10, gather, gather},
	} {
		t.Run(name, func(t *testing.T) {
			if tt.events > 1000 {
				lane.OnlyAStory(t)
			}
			synctest.Test(t, func(t *testing.T) {
				source := &heldLine{sent: make(chan []byte, tt.events)}
				go func() {
					for range tt.events {
						source.sent <- fmt.Appendf(nil, `{"type":"MODIFIED","object":{"sent":%d}}`, time.Now().UnixNano())
						time.Sleep(tt.every)
					}
					close(source.sent)
				}()
				frames := onceFramer{}.NewFrameReader(source)
				began, n := time.Now(), 0
				for ; ; n++ {
					data := make([]byte, 1<<10)
					length, err := frames.Read(data)
					if err != nil {
						break
					}
					var sent int64
					if _, err := fmt.Sscanf(string(data[:length]), `{"type":"MODIFIED","object":{"sent":%d}}`, &sent); err != nil {
						t.Fatal(err)
					}
					if late := time.Since(time.Unix(0, sent)); late > tt.within {
						t.Fatalf("event %d is read %s late, and %s are allowed", n, late, tt.within)
					}
				}
				if n != tt.events || source.waits > tt.waits {
					t.Errorf("%d events were read after %d waits, want %d after %d at most", n, source.waits, tt.events, tt.waits)
				}
				if more := time.Since(began) - time.Duration(tt.events)*tt.every; more > tt.whole {
					t.Errorf("the last was read after %s", more)
				}
			})
		})
	}
}

// heldLine holds what was sent until it is read, as the kernel does.
type heldLine struct {
	sent  chan []byte
	left  []byte
	waits int // how often a reader had to wait
}

func (l *heldLine) Read(to []byte) (n int, err error) {
	for n < len(to) {
		if len(l.left) == 0 {
			var more bool
			select {
			case l.left, more = <-l.sent:
			default:
				if n > 0 {
					return n, nil
				}
				l.waits++
				l.left, more = <-l.sent
			}
			if !more && n == 0 {
				return 0, io.EOF
			} else if !more {
				return n, nil
			}
		}
		copied := copy(to[n:], l.left)
		n, l.left = n+copied, l.left[copied:]
	}
	return n, nil
}

func (l *heldLine) Close() error { return nil }
