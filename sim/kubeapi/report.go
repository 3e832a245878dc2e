package kubeapi

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Report is what a component says about an object, as an Event.
type Report struct {
	APIVersion, Kind, Namespace, Name, UID string // of the object
	Reason, Message, From                  string
	Warning                                bool
}

// Report stores an Event. A repeated one counts, as with real components.
func (s *Server) Report(r Report) error {
	events := s.catalogue.find(schema.GroupVersionResource{Version: "v1", Resource: "events"})
	h := fnv.New64a()
	_, _ = h.Write([]byte(r.UID + "/" + r.Reason + "/" + r.Message))
	name, namespace, now := fmt.Sprintf("%s.%016x", r.Name, h.Sum64()), cmp.Or(r.Namespace, metav1.NamespaceDefault), s.timestamp()
	for {
		old := events.table.get(key(namespace, name))
		if old == nil {
			break
		}
		content := old.copy()
		var count int64 = 1
		if n, ok := content["count"].(int64); ok {
			count = n
		}
		content["count"], content["lastTimestamp"] = count+1, now.UTC().Format(time.RFC3339)
		if events.table.replace(old, content) != nil {
			return nil
		}
	}
	kind := corev1.EventTypeNormal
	if r.Warning {
		kind = corev1.EventTypeWarning
	}
	return s.Load(&corev1.Event{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Event"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		InvolvedObject: corev1.ObjectReference{APIVersion: r.APIVersion, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name,
			UID: types.UID(r.UID)},
		Reason: r.Reason, Message: r.Message, Type: kind, Count: 1, FirstTimestamp: now, LastTimestamp: now,
		Source: corev1.EventSource{Component: r.From},
	})
}
