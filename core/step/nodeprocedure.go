package step

import (
	"lockstep/core/wording"
)

// Sentences are texts, each as a sentence of its own.
func Sentences(texts []string) []string {
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = wording.Sentence(text)
	}
	return out
}
