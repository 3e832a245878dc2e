package progress

import (
	"reflect"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"lockstep/core"
)

// However often a text is asked for, and whatever came between, it means what it means when it is read.
func TestATextIsReadOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var kept texts
		reads := map[string]int{}
		read := func(text string) LockMessage {
			reads[text]++
			return readLockMessage(text)
		}
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, 40), 1, 200).Draw(t, "texts") {
			text := "Waiting servers migration is completed: ['" + strconv.Itoa(i) + "']"
			if got, want := kept.message(text, read), readLockMessage(text); !reflect.DeepEqual(got, want) {
				t.Fatalf("%q is %+v, want %+v", text, got, want)
			}
		}
		for text, n := range reads {
			if n != 1 {
				t.Errorf("%q was read %d times", text, n)
			}
		}
	})
}

// What is kept is bounded, in number and in size, and what is asked for all the time stays.
func TestTheTextsKeptAreBounded(t *testing.T) {
	var kept texts
	reads := 0
	read := func(text string) LockMessage {
		reads++
		return LockMessage{Raw: text}
	}
	for i := range 3 * mostTextsRead {
		kept.message(strconv.Itoa(i), read)
		kept.message("asked for all the time", read)
	}
	if want := 3*mostTextsRead + 1; reads != want {
		t.Errorf("%d texts were read, want %d", reads, want)
	}
	if n := len(kept.newer) + len(kept.old); n > 2*mostTextsRead {
		t.Errorf("%d texts are kept, want at most %d", n, 2*mostTextsRead)
	}
	for i := range mostTextsRead { // long ones
		kept.message(strings.Repeat("x", longestTextKept-10)+strconv.Itoa(i), read)
		if most := 2 * (mostBytesRead + longestTextKept + 1024); bytesKept(&kept) > most {
			t.Fatalf("%d bytes are kept after %d long texts, want at most %d", bytesKept(&kept), i, most)
		}
	}
	long := strings.Repeat("x", longestTextKept+1)
	kept.message(long, read)
	if _, found := kept.newer[long]; found {
		t.Error("a text of more than 4 KiB is kept")
	}
}

func bytesKept(t *texts) (n int) {
	for _, kept := range []map[string]LockMessage{t.newer, t.old} {
		for text, m := range kept {
			n += bytesOf(text, m)
		}
	}
	return n
}

func BenchmarkReadLockMessage(b *testing.B) {
	l := core.WorkloadLock{Message: "Some services are not OK during NodeMaintenanceRequest: {'compute': True, 'neutron': False}"}
	b.ReportAllocs()
	for b.Loop() {
		ReadLockMessage(l.Message)
	}
}
