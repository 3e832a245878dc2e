package engine

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// With the race detector this package has fewer random draws (race_test.go). So whatever has any says that it is to be played without it,
// too.
func TestWhatIsDrawnIsPlayedWithoutTheRaceDetector(t *testing.T) {
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	draws := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, function := range strings.Split(string(text), "\nfunc ")[1:] {
			if !strings.Contains(function, "rapid"+".Check(") {
				continue
			}
			draws++
			if !strings.Contains(function, "lane.Fewer(") {
				name, _, _ := strings.Cut(function, "(")
				t.Errorf("%s: %s does not call lane.Fewer", file, name)
			}
		}
	}
	if draws == 0 {
		t.Error("nothing is drawn")
	}
}
