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
		if strings.Contains(string(src), "span{") {
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
