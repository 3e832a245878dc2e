package openstack

import (
	"testing"
	"time"
)

// Cloud is what a contract test needs to know about a cloud.
type Cloud struct {
	// CloudsYAML is the content of a clouds.yaml with two logins: Admin, with the role admin in a project, and Member, with only
	// the role member in another project.
	CloudsYAML    []byte
	Admin, Member string
	// Hosts are compute hosts in the zone nova without servers: at least two, and an even number. Every two of them are a room,
	// where one case at a time has its servers.
	Hosts []string
	// Flavor and Large are names of flavors; a host holds at most one server of Large. Image is an image's name.
	Flavor, Large, Image string
	// Steer makes the migrations of a server follow the behaviour, from the next one on.
	Steer func(server Server, b Behaviour) error
	// Compute kills the nova-compute of a host, or starts it unless it runs.
	Compute func(host string, runs bool) error
}

// Server names a server to Cloud.Steer.
type Server struct{ ID, Name string }

// Behaviour is what no API can set: how a server's migrations go. With the zero value they succeed.
type Behaviour struct {
	Endless    bool   // live migrations copy until they are ended
	FailBefore string // live migrations fail on the target before they copy anything, with this text
	FailLive   string // live migrations break off half-way; the text goes only to the host's log
	FailCold   string // cold migrations cannot begin on the source
	FailFinish string // cold migrations cannot end on the target
}

const (
	// patience is how long a case waits; only a failing case waits that long.
	patience = 10 * time.Minute
	// glance is the shortest pause between two looks. A look that takes longer is followed by a longer pause, so that cases that wait do
	// not take from a slow server what it needs to get there.
	glance = 60 * time.Millisecond
)

// testCase is a statement about OpenStack.
type testCase struct {
	name string
	test func(d *desk)
}

// chapters are the cases by topic.
var chapters = []struct {
	name  string
	cases []testCase
}{
	{"identity", identityCases},
	{"versions", versionCases},
	{"rights", rightsCases},
	{"servers", serverCases},
	{"lists", listCases},
	{"tags", tagCases},
	{"power", powerCases},
	{"shelving", shelvingCases},
	{"live migration", liveCases},
	{"live migration fails", liveFailureCases},
	{"live migration is refused", liveRefusalCases},
	{"cold migration", coldCases},
	{"evacuation", evacuationCases},
	{"compute services", serviceCases},
	{"migration records", recordCases},
	{"instance actions", actionCases},
	{"hosts", hostCases},
	{"aggregates", aggregateCases},
	{"other services", otherServiceCases},
	{"room", roomCases},
}

// Run checks a cloud against the contract. The cases run in parallel; those that need a room wait for a free one.
func Run(t *testing.T, cloud Cloud) {
	s := newSuite(t, cloud)
	for _, chapter := range chapters {
		t.Run(chapter.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range chapter.cases {
				t.Run(c.name, func(t *testing.T) {
					t.Parallel()
					c.test(&desk{T: t, suite: s, admin: s.admin, member: s.member})
				})
			}
		})
	}
}

// desk is where one case works.
type desk struct {
	*testing.T
	suite         *suite
	admin, member *login
}

// until polls until the condition holds.
func (d *desk) until(what string, there func() bool) {
	d.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		began := time.Now()
		if there() {
			return
		}
		select {
		case <-deadline.C:
			d.Fatalf("in %s it did not come to be that %s", patience, what)
		case <-time.After(max(glance, 5*time.Since(began))):
		}
	}
}
