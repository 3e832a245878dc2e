package kubeapi

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// eventsResource shows the Events of v1 as those of events.k8s.io, which k9s reads. It is read-only: writers of Events
// use v1.
func eventsResource(events *resource) *resource {
	return &resource{
		GroupVersionResource: schema.GroupVersionResource{Group: "events.k8s.io", Version: "v1", Resource: "events"},
		kind:                 "Event", listKind: "EventList", singular: "event", shortNames: events.shortNames, namespaced: true, typed: true,
		columns: events.columns, table: events.table, view: newEvent, readonly: true,
		fields: []string{"reason", "regarding.kind", "regarding.name", "regarding.namespace", "regarding.uid", "reportingController", "type"},
	}
}

// newEvent converts an Event of v1 to events.k8s.io/v1.
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

// shown returns an object in the form that the resource shows to clients.
func (r *resource) shown(o *object) *object {
	if r.view == nil || o == nil {
		return o
	}
	return &object{key: o.key, revision: o.revision, content: r.view(o.content)}
}
