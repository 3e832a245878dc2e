package tui

import "testing"

func TestTextsSpeakTheNamesThatPeopleUse(t *testing.T) {
	s := world()
	for _, c := range []struct{ in, want string }{
		{"runs on kaas-node-cmp09.", "runs on cmp-09."},
		{"['" + instanceID(2) + "', '" + instanceID(3) + "']", "['db-2', 'batch-17']"},
		{"nothing known: kaas-node-cmp099 " + instanceID(2)[:35], "nothing known: kaas-node-cmp099 " + instanceID(2)[:35]},
		{"größer als kaas-node-cmp01", "größer als cmp-01"},
		{"", ""},
	} {
		if got := named(s, c.in); got != c.want {
			t.Errorf("%q became %q, want %q", c.in, got, c.want)
		}
	}
}
