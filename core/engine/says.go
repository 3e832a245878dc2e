package engine

import (
	"slices"
	"strconv"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
)

// mostSaid is how much of a text Says has, in bytes.
const mostSaid = 300

// Says is what the record tells, in one line without its time: "cmp-07: updating → ready", "live-migrate web-1: done, after 61 s". It is
// not sanitised for a terminal.
func (r Record) Says() string {
	text := r.about() + r.tells()
	if r.Took > 0 && r.Kind != RecordAfter {
		text += ", after " + wording.SpanText(time.Duration(r.Took*float64(time.Second)))
	}
	if r.Error != "" {
		text += ": " + wording.OneLine(r.Error, mostSaid)
	}
	return text
}

// When is the cluster's time of what the record tells, or the wall clock's where it has no other.
func (r Record) When() time.Time {
	if r.At.IsZero() {
		return r.Wall
	}
	return r.At
}

// Instances are the IDs of the instances that the record is about.
func (r Record) Instances() []string {
	var out []string
	if r.Intent != nil && r.Intent.Instance != "" {
		out = append(out, r.Intent.Instance)
	}
	for _, item := range r.Items {
		if item.Instance != "" {
			out = append(out, item.Instance)
		}
	}
	if r.Entry != nil && r.Entry.Instance != "" {
		out = append(out, r.Entry.Instance)
	}
	if r.Move != nil {
		out = append(out, r.Move.Instance)
	}
	if r.Note != nil && r.Note.On.Instance != "" {
		out = append(out, r.Note.On.Instance)
	}
	if r.Object != nil && (r.Kind == RecordMigrated || r.Kind == RecordMigrationRefused) {
		out = append(out, r.Object.UID)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// about is the subject of the line, with a colon: a node, a step's title.
func (r Record) about() string {
	subject := ""
	switch {
	case r.Title != "":
		subject = wording.OneLine(r.Title, mostSaid)
	case r.Kind == RecordLock && r.Object != nil:
		subject = wording.OneLine(r.Object.Name, 100)
	case r.Kind == RecordEntry && r.Entry != nil:
		subject = r.Entry.Label
	case r.Kind == RecordMove && r.Move != nil:
		subject = wording.TextOf(r.Move.Name, r.Move.Instance)
	case r.Kind == RecordNote && r.Note != nil:
		subject = r.Note.On.Label
	case r.Kind == RecordPhase, r.Kind == RecordStandstill:
		subject = "phase " + strconv.Itoa(int(r.Number))
	case r.Node != "":
		subject = wording.TextOf(r.Label, r.Node)
	case r.Object != nil:
		subject = wording.OneLine(r.Object.Name, 100)
	}
	if subject == "" {
		return ""
	}
	return subject + ": "
}

// tells is what became of the subject.
func (r Record) tells() string {
	text := wording.OneLine(r.Text, mostSaid)
	switch r.Kind {
	case RecordStart:
		return "Lockstep" + wording.Prefixed(" ", wording.OneLine(r.Version, 40)) + " began"
	case RecordStop:
		return "Lockstep ended"
	case RecordArm:
		return "writing is switched on: " + r.State
	case RecordDisarm:
		return "writing is switched off" + wording.Prefixed(": ", text)
	case RecordIdentity:
		if r.As == nil {
			return "known to the servers"
		}
		return "known to the servers as " + wording.OneLine(r.As.String(), mostSaid)
	case RecordUpdate:
		return updateSays(r.Update)
	case RecordPhase:
		return wording.TextOf(r.State, beganWord(r.Phase != nil && !r.Phase.Ended.At.IsZero())) + wording.Prefixed(": ", text)
	case RecordStage, RecordLock:
		return from(r.From) + r.To + wording.Prefixed(": ", text)
	case RecordStandstill:
		return r.standsStill()
	case RecordRound:
		return "maintenance " + beganWord(r.Round != nil && !r.Round.Ended.IsZero())
	case RecordGrant:
		return "confirmed"
	case RecordBefore:
		return "sent" + wording.Prefixed(", ", change(r.From, r.To))
	case RecordAfter, RecordVerified, RecordEnded:
		return wording.TextOf(r.State, string(r.Kind)) + wording.Prefixed(": ", text)
	case RecordMigrated:
		return "the cold migration ended" + wording.Prefixed(": ", text)
	case RecordMigrationRefused:
		if r.Refusal != nil {
			text = wording.OneLine(r.Refusal.Text, mostSaid)
		}
		return "Nova refuses the controller a migration" + wording.Prefixed(": ", text)
	case RecordRefused:
		return "not let through"
	case RecordControl:
		return wording.TextOf(r.State, "controlled") + wording.Prefixed(": ", text)
	case RecordEntry:
		return entrySays(r.Entry)
	case RecordNote:
		return r.noted()
	case RecordMove:
		return r.moved()
	}
	return string(r.Kind) + wording.Prefixed(": ", text)
}

func beganWord(ended bool) string {
	if ended {
		return "ended"
	}
	return "began"
}

func from(state string) string {
	if state == "" {
		return ""
	}
	return state + " → "
}

// change is "manual → skip"; empty where neither is known.
func change(from, to string) string {
	from, to = wording.OneLine(from, 100), wording.OneLine(to, 100)
	if from == "" && to == "" {
		return ""
	}
	return wording.TextOf(from, "nothing") + " → " + wording.TextOf(to, "nothing")
}

func updateSays(u *core.UpdateRecord) string {
	if u == nil {
		return "the update changed"
	}
	return "the update" + wording.Prefixed(" from ", wording.OneLine(u.From, 60)) + wording.Prefixed(" to ", wording.OneLine(u.Release, 60)) +
		" " + beganWord(!u.Ended.IsZero())
}

func (r Record) standsStill() string {
	if r.Stands == nil {
		return "stands still"
	}
	if !r.Stands.Until.IsZero() {
		return "goes on, after it stood still for " + wording.SpanText(r.Stands.Until.Sub(r.Stands.Since.At))
	}
	return "stands still: " + string(r.Stands.Cause) + wording.Prefixed(": ", wording.OneLine(r.Stands.Why, mostSaid))
}

func entrySays(e *EntryRecord) string {
	if e == nil {
		return "an entry changed"
	}
	text := string(e.What) + ", " + e.Severity + wording.Prefixed(": ", e.Reason)
	if n := len(e.Seen); n > 0 && e.What == EntrySeenTo {
		text = "seen to by " + e.Seen[n-1].By + wording.Prefixed(": ", e.Seen[n-1].Title)
	}
	return text
}

func (r Record) noted() string {
	switch n := r.Note; {
	case n == nil:
		return "a note"
	case n.Done:
		return "the note is done with: " + wording.OneLine(n.Text, mostSaid)
	case n.Aside:
		return "set aside until " + n.Until.UTC().Format(time.DateTime) + ": " + wording.OneLine(n.Text, mostSaid)
	case !n.Until.IsZero():
		return "note, to be reminded of at " + n.Until.UTC().Format(time.DateTime) + ": " + wording.OneLine(n.Text, mostSaid)
	default:
		return "note: " + wording.OneLine(n.Text, mostSaid)
	}
}

func (r Record) moved() string {
	m := r.Move
	if m == nil {
		return "a migration ended"
	}
	return m.Type + " from " + wording.TextOf(m.From, "?") + " to " + wording.TextOf(m.To, "?") + ": " + m.Status +
		wording.Prefixed(": ", wording.OneLine(m.Text, mostSaid))
}
