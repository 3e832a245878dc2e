package core

import (
	"strings"
	"testing"
)

// Two people who are the same user of one host are told apart.
func TestOperatorsOfOneUserAreToldApart(t *testing.T) {
	root := Operator{User: "root", Host: "jump01"}
	anna, bert := root, root
	anna.From, bert.From = SSHOrigin("10.0.0.7 50022 10.0.0.1 22", ""), SSHOrigin("", "fd00::8 50022 22")
	carl := anna
	carl.Name = "Carl O'Neil"
	for o, want := range map[Operator]string{
		root:                                     "root@jump01",
		anna:                                     "root@jump01 from 10.0.0.7",
		bert:                                     "root@jump01 from fd00::8",
		carl:                                     "Carl O'Neil (root@jump01 from 10.0.0.7)",
		{}:                                       "unknown@unknown",
		{User: `CORP\anna/x`, Host: "a\x1b[2Jb"}: "CORP_anna_x@a__2Jb",
		{User: strings.Repeat("x", 500), Host: "h"}: strings.Repeat("x", MaxOperatorName) + "@h",
	} {
		if got := o.String(); got != want || strings.Contains(got, "/") {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Of sshd's variables only an address is believed.
func TestOnlyAnAddressIsAnOrigin(t *testing.T) {
	for text, want := range map[string]string{
		"":                             "",
		"10.0.0.7":                     "10.0.0.7",
		"::ffff:10.0.0.7 1 2":          "10.0.0.7",
		"fe80::1%eth0/../x 50022 22":   "fe80::1",
		"\x1b[2J 1 2":                  "",
		"anna (root@jump01) 1 10.0.0.": "",
	} {
		if got := SSHOrigin(text, ""); got != want {
			t.Errorf("%q comes from %q, want %q", text, got, want)
		}
	}
}

func TestNamesThatCannotStandInALine(t *testing.T) {
	if name, ok := OperatorName("  Jürgen K.  "); !ok || name != "Jürgen K." {
		t.Errorf("%q, %v", name, ok)
	}
	for _, bad := range []string{"a/b", "a\nb", "a (root@other)", "a\u202eb", strings.Repeat("ä", MaxOperatorName+1)} {
		if name, ok := OperatorName(bad); ok {
			t.Errorf("%q is taken as %q", bad, name)
		}
	}
}
