package handover

import (
	"fmt"
	"slices"

	"lockstep/core"
	"lockstep/core/procedure"
	"lockstep/core/progress"
	"lockstep/core/record"
	"lockstep/core/wording"
)

// SetBack is something that Lockstep changed, and that is still so.
type SetBack struct {
	Of   string `json:"of"`
	What string `json:"what"`
}

// withChanges is the Snapshot with what was changed by all journals of the account, and not by its own alone: one operator may have set
// back what another one did.
func withChanges(s *core.Snapshot, a *record.Account) *core.Snapshot {
	if a == nil {
		return s
	}
	c, done := s.CopyFacts(), a.Done()
	h := &c.History
	h.Changes, h.Tries, h.Tags, h.Stopped, h.Cold, h.Silences = done.Changes, done.Tries, done.Tags, done.Stopped, done.Cold, done.Silences
	return c
}

// setBack is what Lockstep changed and nobody has set back: as the cluster has it now, not as the journal had it.
func setBack(s *core.Snapshot) []SetBack {
	out := []SetBack{}
	annotations := func(names []string, changes map[string]core.AnnotationChange) {
		for _, name := range names {
			c := changes[s.Nodes[name].UID]
			out = append(out, SetBack{wording.OneLine(s.Label(name), 64), c.Key[lastSlash(c.Key):] + ": " + wording.TextOr(c.New, "none") + " → " +
				wording.TextOr(c.Old, "none")})
		}
	}
	annotations(procedure.ModesToRestore(s), s.History.Changes)
	annotations(procedure.AttemptsToRestore(s), s.History.Tries)
	for _, in := range procedure.TagsToRestore(s) {
		c := s.History.Tags[in.ID]
		out = append(out, SetBack{progress.InstanceLabel(in), fmt.Sprintf("maintenance_action tags: %v → %v", c.New, c.Old)})
	}
	for _, in := range procedure.StoppedInstances(s) {
		out = append(out, SetBack{progress.InstanceLabel(in), "it is " + in.Status + ": bring it back"})
	}
	for _, p := range procedure.AfterUpdate(s) {
		if p.ID != "migrations" && p.ID != "silences" {
			continue
		}
		for _, l := range p.Open {
			what := "a cold migration of it is neither confirmed nor reverted"
			if p.ID == "silences" {
				what = "a silence of its alerts"
			}
			out = append(out, SetBack{l.Of, what + wording.InBrackets(l.How)})
		}
	}
	return append(out, notLooked(s)...)
}

// notLooked is what Lockstep changed, and of which nobody can tell now whether it is still so.
func notLooked(s *core.Snapshot) (out []SetBack) {
	h, ended := &s.History, s.History.Update.Ended
	silences := 0
	for _, r := range h.Silences {
		if one := r.Silence; !ended.IsZero() && one.Starts.Before(ended) && one.Ends.After(s.Now) {
			silences++
		}
	}
	for _, row := range []struct {
		n      int
		of     string
		what   string
		source core.SourceID
	}{
		{len(h.Changes), "node", "their migration mode, which Lockstep set", core.SourceNodes},
		{len(h.Tries), "node", "their number of migration attempts, which Lockstep set", core.SourceNodes},
		{len(h.Tags), "instance", "their maintenance_action tags, which Lockstep set", core.SourceInstances},
		{len(h.Stopped), "instance", "stopped or shelved by Lockstep", core.SourceInstances},
		{len(h.Cold), "instance", "cold-migrated by Lockstep, and to be confirmed or reverted", core.SourceInstances},
		{silences, "silence", "made by Lockstep", core.SourceAlertmanager},
	} {
		if row.n > 0 && !s.Known(row.source) {
			out = append(out, SetBack{wording.Count(row.n, row.of), row.what + ": not known whether it is still so (" + string(row.source) + ": " +
				s.WhyUnknown(row.source) + ")"})
		}
	}
	return out
}

// disabled adds the services that an operator took out of scheduling, and that are still out of it.
func (h *Handover) disabled(s *core.Snapshot, a *record.Account) {
	for _, d := range a.Disabled() {
		name, source, label := "nova-compute", core.SourceComputeServices, progress.HostLabel(s, d.Service.Name)
		svc := s.Services[d.Service.Name]
		still := svc != nil && !svc.Enabled
		if d.Service.Kind == core.KindVolumeService {
			name, source, label = "cinder-volume", core.SourceVolumeServices, wording.OneLine(d.Service.Name, 64)
			still = volumeServiceDisabled(s, d.Service.Name)
		}
		switch {
		case !s.Known(source):
			h.SetBack = append(h.SetBack, SetBack{label, name + " was disabled, by " + d.By + ": not known whether it is still so (" +
				string(source) + ": " + s.WhyUnknown(source) + ")"})
		case still:
			h.SetBack = append(h.SetBack, SetBack{label, name + " is disabled, by " + d.By})
		}
	}
}

// volumeServiceDisabled tells whether there is a cinder-volume service of this name that is out of scheduling.
func volumeServiceDisabled(s *core.Snapshot, host string) bool {
	for _, all := range s.VolumeServices {
		if slices.ContainsFunc(all, func(v *core.VolumeService) bool { return v.Host == host && !v.Enabled }) {
			return true
		}
	}
	return false
}

func lastSlash(key string) int {
	for i := len(key) - 1; i >= 0; i-- {
		if key[i] == '/' {
			return i + 1
		}
	}
	return 0
}
