package engine

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"lockstep/core"
)

// digest keeps those records of a journal from which a History and the operations of earlier runs are made, and no others, so it does
// not grow with the journal. A run reads it at its start, and the journal's next file begins with it.
type digest struct {
	actions bool // keep only what was done, not what was seen

	next   int
	seen   map[string]keptRecord // by kind and object: its last transition
	phases map[core.PhaseID]keptRecord
	stands map[core.PhaseID][]keptRecord
	course map[string]core.Course // by node UID
	update string                 // UID of the update that the phases, standstills and courses are of

	operations []string // IDs of those that still count; an item counts under its batch's ID
	spoken     map[string]*spokenOf
	effects    map[string][]keptRecord // by object: what was done to it, and may have to be set back

	notes map[string]keptRecord // by ID: the last record of each that counts
	last  time.Time             // the newest time of a record, by the cluster's clock

	planned map[string]keptRecord // by what it is about: what the update was planned and forecast to take

	foretold []keptRecord // of this update and of those before it, oldest first
}

// keptRecord is a record with its place in the journal.
type keptRecord struct {
	place  int
	record Record
}

// spokenOf is what a journal tells about one operation.
type spokenOf struct {
	records []keptRecord
	open    map[string]bool // by ID, its own or an item's: begun, and not ended well
	flying  map[string]bool // by ID: begun, and no end is recorded
	failed  bool            // it ended, but not well
	begun   bool            // part of it was begun, or it ended
}

func newDigest(actions bool) *digest {
	return &digest{actions: actions, seen: map[string]keptRecord{}, phases: map[core.PhaseID]keptRecord{},
		stands: map[core.PhaseID][]keptRecord{}, course: map[string]core.Course{}, spoken: map[string]*spokenOf{},
		effects: map[string][]keptRecord{}, notes: map[string]keptRecord{}, planned: map[string]keptRecord{}}
}

// forgottenGrant is how long after its confirmation a step that was not begun never will be.
const forgottenGrant = 10 * time.Minute

// add takes the next record of the journal.
func (d *digest) add(r Record) {
	d.next++
	d.last = core.Later(d.last, r.At)
	k := keptRecord{d.next, r}
	k.record.Commands, k.record.Basis, k.record.Typed, k.record.As = nil, nil, "", nil // these were only shown; no state is made from them
	switch r.Kind {
	case RecordUpdate:
		d.addUpdate(k)
	case RecordPhase:
		if !d.actions && r.Phase != nil {
			d.phases[r.Number] = k
		}
	case RecordStage, RecordRound, RecordLock, RecordMigrationRefused:
		if !d.actions && r.Object != nil {
			if r.Kind == RecordStage && r.Stage != nil {
				d.course[r.Object.UID] = r.course(d.course[r.Object.UID])
				k.record.Course = nil
			}
			key := string(r.Kind) + " " + r.Object.UID
			if r.Stage != nil && r.Reconstructed != "" { // it was before the last one, or is when that began
				if last := d.seen[key]; last.record.Stage != nil && last.record.Stage.Stage == r.Stage.Stage && !(last.record.Stage.Since.Exact &&
					last.record.Exact) {
					last.record.Stage, last.record.Exact = r.Stage, r.Exact
					d.seen[key] = last
				}
				return
			}
			if old := d.seen[key].record.Round; old != nil && r.Round != nil && old.Earlier(*r.Round) {
				d.seen[key+" of an earlier update"] = d.seen[key]
			}
			if old := d.seen[key+" of an earlier update"].record.Round; old != nil && r.Round != nil && old.SameUpdate(*r.Round) {
				delete(d.seen, key+" of an earlier update")
			}
			d.seen[key] = k
		}
	case RecordPlan, RecordPlanStep, RecordForecast:
		if about, _, ok := r.observation(); ok && !d.actions {
			d.planned[about] = k
		}
	case RecordForetold:
		d.addForetold(k)
	case RecordEntry:
		d.addEntry(k)
	case RecordMove:
		last := d.seen[string(RecordMove)].record.Move // how far the record of migrations has come
		if !d.actions && r.Move != nil && (last == nil || !last.Ended.After(r.Move.Ended)) {
			d.seen[string(RecordMove)] = k
		}
	case RecordNote:
		d.addNote(k)
	case RecordStandstill:
		if !d.actions && r.Stands != nil {
			d.addStandstill(k)
		}
	case RecordMigrated, RecordUp:
		d.addEffect(k)
	case RecordGrant, RecordBefore, RecordVerified, RecordEnded, RecordControl:
		if !r.Settled {
			d.addOperation(k)
		}
		d.addEffect(k)
	}
}

