package nova

import (
	"bytes"
	"hash/maphash"
	"sync"
)

// seenMost is how many servers are kept before the older ones are given up: those of the hosts in maintenance, which are read every few
// seconds, and those that changed lately, of which Nova tells again and again.
const seenMost = 4096

// seenServers are servers by what Nova wrote of them. Most of what it sends again is the same to the letter, and is not read again. It is
// safe for concurrent use; only the poll itself looks at what it finds.
type seenServers struct {
	seed maphash.Seed

	mu           sync.Mutex
	newer, older map[uint64]*listedServer
}

func newSeenServers() *seenServers {
	return &seenServers{seed: maphash.MakeSeed(), newer: map[uint64]*listedServer{}}
}

// sum stands for what Nova wrote of a server. The seed is this process's own: two writings have one sum only by a chance of 1 in 2^64.
func (s *seenServers) sum(raw []byte) uint64 { return maphash.Bytes(s.seed, raw) }

// at is the server with this sum; nil when it was not seen lately.
func (s *seenServers) at(sum uint64) *listedServer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one := s.newer[sum]; one != nil {
		return one
	}
	one := s.older[sum]
	if one != nil {
		s.keep(sum, one)
	}
	return one
}

func (s *seenServers) put(sum uint64, one *listedServer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(sum, one)
}

func (s *seenServers) keep(sum uint64, one *listedServer) {
	if len(s.newer) >= seenMost {
		s.newer, s.older = map[uint64]*listedServer{}, s.newer
	}
	s.newer[sum] = one
}

// objectAt is the JSON object with which the data begins, nil when none does or when it does not end there. It looks at nothing but
// brackets and texts.
func objectAt(data []byte) []byte {
	if len(data) == 0 || data[0] != '{' {
		return nil
	}
	depth := 0
	for at := 0; at < len(data); at++ {
		switch data[at] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return data[:at+1]
			}
		case '"':
			end := textEnd(data[at+1:])
			if end < 0 {
				return nil
			}
			at += 1 + end
		}
	}
	return nil
}

// textEnd is where a text ends whose quotation mark stands before the data: the place of the other one; -1 when there is none.
func textEnd(data []byte) int {
	for at := 0; ; at++ {
		next := bytes.IndexByte(data[at:], '"')
		if next < 0 {
			return -1
		}
		at += next
		backslashes := 0
		for backslashes < at && data[at-1-backslashes] == '\\' {
			backslashes++
		}
		if backslashes%2 == 0 {
			return at
		}
	}
}
