package kubeapi

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// eventsResource shows the Events of v1 as those of events.k8s.io, which k9s looks at. It is for readers: who writes
// Events writes those of v1.
func eventsResource(events *resource) *resource {
	return &resource{
		GroupVersionResource: schema.GroupVersionResource{Group: "events.k8s.io", Version: "v1", Resource: "events"},
		kind:                 "Event", listKind: "EventList", singular: "event", shortNames: events.shortNames, namespaced: true, typed: true,
		columns: events.columns, table: events.table, view: newEvent, readonly: true,
		fields: []string{"reason", "regarding.kind", "regarding.name", "regarding.namespace", "regarding.uid", "reportingController", "type"},
	}
}

// newEvent is an Event of v1 as one of events.k8s.io/v1.
func newEvent(old map[string]any) map[string]any {
	renamed := map[string]string{
		"involvedObject": "regarding", "message": "note", "reportingComponent": "reportingController", "source": "deprecatedSource",
		"firstTimestamp": "deprecatedFirstTimestamp", "lastTimestamp": "deprecatedLastTimestamp", "count": "deprecatedCount",
	}
	event := map[string]any{}
	for name, value := range old {
		if other, found := renamed[name]; found {
			name = other
		}
		event[name] = value
	}
	event["apiVersion"] = "events.k8s.io/v1"
	return event
}

// shown is an object as the resource shows it to its clients.
func (r *resource) shown(o *object) *object {
	if r.view == nil || o == nil {
		return o
	}
	return &object{key: o.key, revision: o.revision, content: r.view(o.content)}
}
