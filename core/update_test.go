package core

import (
	"testing"
	"time"
)

// An update that is over has been through all its nodes, whatever their stages say without a request to compare with.
func TestDoneOfAnUpdate(t *testing.T) {
	tests := []struct {
		name  string
		given func(sc scene)
		want  int // of 7 nodes
	}{
		{"no update was ever seen", func(sc scene) {}, 0},
		{"an update begins", func(sc scene) { sc.update(time.Minute) }, 0},
		{"two are through", func(sc scene) {
			sc.update(5 * time.Hour)
			for _, node := range []string{"ctl-01", "cmp-02"} {
				sc.History.Rounds["uid-"+node] = Round{Update: "cmr", Started: ago(2 * time.Hour), Ended: ago(time.Hour)}
			}
		}, 2},
		{"the update is over", func(sc scene) {
			sc.History.Update = UpdateRecord{UID: "cmr", Started: ago(6 * time.Hour), Ended: ago(time.Hour)}
		}, 7},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sc := healthy()
			tt.given(sc)
			if u := sc.Update(); u.Done != tt.want || u.Nodes != 7 {
				t.Errorf("%d of %d nodes done, want %d of 7", u.Done, u.Nodes, tt.want)
			}
		})
	}
}
