package progress

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/core/wording"
	"lockstep/scene"
)

// Every text is one of docs/mosk.md#texts, with its substitutions filled in.
func TestLockMessagesOfTheDocuments(t *testing.T) {
	tests := []struct {
		text      string
		id        MessageID
		class     MessageClass
		instances []string
	}{
		{"Current maintenancerequest 21.0.0 release does not match ours 17.4.0. Skipping handling.", "A", MessageWaiting, nil},
		{"Waitinging for cwl release is 21.0.0+25.2.", "B", MessageWaiting, nil},
		{"OpenStackDeploymentStatus controller version is not updated yet.", "C", MessageWaiting, nil},
		{"Waiting osdpl status APPLIED, current state is APPLYING", "D", MessageWaiting, nil},
		{"Waiting for all OpenStack services are healthy.", "E", MessageWaiting, nil},
		{"Number of inactive NodeWorkloadLocks exceeds allowed concurrency. Deferring processing for node kaas-node-1", "F", MessageWaiting, nil},
		{"Some services blocks nmr handling {'compute': True, 'database': False}. Deferring processing for node kaas-node-1", "G", MessageWaiting,
			nil},
		{"Starting migration for " + scene.IDA, "H", MessageProgress, []string{scene.IDA}},
		{"Waiting servers migration is completed: ['" + scene.IDA + "', '" + scene.IDB + "']", "H", MessageProgress,
			[]string{scene.IDA, scene.IDB}},
		{"Got error while trying to migrate server " + scene.IDA + ": HttpException: 500", "I", MessageProgress, []string{scene.IDA}},
		{"Some servers are still present on the host.", "J", MessageActionable, nil},
		{"Some servers are still present on the host. Notify owners of the following server: ['" + scene.IDA +
			"'] Servers with unset maintenance action: ['" + scene.IDB + "']",
			"J", MessageActionable, []string{scene.IDA, scene.IDB}},
		{"Retrying migrate instances from host. Cannot execute openstack commands, error: 503", "K", MessageOutage, nil},
		{"Can not disable compute service on a host to be deleted", "L", MessageOutage, nil},
		{"Timeout waiting for compute services up on the host.", "M", MessageActionable, nil},
		{"Got error while waiting services to be UP on the host. Cannot execute openstack commands, error: x", "N", MessageOutage, nil},
		{"Can not bring node back to scheduling. Cannot execute openstack commands, error: x", "O", MessageOutage, nil},
		{"Timeout waiting for network agents on the host kaas-node-1.", "P", MessageActionable, nil},
		{"Got error while waiting for network agents. Cannot execute openstack commands, error: x.", "Q", MessageOutage, nil},
		{"Can not disable block-storage service on a host to be deleted", "R", MessageOutage, nil},
		{"Can not enable block-storage service on the host kaas-node-1.", "R", MessageActionable, nil},
		{"Some servers {'" + scene.IDA + "': 'ACTIVE'} are still present on host n. Blocking node removal unless they removed or migrated.", "S",
			MessageActionable, []string{scene.IDA}},
		{"Some volumes ['" + scene.IDA + "'] are still present on host n. Blocking node removal unless they removed or migrated.", "T",
			MessageActionable, nil},
		{"The node n is hard locked by mariadb.", "U", MessageActionable, nil},
		{"Cannot execute openstack commands, in words that no document has", "", MessageOutage, nil},
		{"Services are not healthy", "E", MessageWaiting, nil},
		{"Some servers ['" + scene.IDA +
			"'] are still present on host kaas-node-b2a55089-5b03-4698-9879-8756e2e81df5.\n  Waiting unless all of them are migrated manually or " +
			"instance_migration_mode is set to 'skip'",
			"J", MessageActionable, []string{scene.IDA}},
		{"UpdatingController", "", MessageUnknown, nil},
		{"", "", MessageNone, nil},
	}
	for _, tt := range tests {
		m := ReadLockMessage("2026-01-16 15:25:37.123456 " + tt.text)
		if m.ID != tt.id || m.Class != tt.class || !slices.Equal(m.Instances, tt.instances) {
			t.Errorf("%q: %q %q %v, want %q %q %v", tt.text, m.ID, m.Class, m.Instances, tt.id, tt.class, tt.instances)
		}
		if want := time.Date(2026, 1, 16, 15, 25, 37, 123456000, time.UTC); tt.text != "" && !m.At.Equal(want) {
			t.Errorf("%q: at %v, want %v", tt.text, m.At, want)
		}
		if m.Text != strings.TrimSpace(tt.text) && tt.text != "" {
			t.Errorf("%q: text is %q", tt.text, m.Text)
		}
		if m.ID != "" && (m.Meaning == "" || m.Class != MessageProgress && m.Remedy == "") {
			t.Errorf("%q: no meaning or no remedy", tt.text)
		}
		if bare := ReadLockMessage(tt.text); bare.ID != m.ID || !bare.At.IsZero() {
			t.Errorf("%q without its timestamp is %q at %v", tt.text, bare.ID, bare.At)
		}
	}
}

