package scenario

import "slices"

// didYouMean suggests the choice closest to a word, as the end of a sentence; empty if none is close.
func didYouMean(word string, choices []string) string {
	best, distance := "", max(2, len(word)/3)+1
	for _, choice := range slices.Sorted(slices.Values(choices)) {
		if d := edits([]rune(word), []rune(choice)); d < distance {
			best, distance = choice, d
		}
	}
	if best == "" {
		return ""
	}
	return "; did you mean " + best + "?"
}

// suggestion is a didYouMean that is only computed if there is a problem.
type suggestion struct {
	word    string
	choices []string
}

func (s suggestion) String() string { return didYouMean(s.word, s.choices) }

// edits is how many letters must be changed, added, removed or swapped with their neighbour to turn a into b.
func edits(a, b []rune) int {
	const longest = 64 // longer than any name of a field or a scenario
	if len(a) > longest || len(b) > longest {
		return longest
	}
	var before, last []int
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		before, last, row = last, row, make([]int, len(b)+1)
		row[0] = i
		for j := 1; j <= len(b); j++ {
			change := last[j-1]
			if a[i-1] != b[j-1] {
				change++
			}
			row[j] = min(change, last[j]+1, row[j-1]+1)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(b)]
}
