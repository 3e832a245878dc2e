package kube

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"lockstep/core"
)

// The names of kopf's annotations after their prefix, which can be configured. The OpenStack controller runs under kopf
// (docs/mosk.md#bookkeeping).
const (
	keptHandled = "last-handled-configuration"
	keptMarker  = "kopf-managed"     // under a prefix of its own
	kopfDomain  = "kopf.zalando.org" // the prefix, or its end
)

// triesOf are the OpenStack controller's handlers of a kind: of what is made or changed, and of the deletion.
var triesOf = map[core.Kind]struct{ change, deletion string }{
	core.KindNodeMaintenanceRequest:    {"node_maintenance_request_change_handler", "node_maintenance_request_delete_handler"},
	core.KindClusterMaintenanceRequest: {"cluster_maintenance_request_change_handler", "cluster_maintenance_request_delete_handler"},
	core.KindNodeDeletionRequest:       {"node_deletion_request_change_handler", ""},
	core.KindNodeWorkloadLock:          {"", "node_workloadlock_request_delete_handler"},
	core.KindNodeDisableNotification:   {"", "node_disable_notification_delete_handler"},
}

// maxKept is how much of a note is read, in bytes: an object's annotations are at most 256 KiB, and a note has one text.
const maxKept = 64 << 10

// bookkeepingFrom reads what the OpenStack controller notes on an object, under any prefix. It never fails: of a note that cannot
// be read only its presence counts.
func bookkeepingFrom(kind core.Kind, o fields) core.Bookkeeping {
	var b core.Bookkeeping
	annotations := o.at("metadata", "annotations")
	handlers := triesOf[kind]
	for _, key := range slices.Sorted(maps.Keys(annotations)) {
		prefix, name, prefixed := strings.Cut(key, "/")
		if !prefixed {
			continue
		}
		switch {
		case name == keptHandled:
			b.Handled, b.Marked = true, true
		case name == handlers.change && name != "":
			b.Change, b.Marked = newer(b.Change, triesFrom(annotations.text(key))), true
		case name == handlers.deletion && name != "":
			b.Delete, b.Marked = newer(b.Delete, triesFrom(annotations.text(key))), true
		case name == keptMarker || prefix == kopfDomain || strings.HasSuffix(prefix, "."+kopfDomain):
			b.Marked = true
		}
	}
	return b
}

// newer is the one of two notes that was begun last.
func newer(a, b *core.Tries) *core.Tries {
	if a == nil || b != nil && b.Started.After(a.Started) {
		return b
	}
	return a
}

// triesFrom reads a note; nil when it is not one, or has no failed tries.
func triesFrom(text string) *core.Tries {
	if len(text) > maxKept {
		return nil
	}
	var note map[string]any
	if json.Unmarshal([]byte(text), &note) != nil {
		return nil
	}
	f := fields(note)
	failed, _ := f.number("retries")
	t := &core.Tries{
		Purpose: plainLine(f.text("purpose"), 40),
		Failed:  max(failed, 0),
		Words:   plainLine(f.text("message"), core.MaxWords),
		Started: f.time("started"),
		Next:    f.time("delayed"),
		GaveUp:  f.truth("failure"),
	}
	if f.truth("success") || t.Failed == 0 && t.Words == "" {
		return nil
	}
	return t
}

// plainLine is the beginning of a text on one line, without characters that are invisible or change how others are shown.
func plainLine(text string, most int) string {
	const cut = " …"
	var out strings.Builder
	space := false
	for _, r := range text {
		switch {
		case unicode.IsSpace(r):
			space = out.Len() > 0
			continue
		case r == utf8.RuneError || !unicode.IsGraphic(r):
			continue
		}
		if out.Len()+utf8.RuneLen(r)+1 > most-len(cut) {
			out.WriteString(cut)
			break
		}
		if space {
			out.WriteByte(' ')
			space = false
		}
		out.WriteRune(r)
	}
	return out.String()
}
