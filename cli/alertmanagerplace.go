package cli

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"lockstep/core"
)

// objectName is what names a namespace, a Service or a port.
var objectName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)

// checkAlertmanager says what is wrong with where Alertmanager is said to be: the names become part of a path.
func checkAlertmanager(p core.AlertmanagerPlace) error {
	if p.Service == "" {
		return nil
	}
	for _, one := range []struct {
		field, value string
		may          bool // be empty
	}{{"namespace", p.Namespace, false}, {"service", p.Service, false}, {"port", p.Port, true}} {
		if !objectName.MatchString(one.value) && (one.value != "" || !one.may) {
			return fmt.Errorf("%s: want the name of an object", one.field)
		}
	}
	for _, part := range strings.Split(strings.Trim(p.Path, "/"), "/") {
		if part == ".." || part == "." || strings.ContainsAny(part, "?#%\\ ") {
			return errors.New("path: want a path, such as /alertmanager")
		}
	}
	return nil
}
