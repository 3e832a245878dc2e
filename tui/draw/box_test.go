package draw

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
)

// A box over wide characters leaves each row as wide as it was, whichever half of a character its edges cut.
func TestABoxOverWideCharactersKeepsTheirRows(t *testing.T) {
	wide := strings.Repeat("日", 20)
	for _, row := range []string{wide, "x" + wide[len("日"):] + "x", "\x1b[31m" + wide + "\x1b[m"} {
		for columns := 1; columns <= 40; columns++ {
			box := strings.Repeat("#", columns)
			got := Lay([]string{box}, []string{row}, 40)[0]
			if n := ansi.StringWidth(got); n != 40 || !strings.Contains(got, box) {
				t.Errorf("a box of %d columns makes a row of %d: %q", columns, n, got)
			}
		}
	}
	if got := ansi.Strip(Lay([]string{"####"}, []string{"x" + strings.Repeat("日", 4) + "x"}, 10)[0]); got != "x日####日x" {
		t.Errorf("got %q", got)
	}
	if got := ansi.Strip(Lay([]string{"####"}, []string{strings.Repeat("日", 5)}, 10)[0]); got != "日 #### 日" {
		t.Errorf("got %q", got)
	}
}