func (d *digest) addUpdate(k keptRecord) {
	u := k.record.Update
	if u == nil || k.record.endsEarlier(d.update) {
		return
	}
	if u.UID != d.update {
		d.update = u.UID
		if u.Ended.IsZero() {
			d.forgetEnded()
		}
		clear(d.phases)
		clear(d.stands)
		clear(d.course)
		clear(d.planned)
		d.seen[string(RecordUpdate)+" first seen"] = k
		maps.DeleteFunc(d.notes, func(_ string, k keptRecord) bool { return k.record.Note.Done }) // they were about an update before
	}
	d.seen[string(RecordUpdate)] = k
}

// forgetEnded drops the operations of an update before: whatever became of them does not count any more. What is not known to have ended
// does.
func (d *digest) forgetEnded() {
	d.operations = slices.DeleteFunc(d.operations, func(id string) bool { return len(d.spoken[id].flying) == 0 })
	maps.DeleteFunc(d.spoken, func(_ string, op *spokenOf) bool { return len(op.flying) == 0 })
	for _, op := range d.spoken {
		op.open, op.failed = maps.Clone(op.flying), false
		op.records = slices.DeleteFunc(op.records, func(k keptRecord) bool {
			return k.record.Kind != RecordGrant && k.record.Kind != RecordControl && !op.flying[k.record.Operation]
		})
	}
}

// addEntry keeps the last record of an entry of "Needs you" that is there.
func (d *digest) addEntry(k keptRecord) {
	if d.actions || k.record.Entry == nil {
		return
	}
	key := string(RecordEntry) + " " + k.record.Entry.ID
	if d.seen[key] = k; k.record.Entry.What == EntrySettled {
		delete(d.seen, key)
	}
}

// addNote keeps the last record of each note. Of those that are done it keeps the newest: the journal has them all.
func (d *digest) addNote(k keptRecord) {
	if d.actions || k.record.Note == nil {
		return
	}
	d.notes[k.record.Note.ID] = k
	var done []keptRecord
	for _, n := range d.notes {
		if n.record.Note.Done {
			done = append(done, n)
		}
	}
	if len(done) > core.MostNotesDone {
		delete(d.notes, slices.MinFunc(done, func(a, b keptRecord) int { return a.place - b.place }).record.Note.ID)
	}
}

// addForetold keeps one record of what was forecast and came, and of all of them the newest: also those of earlier updates.
func (d *digest) addForetold(k keptRecord) {
	if d.actions || k.record.Foretold == nil {
		return
	}
	d.foretold = slices.DeleteFunc(d.foretold, func(o keptRecord) bool { return o.record.Foretold.key() == k.record.Foretold.key() })
	d.foretold = append(d.foretold[max(len(d.foretold)+1-core.MostForetold, 0):], k)
}

// addStandstill keeps one record of each standstill: of its beginning, or of its end.
func (d *digest) addStandstill(k keptRecord) {
	list := d.stands[k.record.Number]
	if n := len(list); n > 0 && len(core.WithStandstill([]core.Standstill{*list[n-1].record.Stands}, *k.record.Stands)) == 1 {
		list = list[:n-1]
	}
	d.stands[k.record.Number] = append(list[max(len(list)+1-core.MostStandstills, 0):], k)
}

func (d *digest) addOperation(k keptRecord) {
	r := k.record
	id := core.BatchOf(r.Operation)
	op := d.spoken[id]
	if op == nil {
		if r.Kind == RecordControl {
			return // the operation is settled
		}
		op = &spokenOf{open: map[string]bool{}, flying: map[string]bool{}}
		d.spoken[id], d.operations = op, append(d.operations, id)
	}
	op.records = append(op.records, k)
	switch r.Kind {
	case RecordGrant:
		return
	case RecordBefore:
		op.begun, op.open[r.Operation], op.flying[r.Operation] = true, true, true
	case RecordVerified:
		delete(op.flying, r.Operation)
		if r.State == string(core.OperationDone) {
			delete(op.open, r.Operation)
		}
	case RecordEnded:
		clear(op.open)
		clear(op.flying)
		op.begun, op.failed = true, r.State == string(core.OperationFailed) || r.State == string(core.OperationUnknown)
	case RecordControl:
		if r.State == stateAcknowledged {
			clear(op.open)
			op.failed = false
		}
	}
	d.forgetSettled(r.Wall)
}

