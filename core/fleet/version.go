package fleet

import (
	"cmp"
	"regexp"
	"strconv"
	"strings"

	"lockstep/core/wording"
)

// numbered finds the number of a cluster release in either of its forms, mosk-21-0-0-25-2 and 21.0.0+25.2
// (docs/mosk.md#names-and-releases).
var numbered = regexp.MustCompile(`^(?:[a-z]+-)?(\d{1,5})[-.](\d{1,5})[-.](\d{1,5})(?:[-+.].*)?$`)

// Version is the number of a release: 21.0.0 of mosk-21-0-0-25-2 and of 21.0.0+25.2. A name in another form stays as it is.
func Version(release string) string {
	if g := numbered.FindStringSubmatch(release); g != nil {
		return strings.Join(g[1:], ".")
	}
	return wording.OneLine(release, 40)
}

// byVersion orders versions, lower ones first; what is none comes last.
func byVersion(a, b string) int {
	x, y := numbersOf(a), numbersOf(b)
	for i := range min(len(x), len(y)) {
		if c := cmp.Compare(x[i], y[i]); c != 0 {
			return c
		}
	}
	if len(x) == 0 || len(y) == 0 {
		return cmp.Or(cmp.Compare(len(y), len(x)), strings.Compare(a, b))
	}
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}

func numbersOf(version string) []int {
	var out []int
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil
		}
		out = append(out, n)
	}
	return out
}
