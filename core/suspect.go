package core

import (
	"context"
	"strings"
	"time"

	"lockstep/core/wording"
)

// Suspect is a row of the table of causes that could fit an entry, and that only a log or the events of objects can tell.
type Suspect struct {
	Diagnosis Diagnosis
	Log       LogTarget     // zero where Events are read
	Events    []EventTarget // none where the Log is read
	Words     string        // a line of the log, or an event, that has them tells it
}

// Of is what is read, for people: "its log", "its events".
func (s Suspect) Of() string {
	if len(s.Events) > 0 {
		return "its events"
	}
	return "its log"
}

// Label is what to call what is read: "nova-compute of cmp-07".
func (s Suspect) Label() string {
	if len(s.Events) > 0 {
		names := make([]string, len(s.Events))
		for i, e := range s.Events {
			names[i] = e.Label
		}
		return "events of " + wording.Some(names, 3)
	}
	return s.Log.Label
}

const (
	// suspectLines is how many of a log's last lines are read for the words.
	suspectLines = 500
	// SuspectWithin is how long that may take.
	SuspectWithin = 20 * time.Second
	// suspectLine is how much of the line is shown, in bytes.
	suspectLine = 400
)

// Told is the entry with the row, with the line that tells it as its first evidence, and with the log as what is looked at first.
func (s Suspect) Told(a Attention, line LogLine) Attention {
	a.Diagnosis = &s.Diagnosis
	if len(s.Events) > 0 {
		return s.toldByEvent(a, line)
	}
	target := s.Log
	target.Pod, target.Part, target.Selector = line.Pod, "", ""
	show := Command{For: "the log that tells it", Line: target.Kubectl("--tail=" + wording.Itoa(suspectLines))}.Showing(target.IsLog())
	for _, c := range a.Commands {
		if c.Line == show.Line {
			return a
		}
	}
	a.Evidence = append([]Evidence{{Of: "its log", Says: line.Pod + ": " + line.Text}}, a.Evidence...)
	a.Commands = append([]Command{show}, a.Commands...)
	return a
}

// toldByEvent is the entry with the row that an event tells, as Told.
func (s Suspect) toldByEvent(a Attention, line LogLine) Attention {
	for _, e := range s.Events {
		if e.Label != line.Pod {
			continue
		}
		show := Command{For: "the events that tell it", Line: wording.ShellCommand("kubectl", "-n", e.Namespace, "get", "events",
			"--field-selector=involvedObject.name="+e.Name)}.Showing(Look{Kind: LookEvents, What: e.Label, Events: []EventTarget{e}})
		for _, c := range a.Commands {
			if c.Line == show.Line {
				return a
			}
		}
		a.Evidence = append([]Evidence{{Of: s.Of(), Says: line.Pod + ": " + line.Text}}, a.Evidence...)
		a.Commands = append([]Command{show}, a.Commands...)
	}
	return a
}

// Kubectl is the command that shows the log of one pod.
func (t LogTarget) Kubectl(options ...string) string {
	words := []string{"kubectl", "-n", t.Namespace, "logs", t.Pod}
	if t.Container != "" {
		words = append(words, "-c", t.Container)
	}
	return wording.ShellCommand(append(words, options...)...)
}

// Find reads the end of the log, or the events, and returns the newest line that has the words, cut; false when none has. The line is
// redacted, and not sanitised for a terminal.
func (s Suspect) Find(ctx context.Context, looker Looker) (LogLine, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, SuspectWithin)
	defer cancel()
	if len(s.Events) > 0 {
		return s.findEvent(ctx, looker)
	}
	var newest LogLine
	found := false
	err := looker.Log(ctx, LogRequest{LogTarget: s.Log, Tail: suspectLines}, func(p LogPart) {
		for _, l := range p.Lines {
			if !l.Notice && strings.Contains(l.Text, s.Words) && !l.At.Before(newest.At) {
				newest, found = l, true
			}
		}
	})
	if found {
		newest.Text = wording.OneLine(Redact(newest.Text), suspectLine)
		return newest, true, nil
	}
	if err == nil && ctx.Err() != nil {
		err = &APIError{Kind: ErrTimeout, Server: s.Log.Server, Call: "read the log of " + s.Log.Label, Message: "it was not read in time"}
	}
	return LogLine{}, false, err
}

// suspectEvents is how many events of each object are read for the words.
const suspectEvents = 50

// findEvent finds the newest event that has the words.
func (s Suspect) findEvent(ctx context.Context, looker Looker) (LogLine, bool, error) {
	list, err := looker.Events(ctx, s.Events, suspectEvents)
	var newest LogLine
	found := false
	for _, e := range list.Events {
		if text := e.Reason + ": " + e.Message; strings.Contains(text, s.Words) && !e.At.Before(newest.At) {
			newest, found = LogLine{At: e.At, Pod: e.Label, Text: wording.OneLine(Redact(text), suspectLine)}, true
		}
	}
	if found {
		return newest, true, nil
	}
	return LogLine{}, false, err
}
