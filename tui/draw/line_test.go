package draw

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"lockstep/themes"
)

// Spans are made in one file only, so that no text can bypass Text. Other packages cannot make one: its fields are not exported.
func TestSpansAreMadeInOnePlace(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f == "line.go" || strings.HasSuffix(f, "_test.go") {
			continue
		}
		src, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(src), "Span{") {
			t.Errorf("%s makes a span by itself", f)
		}
	}
}

func TestNumbersStandOnTheRight(t *testing.T) {
	if got := Plain("7").Fit(4, true).Text(); got != "   7" {
		t.Errorf("right: %q", got)
	}
	if got := Plain("abcdef").Fit(4, false).Text(); got != "abc…" {
		t.Errorf("cut: %q", got)
	}
	long := append(One(themes.Dim, "abc"), Text(themes.Bad, "defgh"))
	if got := long.Cut(5).Text(); got != "abcd…" {
		t.Errorf("cut across two looks: %q", got)
	}
}

// A wide character that has no room leaves a column free: what stands behind the cell stays in its place.
func TestACutCellKeepsItsColumns(t *testing.T) {
	wide := strings.Repeat("日", 10)
	for w := 1; w < 20; w++ {
		for _, right := range []bool{false, true} {
			if got := Plain(wide).Fit(w, right).Width(); got != w {
				t.Errorf("in %d columns it takes %d", w, got)
			}
			if got := Plain(wide).FitOnto(One(themes.Dim, "ab"), w, right).Width(); got != w+2 {
				t.Errorf("behind two columns, in %d it takes %d", w, got)
			}
		}
	}
}

// A cut has its mark also where a look ends in the last column, unless only blanks are left out.
func TestACutHasItsMark(t *testing.T) {
	l := Line{Text(themes.Dim, "abc"), Text(themes.Bad, "def"), Text(themes.Dim, "ghi")}
	for w, want := range map[int]string{1: "…", 3: "ab…", 4: "abc…", 6: "abcde…", 8: "abcdefg…", 9: "abcdefghi"} {
		if got := l.Cut(w).Text(); got != want {
			t.Errorf("in %d columns: %q, want %q", w, got, want)
		}
	}
	if got := (Line{Text(themes.Dim, "abc"), Blank(3)}).Cut(3).Text(); got != "abc" {
		t.Errorf("before blanks: %q", got)
	}
	if got := (Line{Text(themes.Dim, "日日"), Text(themes.Bad, "x")}).Cut(4); got.Text() != "日…" || got.Width() != 3 {
		t.Errorf("a wide one: %q", got.Text())
	}
}
