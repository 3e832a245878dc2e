package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"lockstep/cli/inventory"
	"lockstep/core"
	"lockstep/core/engine"
	"lockstep/core/recording"
	"lockstep/core/wording"
	"lockstep/sim/scenario"
)

// isRecording tells whether a file begins as a recording does. What cannot be read is none.
func isRecording(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	begin := make([]byte, 64)
	n, _ := io.ReadFull(f, begin)
	return recording.Is(begin[:n])
}

// recordedCloud is the scenario that begins with the cloud of a recording: as it was at a moment, or when everything had been seen for
// the first time. stderr says what it has, and what it lacks.
func recordedCloud(path, at string, stderr io.Writer) (*scenario.Scenario, error) {
	rec, err := openRecording(path, stderr)
	if err != nil {
		return nil, err
	}
	var from time.Time
	if at != "" {
		if from, err = rec.Moment(at, rec.From, time.Local); err != nil {
			return nil, err
		}
	}
	s, err := settled(rec, from)
	if err != nil {
		return nil, fmt.Errorf("read the recording %s: %w", path, err)
	}
	inv := inventory.Recorded(s)
	if len(inv.Nodes) == 0 && len(inv.Services) == 0 {
		return nil, fmt.Errorf("the recording %s shows neither a node nor a compute service: there is nothing to build", path)
	}
	made := inventory.Scenario(inv, rec.Head.Version)
	made.Found.Pseudonymous = rec.Head.Pseudonymous
	// The scenario is read as one from a file is: its defaults are filled in, and it is checked.
	var file bytes.Buffer
	if err := made.Write(&file); err != nil {
		return nil, err
	}
	told, err := scenario.Parse([]byte(core.Redact(file.String())))
	if err != nil {
		return nil, fmt.Errorf("the cloud of the recording %s cannot be built: %w", path, err)
	}
	fmt.Fprintf(stderr, "Built from a recording, as it was at %s: %s.\n", wording.MomentText(s.Now), inventory.Contents(told))
	for _, a := range told.Found.Assumed {
		fmt.Fprintf(stderr, "  assumed: %s: %s\n", oneLine(a.Field), oneLine(a.Why))
	}
	for _, m := range inv.Missing {
		fmt.Fprintf(stderr, "  left out: %s: %s\n", oneLine(m.What), oneLine(m.Err.Message))
	}
	fmt.Fprintf(stderr, "  left out, as the simulation has its own: %s\n", inventory.OwnText())
	return told, nil
}

// settled is the first Snapshot of a recording, from a moment on, in which each source has answered or failed; the last one where there
// is none.
func settled(rec *recording.Recording, from time.Time) (*core.Snapshot, error) {
	if from.IsZero() {
		from = rec.From
	}
	c, err := rec.At(from)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	play := engine.NewPlayback(rec.Head, nil, "")
	var last *core.Snapshot
	for {
		f, err := c.Next()
		if errors.Is(err, io.EOF) && last != nil {
			return last, nil
		}
		if err != nil {
			return nil, err
		}
		play.Take(f)
		if !play.Began() || f.Now.Before(from) {
			continue
		}
		if last = play.Snapshot(); !connecting(last) {
			return last, nil
		}
	}
}

func connecting(s *core.Snapshot) bool {
	for _, src := range s.Sources {
		if src.State == core.SourceConnecting {
			return true
		}
	}
	return false
}
