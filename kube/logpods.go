package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	selectors "k8s.io/apimachinery/pkg/fields"

	"lockstep/core"
)

// foundPod is a pod whose log can be read.
type foundPod struct {
	core.LogPod
	uid     string
	created string
}

// pick is the container of that name, or else the first.
func (p foundPod) pick(name string) core.LogContainer {
	if i := slices.IndexFunc(p.Containers, func(c core.LogContainer) bool { return c.Name == name }); i >= 0 {
		return p.Containers[i]
	}
	if len(p.Containers) > 0 {
		return p.Containers[0]
	}
	return core.LogContainer{}
}

// find lists the pods that are meant, the newest first; name asks for one of them.
func (f *logReading) find(ctx context.Context, name string) ([]foundPod, *core.APIError) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	r := f.client.session.Load().rest.Get().AbsPath("/api/v1").Namespace(f.Namespace).Resource("pods")
	var terms []selectors.Selector
	if name = cmp.Or(name, f.Pod); name != "" {
		terms = append(terms, selectors.OneTermEqualSelector("metadata.name", name))
	}
	if f.Node != "" {
		terms = append(terms, selectors.OneTermEqualSelector("spec.nodeName", f.Node))
	}
	if len(terms) > 0 {
		r = r.Param("fieldSelector", selectors.AndSelectors(terms...).String())
	}
	if f.Selector != "" {
		r = r.Param("labelSelector", f.Selector)
	}
	call := "list pods in namespace " + f.Namespace
	answer := r.Do(ctx)
	if err := answer.Error(); err != nil {
		return nil, lookError(err, f.Server, call)
	}
	body, err := answer.Raw()
	if err != nil {
		return nil, lookError(err, f.Server, call)
	}
	pods, err := readLogPods(body)
	if err != nil {
		return nil, lookError(err, f.Server, call)
	}
	pods = slices.DeleteFunc(pods, func(p foundPod) bool { return !strings.Contains(p.Name, f.Part) })
	slices.SortFunc(pods, func(a, b foundPod) int { return cmp.Or(cmp.Compare(b.created, a.created), cmp.Compare(a.Name, b.Name)) })
	return pods, nil
}

// readLogPods reads a list of pods.
func readLogPods(body []byte) ([]foundPod, error) {
	type container struct {
		Name     string
		Restarts int `json:"restartCount"`
		State    struct {
			Running    *struct{}
			Waiting    *struct{ Reason string }
			Terminated *struct{ Reason string }
		}
	}
	var list struct {
		Items []struct {
			Metadata struct {
				Name    string
				UID     string
				Created string `json:"creationTimestamp"`
			}
			Spec struct {
				NodeName   string
				Containers []struct{ Name string }
				Init       []struct{ Name string } `json:"initContainers"`
			}
			Status struct {
				Phase      string
				Containers []container `json:"containerStatuses"`
				Init       []container `json:"initContainerStatuses"`
			}
		}
	}
	var odd *json.UnmarshalTypeError
	if err := json.Unmarshal(body, &list); err != nil && !errors.As(err, &odd) {
		return nil, fmt.Errorf("read the list of pods: %w", err)
	}
	var out []foundPod
	for _, item := range list.Items {
		p := foundPod{uid: item.Metadata.UID, created: item.Metadata.Created,
			LogPod: core.LogPod{Name: item.Metadata.Name, Node: item.Spec.NodeName, Phase: item.Status.Phase}}
		states := slices.Concat(item.Status.Containers, item.Status.Init)
		for _, c := range slices.Concat(item.Spec.Containers, item.Spec.Init) {
			own := core.LogContainer{Name: c.Name}
			if i := slices.IndexFunc(states, func(s container) bool { return s.Name == c.Name }); i >= 0 {
				own.Restarts = states[i].Restarts
				switch st := states[i].State; {
				case st.Running != nil:
					own.State = "running"
				case st.Waiting != nil:
					own.State = st.Waiting.Reason
				case st.Terminated != nil:
					own.State = st.Terminated.Reason
				}
			}
			p.Containers = append(p.Containers, own)
		}
		out = append(out, p)
	}
	return out, nil
}
