package openstack

import (
	"fmt"
	"net/http"
	"strings"
)

// faultNames are the keys of Nova's errors.
var faultNames = map[int]string{
	400: "badRequest", 401: "unauthorized", 403: "forbidden", 404: "itemNotFound", 405: "badMethod",
	409: "conflictingRequest", 413: "overLimit", 415: "badMediaType", 429: "overLimit", 501: "notImplemented",
	503: "serviceUnavailable",
}

// novaError is an error in Nova's form: {"conflictingRequest": {"code": 409, "message": "…"}}.
func novaError(status int, message string) reply {
	name := faultNames[status]
	if name == "" {
		name = "computeFault"
	}
	return reply{status: status, body: object{name: object{"code": status, "message": message}}}
}

func badRequest(format string, args ...any) reply {
	return novaError(http.StatusBadRequest, fmt.Sprintf(format, args...))
}

func conflict(format string, args ...any) reply {
	return novaError(http.StatusConflict, fmt.Sprintf(format, args...))
}

func missing(format string, args ...any) reply {
	return novaError(http.StatusNotFound, fmt.Sprintf(format, args...))
}

// errorOf is an error in the form of the service.
func errorOf(kind serviceKind, status int, message string) reply {
	title := http.StatusText(status)
	switch kind {
	case nova, cinder:
		return novaError(status, message)
	case neutron:
		return reply{status: status, body: object{"NeutronError": object{"type": "HTTP" + strings.ReplaceAll(title, " ", ""), "message": message,
			"detail": ""}}}
	case placement:
		return reply{status: status,
			body: object{"errors": []object{{"status": status, "title": title, "detail": message, "code": "placement.undefined_code"}}}}
	default:
		return reply{status: status, body: object{"error": object{"code": status, "title": title, "message": message}}}
	}
}

func notFound(kind serviceKind) reply {
	return errorOf(kind, http.StatusNotFound, "The resource could not be found.")
}

// webobError is an error in the form of the web framework of Nova and Glance.
func webobError(status int, message string) reply {
	return reply{status: status, body: object{"message": message + "<br /><br />\n\n\n",
		"code":  fmt.Sprintf("%d %s", status, http.StatusText(status)),
		"title": http.StatusText(status)}}
}

// unknownAddress is a service's answer for an unknown address.
func unknownAddress(kind serviceKind) reply {
	switch kind {
	case nova, glance:
		return webobError(http.StatusNotFound, "The resource could not be found.")
	}
	return notFound(kind)
}

// forbidden is the refusal of a policy rule, in the service's own words.
func forbidden(kind serviceKind, rule string) reply {
	switch kind {
	case keystone:
		return errorOf(kind, http.StatusForbidden, "You are not authorized to perform the requested action: "+rule+".")
	case neutron:
		return reply{status: http.StatusForbidden, body: object{"NeutronError": object{
			"type": "PolicyNotAuthorized", "message": fmt.Sprintf("rule:%s is disallowed by policy", rule), "detail": ""}}}
	case placement:
		return errorOf(kind, http.StatusForbidden, "Access was denied to this resource.")
	}
	return novaError(http.StatusForbidden, fmt.Sprintf("Policy doesn't allow %s to be performed.", rule))
}

const needsAuthentication = "The request you have made requires authentication."

// unauthorized is the answer of Keystone, and of the token filter in front of the other services, without a valid
// token.
func unauthorized(kind serviceKind, identity string) reply {
	r := errorOf(keystone, http.StatusUnauthorized, needsAuthentication)
	if kind != keystone {
		return r.with("Www-Authenticate", "Keystone uri=\""+identity+"/v3\"")
	}
	return r.with("Www-Authenticate", "Keystone uri=\""+identity+"/v3\"").with("Vary", "X-Auth-Token")
}
