package session

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/core/news"
	"lockstep/core/recording"
	"lockstep/core/wording"
)

// recordingEnding is the ending of the files that are named by Lockstep.
const recordingEnding = ".lockrec"

// record begins the recording that the place asks for.
func (s *Session) record(p Place, cfg *engine.Config) error {
	if p.RecordPath == "" {
		return nil
	}
	err := s.beginRecording(p, cfg)
	if err != nil && !p.MustRecord {
		s.notice("nothing is recorded: " + err.Error())
		return nil
	}
	return err
}

func (s *Session) beginRecording(p Place, cfg *engine.Config) error {
	path, began := p.RecordPath, time.Now()
	if info, err := os.Stat(path); err == nil && info.IsDir() || strings.HasSuffix(path, string(filepath.Separator)) {
		// The number of the process: a watch may begin one of the same cluster in the same second.
		path = filepath.Join(path, fmt.Sprintf("%s-%s-%d%s", FileName(core.RehearsalOf(cfg.Cluster, cfg.Simulated)),
			began.Format("20060102-150405"), os.Getpid(), recordingEnding))
	}
	next := recording.FileName(path, 2)
	if _, err := os.Stat(next); err == nil {
		return fmt.Errorf("%s exists, and is of another recording: this one would go on in a file of that name; move it away first", next)
	}
	id := p.Line.NewID
	if id == nil {
		id = rand.Text
	}
	rec, err := recording.Start(recording.Options{
		Head: recording.Head{Version: cfg.Version, Began: began.UTC(), Recording: id(), Cluster: cfg.Cluster, Simulated: cfg.Simulated,
			Operator: cfg.Operator, Place: cfg.Place, Own: cfg.Own, Settings: cfg.Settings},
		Create: func(number int) (io.WriteCloser, error) {
			return os.OpenFile(recording.FileName(path, number), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		},
		Remove: func(number int) error { return os.Remove(recording.FileName(path, number)) },
		Told:   s.recordingTold,
	})
	if err != nil {
		if errors.Is(err, os.ErrExist) {
			return fmt.Errorf("%s exists; a recording begins a new file", path)
		}
		return fmt.Errorf("begin the recording: %w", err)
	}
	s.recorder, s.recordsTo = rec, path
	cfg.Recorder = func(f recording.Frame) {
		rec.Frame(f)
		for _, r := range f.Records {
			if text := operationNews(r); text != "" {
				rec.Event(recording.Event{At: f.Now, Kind: "operation", Text: text})
			}
		}
	}
	return nil
}

// recordingTold tells what became of the recording.
func (s *Session) recordingTold(text string) {
	s.Log.Warn(text, "recording", s.recordsTo)
	s.Tell(text)
}

// Tell tells the operator about trouble with this machine's files, while the screen is open or when it has closed.
func (s *Session) Tell(text string) {
	select {
	case s.Troubles <- text:
	default: // as many wait already
	}
}

// mostTold is how much of Tell waits for the screen, or its end: at the end the journal, the recording and Events may all have something.
const mostTold = 8

// operationNews is what a record says about an operation that begins or ends; empty for any other.
func operationNews(record any) string {
	r, ok := record.(engine.Record)
	if !ok {
		return ""
	}
	about := r.Title
	if r.Object != nil && !strings.Contains(about, r.Object.Name) {
		about = strings.TrimSpace(about + " " + r.Object.Name)
	}
	switch r.Kind {
	case engine.RecordGrant:
		return "confirmed: " + about
	case engine.RecordVerified, engine.RecordEnded:
		return r.State + ": " + about
	case engine.RecordRefused:
		return "refused: " + about
	}
	return ""
}

// eventKinds are the news that are events of a recording: what somebody who looks at it goes to. Migrations are too many.
var eventKinds = []news.Kind{news.KindEntry, news.KindUpdate, news.KindPhase, news.KindNode}

// RecordNews notes news as events of the recording.
func (s *Session) RecordNews(lines []news.Line) {
	if s.recorder == nil {
		return
	}
	for _, l := range lines {
		if slices.Contains(eventKinds, l.Kind) {
			text := core.Printable(l.Says(), wording.MostRead)
			if l.Kind == news.KindEntry {
				text = l.What + ": " + text
			}
			s.recorder.Event(recording.Event{At: l.At, Kind: string(l.Kind), Text: text})
		}
	}
}

// TellRest prints what became of the journal, the recording or Events at the end, when no screen could show it any more.
func (s *Session) TellRest(to io.Writer) {
	for {
		select {
		case text := <-s.Troubles:
			fmt.Fprintln(to, "lockstep: "+core.Printable(text, wording.MostRead))
		default:
			return
		}
	}
}
