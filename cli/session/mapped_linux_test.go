package session

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"
)

func TestOnlyWhatCannotBeWrittenIsTakenOut(t *testing.T) {
	for _, tc := range []struct {
		line string
		want part
		ok   bool
	}{
		{"00400000-01d7b000 r-xp 00000000 fe:00 10241856                           /bin/lockstep", part{0x400000, 0x1d7b000}, true},
		{"01d7b000-035b8000 r--p 0197b000 fe:00 10241856                           /bin/lockstep", part{0x1d7b000, 0x35b8000}, true},
		{"035b8000-036cf000 rw-p 031b8000 fe:00 10241856                           /bin/lockstep", part{}, false},
		{"01d7b000-035b8000 r--s 0197b000 fe:00 10241856                           /bin/lockstep", part{}, false},
		{"01d7b000-035b8000 r--p 0197b000 fe:00 10241856                           /bin/lockstep (deleted)", part{}, false},
		{"01d7b000-035b8000 r--p 0197b000 fe:00 10241856                           /lib/libc.so", part{}, false},
		{"c000000000-c000400000 rw-p 00000000 00:00 0", part{}, false},
		{"zz-035b8000 r--p 0197b000 fe:00 10241856                           /bin/lockstep", part{}, false},
		{"", part{}, false},
	} {
		if got, ok := partOf(tc.line, "/bin/lockstep"); got != tc.want || ok != tc.ok {
			t.Errorf("%q: %x %v, want %x %v", tc.line, got, ok, tc.want, tc.ok)
		}
	}
}

func TestTheProgramGoesOnWithoutItsPages(t *testing.T) {
	before := residentFile(t)
	unmapProgram()
	after := residentFile(t)
	t.Logf("%d kB of files were resident, then %d kB", before, after)
	if after >= before {
		t.Errorf("%d kB of files are resident, %d kB were before", after, before)
	}
}

// residentFile is how much of the memory is pages of files, in kB.
func residentFile(t *testing.T) int {
	t.Helper()
	maps, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err)
	}
	defer maps.Close()
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	total, ours := 0, false
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		switch {
		case len(fields) > 1 && strings.Contains(fields[0], "-"):
			_, ours = partOf(lines.Text(), name)
		case ours && len(fields) == 3 && fields[0] == "Rss:":
			total += kilobytes(t, fields[1])
		}
	}
	return total
}

func kilobytes(t *testing.T, text string) int {
	t.Helper()
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
