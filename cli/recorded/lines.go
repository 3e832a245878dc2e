package recorded

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sync"
	"time"

	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/core/recording"
)

// story is the journal's records of the recording, as far as they were asked for. It reads the recording on its own, from its beginning.
type story struct {
	mu     sync.Mutex
	cursor *recording.Cursor
	next   *recording.Frame // read, and not taken; nil at the end
	lines  []toldLine       // the oldest first
	seq    int64
}

type toldLine struct {
	at   time.Time // of the frame that has it (the cluster's time)
	line core.JournalLine
}

// Lines are those of the journal up to the moment that is shown, the newest first. In a recording they are numbered from its beginning.
func (p *Player) Lines(ctx context.Context, after int64, most int) ([]core.JournalLine, error) {
	p.mu.Lock()
	at := p.state.At
	p.mu.Unlock()
	s := &p.story
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.readTo(ctx, p.rec, at); err != nil {
		return nil, err
	}
	var out []core.JournalLine
	for _, l := range slices.Backward(s.lines) {
		if l.line.Seq <= after || len(out) == most {
			break
		}
		if !l.at.After(at) {
			out = append(out, l.line)
		}
	}
	return out, nil
}

func (s *story) readTo(ctx context.Context, rec *recording.Recording, to time.Time) error {
	if s.cursor == nil {
		c, err := rec.At(rec.From)
		if err != nil {
			return err
		}
		s.cursor = c
		if err := s.read(); err != nil {
			return err
		}
	}
	for s.next != nil && !s.next.Now.After(to) {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, raw := range s.next.Records {
			text, _ := raw.(json.RawMessage)
			var r engine.Record
			if json.Unmarshal(text, &r) != nil {
				continue // of a later version
			}
			s.seq++
			if l, shown := engine.LineOf(r, s.seq); shown {
				s.lines = append(s.lines, toldLine{s.next.Now, l})
			}
		}
		if err := s.read(); err != nil {
			return err
		}
	}
	if extra := len(s.lines) - 2*core.MostLines; extra > 0 {
		s.lines = slices.Clone(s.lines[extra:])
	}
	return nil
}

// read reads the next frame.
func (s *story) read() error {
	s.next = nil
	f, err := s.cursor.Next()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return err
	}
	s.next = &f
	return nil
}

// close gives back what it reads with.
func (s *story) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cursor != nil {
		s.cursor.Close()
		s.cursor = nil
	}
}
