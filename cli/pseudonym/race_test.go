//go:build race

package pseudonym

// filledRecordings is how many recordings full of names a run looks through. One goroutine does: the race detector sees nothing more in
// the later ones.
const filledRecordings = 4
