package engine

import (
	"maps"
	"reflect"
	"slices"
	"time"

	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/procedure"
	"lockstep/core/wording"
)

// entryLasts is how long an entry of "Needs you" must be there, or be away, or have another severity, before the journal says so (the
// cluster's time). A node that goes from one migration to the next needs somebody for a moment, again and again; that is not a matter.
const entryLasts = 10 * time.Second

// entriesEvery is the time between two looks at "Needs you" for the journal (wall time). What counts lasts longer.
const entriesEvery = entryLasts / 2

// mostOfReason is how much of an entry's reason, and of that of a standstill, the journal keeps, in bytes: no reason of Lockstep's
// is as long.
const mostOfReason = 2000

// entryBook follows "Needs you" for the journal. It is owned by the goroutine of Run.
type entryBook struct {
	began bool // the facts were whole once; before that, what is not found may only not be known
	open  map[string]*openEntry

	looked time.Time // the wall clock's time
}

// openEntry is an entry that is there, or was a moment ago.
type openEntry struct {
	is     EntryRecord // as the journal has it, or will have it
	object core.Ref
	node   string
	came   time.Time
	told   bool // the journal has it

	severity core.Severity // as it is now
	recorded core.Severity // as the journal has it
	since    time.Time     // since when it has this severity
	gone     time.Time     // since when it is not there; zero: it is there
	run      string        // the run that recorded it, where this one has not seen it yet; else empty
}

// remember takes in the entries that an earlier run, or one that still lives, has recorded and not settled.
func (b *entryBook) remember(past []Record) {
	b.open = map[string]*openEntry{}
	for _, r := range past {
		if r.Kind != RecordEntry || r.Entry == nil {
			continue
		}
		if r.Entry.What == EntrySettled {
			delete(b.open, r.Entry.ID)
			continue
		}
		o := &openEntry{is: *r.Entry, node: r.Node, came: r.Began, told: true, severity: severityOf(r.Entry.Severity),
			recorded: severityOf(r.Entry.Severity), run: r.Run}
		if r.Object != nil {
			o.object = *r.Object
		}
		b.open[r.Entry.ID] = o
	}
}

// observeEntries journals what came to need a person since, and what does no more.
func (e *Engine) observeEntries(s *core.Snapshot) {
	b := &e.entries
	if e.cfg.Journal == nil || !b.began && (!settled(s) || connecting(s)) {
		return
	}
	if b.began && s.Wall.Sub(b.looked).Abs() < entriesEvery {
		return
	}
	b.began, b.looked = true, s.Wall
	here := map[string]bool{}
	for _, a := range attention.List(s) {
		here[a.ID] = true
		o := b.open[a.ID]
		if o == nil {
			o = &openEntry{came: s.Now}
			b.open[a.ID] = o
		}
		seen := o.is.Seen
		o.is, o.object, o.node = entryRecord(a), a.Subject, a.Node
		o.is.Seen = seen
		if o.severity != a.Severity {
			o.severity, o.since = a.Severity, s.Now
		}
		o.gone, o.run = time.Time{}, ""
	}
	for _, id := range slices.Sorted(maps.Keys(b.open)) {
		o := b.open[id]
		switch {
		case here[id] && !o.told:
			if s.Now.Sub(o.came) >= entryLasts {
				o.told, o.since = true, time.Time{}
				e.seeEntry(o, EntryCame, o.came)
			}
		case here[id]:
			e.seeSeverity(o, s.Now)
		case !o.told:
			delete(b.open, id)
		case o.gone.IsZero():
			o.gone = s.Now
			e.othersSee(o) // so that it is known when it is needed
		case s.Now.Sub(o.gone) >= entryLasts && !e.othersSee(o):
			e.seeEntry(o, EntrySettled, o.gone)
			delete(b.open, id)
		}
	}
}

