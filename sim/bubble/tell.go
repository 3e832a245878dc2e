package bubble

import (
	"fmt"
	"strings"
	"testing"

	"lockstep/sim/kubeapi"
)

// told is how many writes a test that has failed tells of each server, the last ones.
const told = 150

// Tell logs the story so far of a test that has failed: what the API servers (nil: none) were told, but for the posts of kubelets and
// the comings and goings of pods.
func Tell(t *testing.T, servers ...*kubeapi.Server) {
	t.Helper()
	if !t.Failed() {
		return
	}
	for _, server := range servers {
		if server == nil {
			continue
		}
		var lines []string
		for _, r := range server.Requests() {
			if !r.Write() || r.Subresource == "status" && !strings.Contains(r.Group, ".") || r.Resource == "pods" {
				continue
			}
			agent, _, _ := strings.Cut(r.UserAgent, "/")
			lines = append(lines, fmt.Sprintf("%s %s %s %s %s %d %.300s",
				r.Time.Format("15:04:05.000"), agent, r.Verb, strings.TrimSuffix(r.Resource+"/"+r.Subresource, "/"), r.Name, r.Code, r.Body))
		}
		t.Logf("%s was told:\n%s", server.URL(), strings.Join(lines[max(0, len(lines)-told):], "\n"))
	}
}
