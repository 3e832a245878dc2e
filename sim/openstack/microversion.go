package openstack

import (
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// microversion is a version of the compute API.
type microversion struct{ major, minor int }

var (
	oldestMicroversion = microversion{2, 1}
	newestMicroversion = microversion{2, 93} // Zed's
)

func (v microversion) String() string { return fmt.Sprintf("%d.%d", v.major, v.minor) }

// atLeast tells whether v is 2.minor or newer.
func (v microversion) atLeast(minor int) bool { return v.minor >= minor }

var microversionForm = regexp.MustCompile(`^([1-9]\d{0,8})\.(0|[1-9]\d{0,8})$`)

func parseMicroversion(s string) (microversion, error) {
	m := microversionForm.FindStringSubmatch(s)
	if m == nil {
		return microversion{}, fmt.Errorf("%q is not of the form MajorNum.MinorNum", s)
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	return microversion{major, minor}, nil
}

const (
	versionHeader       = "OpenStack-API-Version"
	legacyVersionHeader = "X-OpenStack-Nova-API-Version"
)

// requestedMicroversion is the microversion in the headers: the new header first, then Nova's old one; "" if there is
// neither.
func requestedMicroversion(h http.Header) string {
	for _, part := range strings.Split(h.Get(versionHeader), ",") {
		if name, v, ok := strings.Cut(strings.TrimSpace(part), " "); ok && strings.EqualFold(name, "compute") {
			return strings.TrimSpace(v)
		}
	}
	return strings.TrimSpace(h.Get(legacyVersionHeader))
}

// negotiate returns the microversion for a request, or the refusal.
func (c *Cloud) negotiate(h http.Header) (microversion, *reply) {
	asked := requestedMicroversion(h)
	switch asked {
	case "":
		return oldestMicroversion, nil
	case "latest":
		return c.maxMV, nil
	}
	v, err := parseMicroversion(asked)
	if err != nil {
		r := badRequest("API Version String %s is of invalid format. Must be of format MajorNum.MinorNum.", asked)
		return oldestMicroversion, &r
	}
	if v.major != 2 || v.minor < oldestMicroversion.minor || v.minor > c.maxMV.minor {
		r := novaError(http.StatusNotAcceptable, fmt.Sprintf("Version %s is not supported by the API. Minimum is %s and maximum is %s.",
			v, oldestMicroversion, c.maxMV))
		return v, &r
	}
	return v, nil
}

func setVersionHeaders(h http.Header, v microversion) {
	h.Set(versionHeader, "compute "+v.String())
	h.Set(legacyVersionHeader, v.String())
	h.Add("Vary", versionHeader)
	h.Add("Vary", legacyVersionHeader)
}
