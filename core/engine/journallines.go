package engine

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// Lines reads the newest lines of the journal for the screen, the newest first: those after the one with the number, and no more than
// most. It reads the files from their ends, so that few new lines cost little. It must not be called in the Engine's goroutine.
func (e *Engine) Lines(ctx context.Context, after int64, most int) ([]core.JournalLine, error) {
	if e.cfg.Journal == nil {
		return nil, errors.New("there is no journal")
	}
	return ReadLines(ctx, e.cfg.Journal.Path(), after, most)
}

// LineOf is a record as the screen shows it, with its number; false for one that is not shown.
func LineOf(r Record, seq int64) (core.JournalLine, bool) {
	l, shown := r.line()
	l.Seq = seq
	return l, shown
}

// ReadLines is Engine.Lines for the journal at path. Records that only repeat what an earlier file has, and the parts of a write that
// its end tells again, are left out.
func ReadLines(ctx context.Context, path string, after int64, most int) ([]core.JournalLine, error) {
	current, number, err := openCurrent(path)
	if current == nil {
		return nil, err
	}
	var out []core.JournalLine
	more := func(line []byte) bool {
		var r struct {
			Record
			link
		}
		if len(line) > maxJournalLine || json.Unmarshal(line, &r) != nil {
			return true // cut off, or of a newer version
		}
		if r.Seq > 0 && r.Seq <= after {
			return false
		}
		if l, shown := r.Record.line(); shown {
			l.Seq = r.Seq
			out = append(out, l)
		}
		return len(out) < most && ctx.Err() == nil
	}
	for f := current; ; {
		info, err := f.Stat()
		goes := false
		if err == nil {
			goes, err = backwards(f, info.Size(), more)
		}
		f.Close()
		if err != nil {
			return out, fmt.Errorf("read the journal: %w", err)
		}
		for f = nil; f == nil && goes && number > 1; { // a file that its owner has put away is left out
			number--
			if f, err = os.Open(archiveName(path, number)); errors.Is(err, os.ErrNotExist) {
				f = nil
			} else if err != nil {
				return out, fmt.Errorf("read the journal: %w", err)
			}
		}
		if f == nil {
			return out, ctx.Err()
		}
	}
}

// backwards reads the lines of the first size bytes of a file from the last to the first, as long as each wants more. It tells whether
// it came to the file's beginning.
func backwards(f *os.File, size int64, each func(line []byte) bool) (whole bool, err error) {
	const part = 256 << 10
	var rest []byte // the end of a line whose beginning stands further up
	for end := size; end > 0; {
		from := max(end-part, 0)
		block := make([]byte, end-from, int(end-from)+len(rest))
		if _, err := f.ReadAt(block, from); err != nil {
			return false, err
		}
		block, end = append(block, rest...), from
		for {
			i := bytes.LastIndexByte(block, '\n')
			if i < 0 && end > 0 {
				break
			}
			if line := bytes.TrimSpace(block[i+1:]); len(line) > 0 && !each(line) {
				return false, nil
			}
			if i < 0 {
				return true, nil
			}
			block = block[:i]
		}
		rest = slices.Clone(block)
	}
	return true, nil
}

// mostOfLine is how much of a text a line keeps, in bytes: as much as the journal does.
const mostOfLine = wording.MaxRecordText