// forgetSettled drops the operations that ended well or were acknowledged. They count only after one that is still open.
func (d *digest) forgetSettled(now time.Time) {
	open := d.next + 1 // from this place on everything counts
	for _, id := range d.operations {
		if op := d.spoken[id]; !op.settled(now) {
			open = min(open, op.records[0].place)
		}
	}
	d.operations = slices.DeleteFunc(d.operations, func(id string) bool {
		records := d.spoken[id].records
		if records[len(records)-1].place >= open || !d.spoken[id].settled(now) {
			return false
		}
		delete(d.spoken, id)
		return true
	})
}

// settled tells whether the operation is closed: it ended well, was acknowledged, or was never begun.
func (op *spokenOf) settled(now time.Time) bool {
	if !op.begun {
		return now.Sub(op.records[0].record.Wall) >= forgottenGrant
	}
	return !op.failed && len(op.open) == 0 && op.ended()
}

// ended tells whether the end of the operation was recorded. Older versions recorded only the end of its one write.
func (op *spokenOf) ended() bool {
	return slices.ContainsFunc(op.records, func(k keptRecord) bool {
		return k.record.Kind == RecordEnded || k.record.Kind == RecordVerified && !core.OfBatch(k.record.Operation) ||
			k.record.Kind == RecordControl && k.record.State == stateAcknowledged
	})
}

// addEffect keeps what was done to an object as long as it still matters.
func (d *digest) addEffect(k keptRecord) {
	if k.record.Object == nil || !slices.Contains([]RecordKind{RecordBefore, RecordVerified, RecordMigrated, RecordUp}, k.record.Kind) {
		return
	}
	key := k.record.Object.UID + " " + k.record.Object.Name
	if of := k.record.Silence; of != nil { // it is made on Alertmanager, and expired by its own name; one takes another's place
		key = "silence " + of.MatcherText()
	} else if k.record.Intent != nil && k.record.Intent.Kind == core.IntentMakeSilence {
		return // which one it would be is not known
	}
	all := slices.DeleteFunc(d.effects[key], func(b keptRecord) bool { // its end, or the next try, replaces what was begun
		return b.record.Kind == RecordBefore && b.record.Operation == k.record.Operation
	})
	all = append(all, k)
	d.effects[key] = all
	records := make([]Record, len(all))
	for i := range all {
		if records[i] = all[i].record; records[i].Kind == RecordBefore {
			return // its end decides
		}
	}
	if replay(records).NothingDone() {
		delete(d.effects, key)
	}
}

// records returns the records that are kept, in the journal's order.
func (d *digest) records() []Record {
	all := map[int]Record{}
	keep := func(k keptRecord) { all[k.place] = k.record }
	for _, effects := range d.effects {
		for _, k := range effects {
			if of := k.record.Silence; of != nil && !of.Ends.After(d.last) {
				continue // its time is over
			}
			if k.record.Kind == RecordBefore { // its operation is settled, unless it is among those below
				k.record.Settled = true
			}
			keep(k)
		}
	}
	for _, k := range d.seen {
		if k.record.Kind == RecordStage {
			k.record.Course = d.course[k.record.Object.UID] // none: it was before the update
		}
		keep(k)
	}
	for _, stands := range d.stands {
		for _, k := range stands {
			keep(k)
		}
	}
	for _, k := range d.phases {
		keep(k)
	}
	for _, k := range d.notes {
		keep(k)
	}
	for _, k := range d.planned {
		keep(k)
	}
	for _, k := range d.foretold {
		keep(k)
	}
	for _, op := range d.spoken {
		for _, k := range op.records {
			if _, follows := all[k.place]; !follows { // what it did was set back, or another record tells it
				k.record.Change, k.record.Tags, k.record.Override, k.record.Silence = nil, nil, nil, nil
			}
			keep(k)
		}
	}
	out := make([]Record, 0, len(all))
	for _, place := range slices.SortedFunc(maps.Keys(all), cmp.Compare[int]) {
		out = append(out, all[place])
	}
	return out
}

// unseen turns the record of a write that was begun into one of a write whose result was not seen.
func (r Record) unseen() Record {
	r.Kind, r.State = RecordVerified, string(core.OperationUnknown)
	r.Override = r.Override.Remembered(core.OperationUnknown)
	return r
}

// counts tells whether a digest uses records of the kind; others need not even be decoded.
func counts(kind RecordKind) bool {
	switch kind {
	case RecordStart, RecordStop, RecordArm, RecordDisarm, RecordAfter, RecordRefused, RecordIdentity:
		return false
	}
	return true
}
