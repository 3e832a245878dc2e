package openstack

import (
	"fmt"
	"net/http"
	"strings"
)

// Cinder's API 3 and the range of its microversions; without a header it serves the oldest.
var (
	oldestVolumeVersion = microversion{3, 0}
	newestVolumeVersion = microversion{3, 70} // Zed's
)

// negotiateVolume returns Cinder's microversion for a request, or the refusal.
func negotiateVolume(h http.Header) (microversion, *reply) {
	asked := ""
	for _, part := range strings.Split(h.Get(versionHeader), ",") {
		if name, v, ok := strings.Cut(strings.TrimSpace(part), " "); ok && strings.EqualFold(name, "volume") {
			asked = strings.TrimSpace(v)
		}
	}
	switch asked {
	case "":
		return oldestVolumeVersion, nil
	case "latest":
		return newestVolumeVersion, nil
	}
	v, err := parseMicroversion(asked)
	if err != nil {
		r := badRequest("API Version String %s is of invalid format. Must be of format MajorNum.MinorNum.", asked)
		return oldestVolumeVersion, &r
	}
	if v.major != newestVolumeVersion.major || v.minor > newestVolumeVersion.minor {
		r := errorOf(cinder, http.StatusNotAcceptable, fmt.Sprintf("Version %s is not supported by the API. Minimum is %s and maximum is %s.",
			v, oldestVolumeVersion, newestVolumeVersion))
		return v, &r
	}
	return v, nil
}

// dispatchVolume serves an operation of Cinder's API 3.
func (k *call) dispatchVolume(rt route) reply {
	mv, refused := negotiateVolume(k.r.Header)
	k.mv = mv
	answer := func() reply {
		switch {
		case refused != nil:
			return *refused
		case rt.policy != "" && !k.token.admin():
			return forbidden(cinder, rt.policy)
		}
		return rt.do(k)
	}()
	if answer.header == nil {
		answer.header = make(http.Header)
	}
	answer.header.Set(versionHeader, "volume "+mv.String())
	answer.header.Add("Vary", versionHeader)
	return answer
}
