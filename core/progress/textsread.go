package progress

import "sync"

// textsRead keeps what was read of the texts of locks. A text is read when it arrives, and every rule that asks later finds it here
// instead of trying the whole table of patterns again. What is kept is bounded; a text that has not been asked for while as many others
// came is read again. The lists in a LockMessage are shared and never changed.
var textsRead = texts{}

const (
	mostTextsRead   = 4096    // a generation; there are two
	longestTextKept = 4 << 10 // bytes; longer texts are few, and their memory is better given back
)

// texts is two generations: what is asked for again in the older one comes into the newer one.
type texts struct {
	mu         sync.Mutex
	newer, old map[string]LockMessage
}

func (t *texts) message(text string, read func(string) LockMessage) LockMessage {
	if len(text) > longestTextKept {
		return read(text)
	}
	t.mu.Lock()
	m, found := t.newer[text]
	if !found {
		if m, found = t.old[text]; found {
			t.keep(text, m)
		}
	}
	t.mu.Unlock()
	if found {
		return m
	}
	m = read(text) // by more than one at a time, maybe: all read the same
	t.mu.Lock()
	defer t.mu.Unlock()
	t.keep(text, m)
	return m
}

func (t *texts) keep(text string, m LockMessage) {
	if t.newer == nil || len(t.newer) >= mostTextsRead {
		t.newer, t.old = map[string]LockMessage{}, t.newer
	}
	t.newer[text] = m
}