// line is what the record tells; false for one that is not shown, as another one tells the same.
func (r Record) line() (core.JournalLine, bool) {
	l := core.JournalLine{At: r.When(), Wall: r.Wall, Saw: r.By, Run: r.Run, Node: r.Node, Label: cmp.Or(r.Label, r.Node),
		Operation: core.BatchOf(r.Operation),
		Commands:  r.Commands, Took: time.Duration(r.Took * float64(time.Second))}
	if o := r.Object; o != nil {
		if o.Kind != core.KindNode || l.Label == "" {
			l.Label = cmp.Or(o.Name, l.Label)
		}
		if o.Kind == core.KindInstance {
			l.Instance = o.UID
		}
		l.Object, l.UID = o.String(), o.UID
	}
	if t := r.telling(); t.About != "" {
		l.About, l.Value, l.Known = t.About, t.Value, t.Known
	}
	shown := !r.Carried
	l.Reconstructed = r.Reconstructed
	text := func(s string) string { return wording.OneLine(s, mostOfLine) }
	change := func() string { return wording.Change(text(r.From), text(r.To)) }
	did := func(word string) {
		l.Kind, l.Who, l.What, l.Why = core.LineStep, r.By, text(word+wording.Prefixed(": ", r.Title)), text(cmp.Or(r.Error, r.Text))
	}
	switch r.Kind {
	case RecordStart:
		l.Kind, l.Who, l.What = core.LineRun, r.By, "Lockstep "+r.Version+" began"
	case RecordStop:
		l.Kind, l.Who, l.What = core.LineRun, r.By, "Lockstep ended"
	case RecordArm:
		l.Kind, l.Who, l.What, l.Why = core.LineRun, r.By, "writing: "+r.State, text(r.Error)
		switch {
		case r.From != "" && r.State == "armed":
			l.What = text(l.What + ", the lease was taken over from " + r.From)
		case r.From != "":
			l.What = text(l.What + ", to take over the lease of " + r.From)
		}
	case RecordDisarm:
		l.Kind, l.Who, l.What, l.Why = core.LineRun, r.By, "writing was disarmed", text(cmp.Or(r.Error, r.Text))
	case RecordIdentity:
		l.Kind, l.Who, l.What = core.LineRun, r.By, "the servers know who runs Lockstep"
		if r.As != nil {
			l.Why = text(r.As.String())
		}
	case RecordLost:
		l.Kind, l.What = core.LineRun, text(r.Text)
	case RecordCarried:
		l.Kind, l.What, shown = core.LineRun, fmt.Sprintf("file %d of the journal begins", r.File), false
	case RecordUpdate:
		r.updateLine(&l)
	case RecordPhase:
		l.Kind, l.Label, l.What = core.LineUpdate, fmt.Sprintf("phase %d", r.Number), text(r.Title+" is "+r.State)
	case RecordStandstill:
		l.Kind, l.Label, l.What, l.Why = core.LineUpdate, fmt.Sprintf("phase %d", r.Number), "stands still: "+r.State, text(r.Text)
		if r.Stands != nil && !r.Stands.Until.IsZero() {
			l.What = "goes on; it stood still: " + r.State
			l.Took = r.Stands.Until.Sub(r.Stands.Since.At)
		}
	case RecordStage:
		l.Kind, l.What, l.Why, l.Inferred = core.LineStage, change(), text(r.Text), !r.Exact
		l.Before, l.After = text(r.From), text(r.To)
	case RecordRound:
		l.Kind, l.What = core.LineStage, "its maintenance began"
		if r.Round != nil && !r.Round.Ended.IsZero() {
			l.What, l.Inferred = "its maintenance ended", r.Round.EndUnseen || r.Reconstructed != ""
			l.Took, _ = r.Round.Took()
		}
	case RecordLock:
		l.Kind, l.What, l.Why, l.Inferred = core.LineLock, change(), text(r.Text), !r.Exact
		if of, ok := r.lockOf(); ok { // the name of such a lock has the node's name in it, which says nothing to a person
			l.Label, l.What = cmp.Or(r.Label, r.Node), of+" lock: "+l.What
		}
	case RecordMigrationRefused:
		l.Kind, l.What = core.LineStage, "Nova refused to migrate it"
		if r.Refusal != nil {
			l.Why = text(r.Refusal.Text)
		}
	case RecordMove:
		m := r.Move
		if m == nil {
			return l, false
		}
		l.Kind, l.Label, l.Instance = core.LineMove, cmp.Or(m.Name, m.Instance), m.Instance
		l.What = text(m.Type + wording.Prefixed(" from ", m.From) + wording.Prefixed(" to ", m.To) + ": " + m.Status)
		if l.Why = text(m.Text); !m.Began.IsZero() {
			l.Took = max(m.Ended.Sub(m.Began), 0)
		}
	case RecordPlan, RecordPlanStep, RecordForecast, RecordForetold:
		shown = r.planLine(&l) && shown
	case RecordMigrated:
		l.Kind, l.What, l.Why = core.LineStep, "its cold migration ended", text(r.Text)
	case RecordUp:
		l.Kind, l.What, l.Why = core.LineStep, "it is up again", text(r.Text)
	case RecordGrant:
		did("confirmed")
		if l.Typed, l.Basis = r.Typed, r.Basis; r.As != nil {
			l.As = r.As.String()
		}
	case RecordRefused:
		did("refused")
	case RecordControl:
		did(r.State)
	case RecordBefore:
		did("sent")
		l.Before, l.After, shown = text(r.From), text(r.To), false // its end tells it, too
	case RecordAfter:
		did("answered" + wording.Prefixed(", ", r.State))
		shown = false
	case RecordVerified:
		did("verified, " + wording.TextOf(r.State, "looked up"))
		l.State, l.Before, l.After = r.State, text(r.From), text(r.To)
		// Else the record of the operation's end says the same.
		shown = shown && (core.OfBatch(r.Operation) || r.From != "" || r.To != "")
	case RecordEnded:
		did(wording.TextOf(r.State, "ended"))
		l.State = r.State
	case RecordEntry:
		if r.Entry == nil {
			return l, false
		}
		l.Kind, l.Label, l.Instance, l.Why = core.LineEntry, r.Entry.Label, r.Entry.Instance, text(r.Entry.Reason)
		l.What = "needs you, " + r.Entry.Severity + ": " + string(r.Entry.What)
		if n := len(r.Entry.Seen); n > 0 {
			by := make([]string, n)
			for i, s := range r.Entry.Seen {
				by[i] = s.Title + " (" + s.By + ")"
			}
			l.Why = text(l.Why + "; seen to: " + strings.Join(by, ", "))
		}
	case RecordNote:
		n := r.Note
		if n == nil {
			return l, false
		}
		l.Kind, l.Who, l.Label, l.Instance, l.What, l.Why = core.LineNote, r.By, n.On.Label, n.On.Instance, "noted", text(n.Text)
		switch {
		case n.Done:
			l.What = "its note is done"
		case n.Aside:
			l.What = "set aside" + clockOf(" until ", n.Until)
		case !n.Until.IsZero():
			l.What = "noted, to be reminded of" + clockOf(" at ", n.Until)
		}
	default: // of a newer version
		l.Kind, l.What, l.Why, shown = core.LineRun, text(string(r.Kind)), text(r.Text), false
	}
	if r.Reconstructed != "" {
		l.Inferred = true
		l.Why = text("reconstructed by " + r.Reconstructed + wording.Prefixed("; ", l.Why))
	}
	return l, shown
}

func clockOf(word string, at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return word + at.Local().Format("2006-01-02 15:04")
}

func (r Record) updateLine(l *core.JournalLine) {
	l.Kind, l.Label, l.What = core.LineUpdate, "the update", "it was seen"
	u := r.Update
	if u == nil {
		return
	}
	l.What = "it begins" + wording.Prefixed(": ", u.From) + wording.Prefixed(" → ", u.Release)
	if !u.Ended.IsZero() {
		l.What, l.Inferred, l.Took = "it is over", !u.EndSeen, u.Ended.Sub(u.Started)
	}
}

// lockOf is the controller whose lock of a node the record is about; false for another lock.
func (r Record) lockOf() (controller string, ok bool) {
	if r.Node == "" || r.Object == nil {
		return "", false
	}
	controller, ok = strings.CutSuffix(r.Object.Name, "-"+r.Node)
	return controller, ok && controller != ""
}
