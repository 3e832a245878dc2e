package core

import (
	"testing"
)

func TestWhichManagementReleaseIsNewer(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{{"2.31.0", "2.30.0", true}, {"2.30.0", "2.30.0", false}, {"2.9.0", "2.30.0", false}, {"2.30.10", "2.30.9", true},
		{"2.30.1", "2.30", true}, {"", "2.30.0", false}} {
		if got := NewerVersion(tt.a, tt.b); got != tt.want {
			t.Errorf("%q is newer than %q: %v", tt.a, tt.b, got)
		}
	}
	objects := []Object{&ManagementRelease{Meta: Meta{Name: "a"}, Version: "2.29.0"},
		&ManagementRelease{Meta: Meta{Name: "b"}, Version: "2.30.0", Active: true}, &ManagementUpgrade{Meta: Meta{Name: "odd"}, Next: "9"}}
	if m := JoinManagement(ManagementPlace{}, nil, objects...); m.Release == nil || m.Release.Version != "2.30.0" || m.Upgrade != nil {
		t.Errorf("%+v, %+v", m.Release, m.Upgrade)
	}
}
