package kube

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	selectors "k8s.io/apimachinery/pkg/fields"

	"lockstep/core"
)

const (
	// mostPods is how many pods are listed to choose from, and podsPage how many at once.
	mostPods, podsPage = 20_000, 500
	// asTable asks for the rows that kubectl prints. They are a fiftieth of the pods themselves.
	asTable = "application/json;as=Table;v=v1;g=meta.k8s.io"
)

// Pods implements core.Looker.
func (l *Looker) Pods(ctx context.Context, t core.PodsTarget) (core.PodList, error) {
	ctx, cancel := context.WithTimeout(ctx, 4*callTimeout)
	defer cancel()
	c, err := l.client(t.Server, "list pods")
	if err != nil {
		return core.PodList{}, err
	}
	var out core.PodList
	var refused *core.APIError
	failed := l.podRows(ctx, c, t, &out)
	if failed != nil && failed.Kind == core.ErrForbidden && t.Namespace == "" {
		refused, failed = failed, nil
		for _, namespace := range core.PodNamespaces(t.Server) {
			t.Namespace = namespace
			out.Only = append(out.Only, namespace)
			switch e := l.podRows(ctx, c, t, &out); {
			case e == nil:
			case e.Kind == core.ErrForbidden:
				out.Refused = append(out.Refused, namespace)
			case failed == nil:
				failed = e
			}
		}
		if len(out.Refused) == len(out.Only) {
			return core.PodList{}, refused // which names the right that all would have
		}
	}
	slices.SortFunc(out.Pods, func(a, b core.PodRow) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	if failed != nil {
		return out, failed
	}
	return out, nil
}

// podRows lists pods page by page.
func (l *Looker) podRows(ctx context.Context, c *Client, t core.PodsTarget, out *core.PodList) *core.APIError {
	call, next := "list pods", ""
	if t.Namespace != "" {
		call += " in namespace " + t.Namespace
	}
	for {
		r := c.session.Load().rest.Get().AbsPath("/api/v1").NamespaceIfScoped(t.Namespace, t.Namespace != "").Resource("pods").
			SetHeader("Accept", asTable).Param("limit", strconv.Itoa(podsPage))
		if next != "" {
			r = r.Param("continue", next)
		}
		if t.Node != "" {
			r = r.Param("fieldSelector", selectors.OneTermEqualSelector("spec.nodeName", t.Node).String())
		}
		answer := r.Do(ctx)
		if err := answer.Error(); err != nil { // it reads what the server says, which Raw does not
			e := lookError(err, t.Server, call)
			if e.Kind == core.ErrUnauthorized {
				c.renew()
			}
			return e
		}
		body, err := answer.Raw()
		if err != nil {
			return lookError(err, t.Server, call)
		}
		rows, more, err := readPodTable(body)
		if err != nil {
			return lookError(err, t.Server, call)
		}
		for _, row := range rows {
			row.Server = t.Server
			if out.Cut = len(out.Pods) >= mostPods; out.Cut {
				return nil
			}
			out.Pods = append(out.Pods, row)
		}
		if next = more; next == "" {
			return nil
		}
	}
}

// readPodTable reads the rows of pods as kubectl prints them. Columns are found by their titles.
func readPodTable(body []byte) (rows []core.PodRow, more string, err error) {
	var table struct {
		Kind     string
		Metadata struct{ Continue string }
		Columns  []struct{ Name string } `json:"columnDefinitions"`
		Rows     []struct {
			Cells  []any
			Object struct {
				Metadata struct{ Name, Namespace string }
			}
		}
	}
	if err := json.Unmarshal(body, &table); err != nil {
		return nil, "", fmt.Errorf("read the list of pods: %w", err)
	}
	if table.Kind != "Table" {
		return nil, "", fmt.Errorf("the server gives no table of pods, but a %q", table.Kind)
	}
	for _, r := range table.Rows {
		p := core.PodRow{Name: r.Object.Metadata.Name, Namespace: r.Object.Metadata.Namespace}
		for title, into := range map[string]*string{"Ready": &p.Ready, "Status": &p.Status, "Restarts": &p.Restarts, "Node": &p.Node} {
			for i, c := range table.Columns {
				if c.Name == title && i < len(r.Cells) && r.Cells[i] != nil {
					*into = fmt.Sprint(r.Cells[i])
				}
			}
		}
		if p.Node == "<none>" {
			p.Node = ""
		}
		rows = append(rows, p)
	}
	return rows, table.Metadata.Continue, nil
}

// Pod implements core.Looker.
func (l *Looker) Pod(ctx context.Context, p core.PodRow) (core.LogPod, error) {
	c, err := l.client(p.Server, "read the pod "+p.Name)
	if err != nil {
		return core.LogPod{}, err
	}
	f := &logReading{client: c, LogRequest: core.LogRequest{LogTarget: p.Target("")}}
	pods, failed := f.find(ctx, "")
	switch {
	case failed != nil:
		return core.LogPod{}, failed
	case len(pods) == 0:
		return core.LogPod{}, f.none()
	}
	return pods[0].LogPod, nil
}
