package engine

import (
	"context"
	"slices"

	"lockstep/core"
)

// testClaims are the volume claims of a testCloud.
type testClaims struct {
	claims       []*core.VolumeClaim
	localVolumes []*core.PersistentVolume
	noClaims     error // the answer to a query for claims; nil: they are answered
	onClaimGone  func(ref core.Ref)
}

func (c *testClaims) claimObjects() map[core.SourceID][]core.Object {
	out := map[core.SourceID][]core.Object{core.SourceClaims: nil, core.SourceRedisClaims: nil, core.SourceLocalVolumes: nil}
	for _, claim := range c.claims {
		id := core.SourceClaims
		if claim.Namespace == core.NamespaceRedis {
			id = core.SourceRedisClaims
		}
		cp := *claim
		out[id] = append(out[id], &cp)
	}
	for _, v := range c.localVolumes {
		out[core.SourceLocalVolumes] = append(out[core.SourceLocalVolumes], v)
	}
	return out
}

func (c *testCloud) VolumeClaims(_ context.Context, namespace string) ([]*core.VolumeClaim, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.noClaims != nil {
		return nil, c.noClaims
	}
	var out []*core.VolumeClaim
	for _, claim := range c.claims {
		if claim.Namespace == namespace {
			cp := *claim
			out = append(out, &cp)
		}
	}
	return out, nil
}

func (c *testCloud) PersistentVolume(_ context.Context, name string) (*core.PersistentVolume, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, v := range c.localVolumes {
		if v.Name == name {
			return v, nil
		}
	}
	return nil, nil
}

func (c *testCloud) deleteClaim(ref core.Ref, dryRun bool) error {
	return c.maybe(dryRun, "delete-claim", ref.Name, func(dryRun bool) error {
		i := slices.IndexFunc(c.claims, func(claim *core.VolumeClaim) bool { return claim.Namespace == ref.Namespace && claim.Name == ref.Name })
		switch {
		case i < 0:
			return &core.APIError{Kind: core.ErrNotFound, Server: core.ServerKubernetes, Call: "delete claim"}
		case c.claims[i].UID != ref.UID:
			return conflict("it is another claim")
		case !dryRun:
			c.claims = slices.Delete(slices.Clone(c.claims), i, i+1)
			if c.onClaimGone != nil {
				c.onClaimGone(ref)
			}
		}
		return nil
	})
}
