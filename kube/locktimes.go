package kube

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"lockstep/core"
)

// LockTimes reads when whoever keeps a workload lock's state wrote to it last, by the lock's UID: at that moment at the latest it came into
// the state that it has. A lock of which no manager owns the state is left out. An error is an *APIError.
func (c *Client) LockTimes(ctx context.Context) (map[string]time.Time, error) {
	out := map[string]time.Time{}
	for _, name := range []string{"nodeworkloadlocks", "clusterworkloadlocks"} {
		objects, failed := c.listMetadata(ctx, resource{gvr: lcm(name)})
		if failed != nil {
			return nil, failed
		}
		for _, o := range objects {
			if at := stateWritten(o.ManagedFields); !at.IsZero() {
				out[string(o.UID)] = at
			}
		}
	}
	return out, nil
}

// listMetadata lists the metadata of all objects of a cluster-wide resource, with their managed fields, which listAll leaves out.
func (c *Client) listMetadata(ctx context.Context, res resource) ([]metav1.PartialObjectMetadata, *core.APIError) {
	limit, next := pageLimit, ""
	var all []metav1.PartialObjectMetadata
	for {
		page, err := c.metadataPage(ctx, res, limit, next)
		if err != nil && (apierrors.IsResourceExpired(err) || apierrors.IsGone(err)) && next != "" {
			limit, next, all = 0, "", nil
			continue
		}
		if err != nil {
			return nil, Describe(err, res.call("list"))
		}
		all = append(all, page.Items...)
		if next = page.Continue; next == "" {
			return all, nil
		}
	}
}

func (c *Client) metadataPage(ctx context.Context, res resource, limit int, next string) (page metav1.PartialObjectMetadataList,
	err error) {
	ctx, cancel := context.WithTimeout(ctx, pageTimeout)
	defer cancel()
	r := c.session.Load().rest.Get().AbsPath("/apis", res.gvr.Group, res.gvr.Version, res.gvr.Resource)
	if limit > 0 {
		r.Param("limit", strconv.Itoa(limit))
	}
	if next != "" {
		r.Param("continue", next)
	}
	answer := r.Do(ctx)
	if err := answer.Error(); err != nil { // it reads what the server says, which Raw does not
		return page, err
	}
	raw, err := answer.Raw()
	if err != nil {
		return page, err
	}
	return page, json.Unmarshal(raw, &page)
}

// stateWritten is when a manager that owns status.state changed any field of its own last, by metadata.managedFields.
func stateWritten(managed []metav1.ManagedFieldsEntry) time.Time {
	var out time.Time
	for _, m := range managed {
		var owns struct {
			Status struct {
				State json.RawMessage `json:"f:state"`
			} `json:"f:status"`
		}
		if m.Time == nil || m.FieldsV1 == nil || json.Unmarshal(m.FieldsV1.GetRawBytes(), &owns) != nil || owns.Status.State == nil {
			continue
		}
		out = core.Later(out, m.Time.Time)
	}
	return out
}