// seeSeverity notes that an entry has become more or less severe, once that lasts.
func (e *Engine) seeSeverity(o *openEntry, now time.Time) {
	if o.since.IsZero() || now.Sub(o.since) < entryLasts {
		return
	}
	since := o.since
	o.since = time.Time{}
	switch told := o.recorded; {
	case o.severity > told:
		e.seeEntry(o, EntryWorse, since)
	case o.severity < told:
		e.seeEntry(o, EntryBetter, since)
	}
}

// othersSee tells whether the entry is another run's to settle: it recorded the entry, may live, and may see more than this one.
func (e *Engine) othersSee(o *openEntry) bool {
	return o.run != "" && o.run != e.cfg.Journal.Run() && e.others.live(o.run)
}

func (e *Engine) seeEntry(o *openEntry, what EntryEvent, at time.Time) {
	is := o.is
	is.What = what
	r := Record{Kind: RecordEntry, At: at.UTC(), Began: o.came.UTC(), Node: o.node, Entry: &is, Exact: o.run == ""}
	if object := o.object; object != (core.Ref{}) { // the record is kept, and what the entry is about may be another object later
		r.Object = &object
	}
	if what == EntrySettled {
		r.Took = seconds(at.Sub(o.came))
	}
	o.recorded = o.severity
	e.see(r)
}

// seenTo notes an operation that begins for the entries that it is about.
func (e *Engine) seenTo(s *core.Snapshot, op core.Operation) {
	for _, a := range attention.List(s) {
		if !isAbout(s, a, op) {
			continue
		}
		o := e.entries.open[a.ID]
		if o == nil {
			o = &openEntry{is: entryRecord(a), object: a.Subject, node: a.Node, came: s.Now, severity: a.Severity}
			e.entries.open[a.ID] = o
		}
		o.is.Seen = append(slices.Clone(o.is.Seen), SeenTo{Operation: op.ID, By: e.cfg.Operator, Title: wording.OneLine(op.Title, 200)})
		if !o.told {
			o.told = true // somebody acts on it: it is a matter, however short it was there
			e.seeEntry(o, EntryCame, o.came)
		}
		e.seeEntry(o, EntrySeenTo, s.Now)
	}
}

// isAbout tells whether an operation does something about an entry: it is about the same instance or node, or one of the steps that
// resolve the entry.
func isAbout(s *core.Snapshot, a core.Attention, op core.Operation) bool {
	switch {
	case a.Operation != "":
		return a.Operation == op.ID
	case a.Instance != "":
		return op.Instance == a.Instance || slices.ContainsFunc(op.Items, func(i core.OperationItem) bool { return i.Instance == a.Instance })
	case a.Node != "":
		return op.Node == a.Node || slices.ContainsFunc(op.Items, func(i core.OperationItem) bool { return i.Node == a.Node })
	case a.Resolve == nil:
		return false
	}
	p, _ := procedure.Of(s, *a.Resolve)
	return slices.ContainsFunc(p.Steps, func(st core.Step) bool { return reflect.DeepEqual(st.Intent, op.Intent) })
}

func entryRecord(a core.Attention) EntryRecord {
	return EntryRecord{ID: wording.OneLine(a.ID, 200), Rule: a.Rule, Severity: a.Severity.String(), Impact: a.Impact,
		Label: wording.OneLine(a.Label, 64), Reason: wording.OneLine(a.Reason, mostOfReason), Cause: wording.OneLine(a.Cause, 200),
		Instance: a.Instance, Since: a.Since.Certain().At.UTC()}
}

func severityOf(word string) core.Severity {
	for _, s := range []core.Severity{core.SeverityUrgent, core.SeverityWarning} {
		if s.String() == word {
			return s
		}
	}
	return core.SeverityNotice
}

// connecting tells whether a source has not answered or failed for the first time.
func connecting(s *core.Snapshot) bool {
	for _, src := range s.Sources {
		if src.State == core.SourceConnecting && src.AsOf.IsZero() {
			return true
		}
	}
	return false
}

// seconds is a duration for the journal: in seconds, rounded to milliseconds.
func seconds(d time.Duration) float64 {
	return float64(d.Round(time.Millisecond)) / float64(time.Second)
}
