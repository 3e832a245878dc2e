package nova

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack/utils"

	"lockstep/core"
)

// microversion is the minor number of Nova's API 2.x; all of them have the major number 2.
type microversion int

// The microversions that Lockstep requests: always the lowest that has what is needed, so that the rest of the answer stays as on
// old clouds.
const (
	vBase             microversion = 1
	vLocked           microversion = 9  // servers: locked
	vForcedDown       microversion = 11 // services: forced_down
	vGroupProject     microversion = 13 // server groups: project_id
	vEvacuate         microversion = 14 // evacuate: Nova finds out by itself whether the storage is shared
	vDeletedActions   microversion = 21 // actions of deleted servers
	vForceComplete    microversion = 22 // force a running live migration to complete
	vProgress         microversion = 23 // os-migrations: migration_type; servers/{id}/migrations
	vAbort            microversion = 24 // abort a running live migration
	vLiveMigrate      microversion = 25 // live migration with block_migration "auto"
	vTags             microversion = 26 // servers: tags
	vHypervisorPaging microversion = 33 // hypervisors: limit and marker
	vEmbeddedFlavor   microversion = 47 // servers: flavor embedded
	vActionEvents     microversion = 51 // events of an action for everybody
	vServiceUUID      microversion = 53 // services by UUID
	vMigrationPaging  microversion = 59 // os-migrations: uuid, paging, changes-since
	vFlavorSpecs      microversion = 61 // flavors: extra_specs
	vGroupPolicy      microversion = 64 // server groups: policy
	vAbortQueued      microversion = 65 // abort a queued live migration
	vEventDetails     microversion = 84 // events of an action: the text of the failure
	vPinnedZone       microversion = 96 // servers: pinned_availability_zone
)

func (v microversion) String() string { return "2." + strconv.Itoa(int(v)) }

// supported is the range of microversions that a cloud offers.
type supported struct{ min, max microversion }

// best is the first of the preferred microversions that the cloud has. When all are too new it is the cloud's newest.
func (s supported) best(preferred ...microversion) microversion {
	for _, v := range preferred {
		if v <= s.max {
			return max(v, s.min)
		}
	}
	return s.max
}

func (s supported) has(v microversion) bool { return v <= s.max }

// require refuses a feature that the cloud is too old for.
func (s supported) require(call string, v microversion) error {
	if s.has(v) {
		return nil
	}
	return &core.APIError{
		Kind: core.ErrUnsupported, Server: core.ServerOpenStack, Call: call,
		Message: fmt.Sprintf("needs %s, this cloud has %s", v, s.max),
		Remedy:  "use another way; this one needs a newer Nova",
	}
}

// parseMicroversion reads "2.93"; an empty text is the API without microversions, which is 2.1.
func parseMicroversion(text string) (microversion, bool) {
	if text == "" {
		return vBase, true
	}
	major, minor, ok := strings.Cut(text, ".")
	n, err := strconv.Atoi(minor)
	if !ok || major != "2" || err != nil || n < 0 {
		return 0, false
	}
	return microversion(n), true
}

// at is a copy of the service client that asks for the microversion.
func at(sc *gophercloud.ServiceClient, v microversion) *gophercloud.ServiceClient {
	c := *sc
	c.Microversion = v.String()
	return &c
}

// versionDocument is what Nova answers at the root of its API: one version, or all of them.
type versionDocument struct {
	Version  *apiVersion  `json:"version"`
	Versions []apiVersion `json:"versions"`
}

type apiVersion struct {
	ID  string `json:"id"`
	Max string `json:"version"`
	Min string `json:"min_version"`
}

func (d *versionDocument) check() error {
	if d.Version == nil && len(d.Versions) == 0 {
		return errShape("a version document")
	}
	return nil
}

// discoverCompute completes the catalog's endpoint of Nova to one of API 2.1, and asks it for its microversions.
func (c *Client) discoverCompute(ctx context.Context, sc *gophercloud.ServiceClient) (supported, error) {
	const call = "ask Nova for its API versions"
	root, err := utils.BaseVersionedEndpoint(sc.Endpoint)
	if err != nil {
		return supported{}, c.fail(action{call: call}, err)
	}
	if base, err := utils.BaseEndpoint(sc.Endpoint); err == nil && strings.Trim(base, "/") == strings.Trim(root, "/") {
		root = strings.TrimSuffix(base, "/") + "/v2.1/" // the catalog has an unversioned endpoint
		sc.Endpoint = root
	}
	var doc versionDocument
	err = c.get(ctx, sc, strings.TrimSuffix(root, "/")+"/", &doc, http.StatusOK, http.StatusMultipleChoices)
	if err != nil {
		return supported{}, c.fail(action{call: call}, err)
	}
	found := doc.Version
	for i := range doc.Versions {
		if found == nil || doc.Versions[i].ID == "v2.1" {
			found = &doc.Versions[i]
		}
	}
	low, okLow := parseMicroversion(found.Min)
	high, okHigh := parseMicroversion(found.Max)
	if !okLow || !okHigh || high < low {
		return supported{}, c.fail(action{call: call}, errShape("a range of microversions"))
	}
	return supported{min: low, max: high}, nil
}
