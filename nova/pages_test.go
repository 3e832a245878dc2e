package nova

import (
	"context"
	"strings"
	"testing"

	"lockstep/core"
	"lockstep/sim/bubble"
)

// A server, or a cache on the way to it, that answers each page with the first one has not shown the whole list.
func TestAPageThatComesAgainIsNoWholeList(t *testing.T) {
	bubble.Run(t, func(t *testing.T) {
		for _, tt := range []struct {
			what, route, body string
			list              func(ctx context.Context, c *Client) error
		}{
			{"volumes", "GET /volume/v3/volumes/detail", `{"volumes": [{"id": "v1"}], "volumes_links": [{"rel": "next"}]}`,
				func(ctx context.Context, c *Client) error {
					_, err := c.listVolumes(ctx, "", func(core.Volume) bool { return true })
					return err
				}},
			{"ports", "GET /network/v2.0/ports", `{"ports": [{"id": "p1"}], "ports_links": [{"rel": "next"}]}`,
				func(ctx context.Context, c *Client) error {
					_, err := c.listDevicePorts(ctx, []string{"h1"})
					return err
				}},
			{"flavors", "GET /compute/v2.1/flavors/detail", `{"flavors": [{"id": "f1"}], "flavors_links": [{"rel": "next"}]}`,
				func(ctx context.Context, c *Client) error {
					_, err := c.listFlavors(ctx)
					return err
				}},
			{"servers", "GET /compute/v2.1/servers/detail", `{"servers": [{"id": "s1"}], "servers_links": [{"rel": "next"}]}`,
				func(ctx context.Context, c *Client) error {
					_, err := c.listPinnedZones(ctx, []string{"h1"})
					return err
				}},
		} {
			n := newSmallNova(t)
			n.max = "2.96" // the first version with pinned zones
			n.answer(tt.route, 200, tt.body)
			if err := tt.list(t.Context(), n.client()); err == nil || !strings.Contains(err.Error(), "came again") {
				t.Errorf("%s: %v", tt.what, err)
			}
		}
	})
}
