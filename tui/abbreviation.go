package tui

import (
	"strings"

	"lockstep/themes"
	"lockstep/tui/draw"
)

// abbreviations are the words that the screen shortens. The first four are kinds of objects.
var abbreviations = []struct{ short, long string }{
	{"CMR", "ClusterMaintenanceRequest: LCM asks all application controllers to prepare the cluster"},
	{"NMR", "NodeMaintenanceRequest: LCM asks them to prepare one node"},
	{"CWL", "ClusterWorkloadLock: a controller's answer for the cluster"},
	{"NWL", "NodeWorkloadLock: a controller's answer for one node"},
	{"LCM", "Container Cloud's lifecycle management: it updates Kubernetes and the hosts"},
	{"AZ", "availability zone"},
}

// shortLines say what the abbreviations stand for.
func shortLines(w int) []draw.Line {
	out := []draw.Line{draw.One(themes.Strong, "short for")}
	for _, a := range abbreviations {
		out = append(out, helpRow(draw.One(themes.Key, a.short), themes.Text, a.long, w)...)
	}
	return out
}

// shortFor says what the abbreviations in a text stand for: "NMR NodeMaintenanceRequest"; empty when there is none.
func shortFor(text string) string {
	words := strings.FieldsFunc(text, func(r rune) bool { return r < 'A' || r > 'Z' })
	var parts []string
	for _, a := range abbreviations[:4] {
		for _, w := range words {
			if w == a.short {
				long, _, _ := strings.Cut(a.long, ":")
				parts = append(parts, a.short+" "+long)
				break
			}
		}
	}
	return strings.Join(parts, ", ")
}
