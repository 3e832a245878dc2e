//go:build !race

package pseudonym

// filledRecordings is how many recordings full of names a run looks through.
const filledRecordings = 40
