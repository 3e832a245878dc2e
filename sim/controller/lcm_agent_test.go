package controller

import (
	"testing"
	"time"
)

func TestTheSeedDecidesHowLongAnItemTakes(t *testing.T) {
	differ := 0
	for _, item := range stateItems {
		for _, machine := range []string{"cmp-01", "cmp-02"} {
			one, again, other := item.takes(1, machine, time.Hour), item.takes(1, machine, time.Hour), item.takes(2, machine, time.Hour)
			if one != again {
				t.Errorf("%s on %s takes %s and %s with the same seed", item.name, machine, one, again)
			}
			if one != other {
				differ++
			}
			if want := time.Duration(item.share * float64(time.Hour)); one < want*79/100 || one > want*121/100 {
				t.Errorf("%s on %s takes %s, more than a fifth from %s", item.name, machine, one, want)
			}
		}
	}
	if differ == 0 {
		t.Error("another seed changes nothing")
	}
}

func TestStateNamesAreCutFromTheLeft(t *testing.T) {
	long := "kaas-node-00000000-1111-2222-3333-444444444444-and-some-more-letters"
	if got := stateName("cd-", "Cmp-01"); got != "cd-cmp-01" {
		t.Errorf("got %q", got)
	}
	got := stateName("cd-", long)
	if len(got) != 63 || got[:3] != "cd-" || got[3:] != long[len(long)-60:] {
		t.Errorf("got %q of %d characters", got, len(got))
	}
}