func TestWhoIsNamedByTheTextThatNeedsAPerson(t *testing.T) {
	m := ReadLockMessage("Some servers are still present on the host. Servers with unset maintenance action: ['" + scene.IDB + "', '" +
		scene.IDA + "']")
	if m.Notify != nil || !slices.Equal(m.Unset, []string{scene.IDB, scene.IDA}) {
		t.Errorf("notify %v, unset %v", m.Notify, m.Unset)
	}
	// a text that is cut off
	m = ReadLockMessage("Some servers are still present on the host. Notify owners of the following server: ['" + scene.IDA + "', '" +
		scene.IDB)
	if !slices.Equal(m.Notify, []string{scene.IDA}) || m.Unset != nil {
		t.Errorf("a list that was cut off: notify %v, unset %v", m.Notify, m.Unset)
	}
}

func TestServicesThatBlockAreThoseThatAreFalse(t *testing.T) {
	m := ReadLockMessage("Some services blocks nmr handling {'redis': False, 'compute': True, 'database': False}. Deferring processing for " +
		"node n")
	if !slices.Equal(m.Blockers, []string{"database", "redis"}) {
		t.Errorf("%v", m.Blockers)
	}
}

func FuzzReadLockMessage(f *testing.F) {
	f.Add("2026-01-16 15:25:37.123456 Some servers are still present on the host. Notify owners of the following server: ['a','b']")
	f.Add("9999-99-99 99:99:99 x")
	f.Add("Some services blocks nmr handling {'compute': False")
	f.Add("Some servers {'x" + strings.Repeat("['", 100_000))
	f.Add("\xff\xfe\x1b[31m\x00")
	f.Add(strings.Repeat("'", 2<<20))
	f.Fuzz(func(t *testing.T, text string) {
		m := ReadLockMessage(text)
		if m.Raw != text {
			t.Error("the text as it stood is lost")
		}
		if (m.Class == MessageNone) != (m.Text == "") {
			t.Errorf("class %q of the text %.40q", m.Class, m.Text)
		}
		if len(m.Text) > maxMessageRead+20 || len(m.Instances) > wording.MaxListed+1 {
			t.Errorf("%d bytes, %d instances", len(m.Text), len(m.Instances))
		}
		for _, id := range slices.Concat(m.Notify, m.Unset) {
			if !slices.Contains(m.Instances, id) {
				t.Errorf("%q is not among all instances", id)
			}
		}
	})
}

// The literal comparison that replaces a pattern finds what the pattern finds.
func TestALiteralMatchesWhatItsPatternMatches(t *testing.T) {
	texts := []string{"", "Waiting", "nothing of the kind", "Got error. Cannot execute openstack commands"}
	for _, l := range Literals {
		texts = append(texts, l.begin, l.begin+" and more", " "+l.begin, strings.ToLower(l.begin), l.begin[:len(l.begin)/2])
	}
	for _, l := range Literals {
		for _, text := range texts {
			if got, want := l.match(text), l.Pattern.FindStringSubmatch(text); !slices.Equal(got, want) {
				t.Errorf("%s of %q: %q, not %q", l.Pattern, text, got, want)
			}
		}
	}
}
