package progress

import (
	"sync"
	"unsafe"
)

// textsRead keeps what was read of the texts of locks. A text is read when it arrives, and every rule that asks later finds it here
// instead of trying the whole table of patterns again. What is kept is bounded; a text that has not been asked for while as many others
// came is read again. The lists in a LockMessage are shared and never changed. Each text begins with its time, so that none comes twice:
// without a bound in bytes the long ones of an update would fill the memory for hours.
var textsRead = texts{}

const (
	mostTextsRead   = 4096    // a generation; there are two
	mostBytesRead   = 1 << 20 // the same in bytes
	longestTextKept = 4 << 10 // bytes; longer texts are few, and their memory is better given back
)

// texts is two generations: what is asked for again in the older one comes into the newer one.
type texts struct {
	mu         sync.Mutex
	newer, old map[string]LockMessage
	bytes      int // of the newer ones
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
	if t.newer == nil || len(t.newer) >= mostTextsRead || t.bytes >= mostBytesRead {
		t.newer, t.old, t.bytes = map[string]LockMessage{}, t.newer, 0
	}
	t.newer[text] = m
	t.bytes += bytesOf(text, m)
}

// bytesOf is what a text and its meaning take, without the map: Notify and the other lists hold pieces of the text.
func bytesOf(text string, m LockMessage) int {
	lists := cap(m.Notify) + cap(m.Unset) + cap(m.Instances) + cap(m.Blockers)
	return len(text) + int(unsafe.Sizeof(m)) + lists*int(unsafe.Sizeof(""))
}
