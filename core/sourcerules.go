package core

import (
	"fmt"
	"time"
)

// known tells whether what the source shows can be taken for the whole truth as of some moment: it has answered once, and
// not merely begun to.
func (s *Snapshot) known(id SourceID) bool {
	src, ok := s.Sources[id]
	if !ok || src.AsOf.IsZero() {
		return false
	}
	switch src.State {
	case SourceLive, SourceStale, SourceFailed:
		return true
	}
	return false
}

// whyUnknown is why the source says nothing: "forbidden", "not configured".
func (s *Snapshot) whyUnknown(id SourceID) string {
	src, ok := s.Sources[id]
	switch {
	case !ok:
		return "not watched"
	case src.State == SourceOff && src.Err != nil && src.Err.Kind == ErrForbidden:
		return "only operators may read it (deploy/rbac-operator.yaml)"
	case src.State == SourceForbidden && src.Err != nil && id.forActing():
		return "you may not " + oneLine(src.Err.Call, 120) + " (deploy/rbac-maintenance.yaml)"
	case src.State == SourceOff:
		return "not configured"
	case src.State == SourceConnecting || src.State == SourceLive:
		return "nothing has arrived yet"
	case src.State == SourceAbsent:
		return "the API does not have the resource"
	}
	if e := src.trouble(); e != nil {
		return e.Cause()
	}
	return string(src.State)
}

// fresh tells whether the source is live and was confirmed recently enough to write on, and what to say of its age.
func (s *Snapshot) fresh(id SourceID) (bool, string) {
	src, ok := s.Sources[id]
	if !ok || src.AsOf.IsZero() {
		return false, fmt.Sprintf("%s: %s", id, s.whyUnknown(id))
	}
	old := max(s.Wall.Sub(src.AsOf), 0).Truncate(time.Second)
	text := fmt.Sprintf("%s %s", id, spanText(old))
	switch {
	case src.State != SourceLive:
		return false, fmt.Sprintf("%s: %s since %s", id, src.State, spanText(max(s.Wall.Sub(src.Since), 0)))
	case old > s.Settings.StaleAfterOf(id):
		return false, text + " old"
	}
	return true, text
}
