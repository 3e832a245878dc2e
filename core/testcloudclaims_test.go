package core

import (
	"context"
	"slices"
)

// testClaims are the volume claims of a testCloud.
type testClaims struct {
	claims       []*VolumeClaim
	localVolumes []*PersistentVolume
	noClaims     error // the answer to who asks for claims; nil: they are told
	onClaimGone  func(ref Ref)
}

func (c *testClaims) claimObjects() map[SourceID][]Object {
	out := map[SourceID][]Object{SourceClaims: nil, SourceRedisClaims: nil, SourceLocalVolumes: nil}
	for _, claim := range c.claims {
		id := SourceClaims
		if claim.Namespace == namespaceRedis {
			id = SourceRedisClaims
		}
		cp := *claim
		out[id] = append(out[id], &cp)
	}
	for _, v := range c.localVolumes {
		out[SourceLocalVolumes] = append(out[SourceLocalVolumes], v)
	}
	return out
}

func (c *testCloud) VolumeClaims(_ context.Context, namespace string) ([]*VolumeClaim, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.noClaims != nil {
		return nil, c.noClaims
	}
	var out []*VolumeClaim
	for _, claim := range c.claims {
		if claim.Namespace == namespace {
			cp := *claim
			out = append(out, &cp)
		}
	}
	return out, nil
}

func (c *testCloud) PersistentVolume(_ context.Context, name string) (*PersistentVolume, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, v := range c.localVolumes {
		if v.Name == name {
			return v, nil
		}
	}
	return nil, nil
}

func (c *testCloud) deleteClaim(ref Ref, dryRun bool) error {
	return c.maybe(dryRun, "delete-claim", ref.Name, func(dryRun bool) error {
		i := slices.IndexFunc(c.claims, func(claim *VolumeClaim) bool { return claim.Namespace == ref.Namespace && claim.Name == ref.Name })
		switch {
		case i < 0:
			return &APIError{Kind: ErrNotFound, Server: ServerKubernetes, Call: "delete claim"}
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
