package tui

import (
	"strings"

	"lockstep/core"
	"lockstep/tui/sanitise"
)

// named replaces IDs of instances and names of nodes in a text by the names that people use.
func named(s *core.Snapshot, text string) string {
	text = sanitise.Row(text)
	var b strings.Builder
	for len(text) > 0 {
		n := strings.IndexFunc(text, func(r rune) bool { return !wordRune(r) })
		if n < 0 {
			n = len(text)
		}
		if n == 0 {
			n = strings.IndexFunc(text, wordRune)
			if n < 0 {
				n = len(text)
			}
			b.WriteString(text[:n])
		} else {
			b.WriteString(nameOf(s, text[:n]))
		}
		text = text[n:]
	}
	return b.String()
}

// wordRune tells whether r can be part of an ID or of a node's name.
func wordRune(r rune) bool {
	return r == '-' || r == '.' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
}

func nameOf(s *core.Snapshot, word string) string {
	bare := strings.TrimRight(word, ".")
	if i := s.Instances.At(bare); i != nil && i.Name != "" {
		return sanitise.Row(i.Name) + word[len(bare):]
	}
	if n := s.Nodes[bare]; n != nil {
		return sanitise.Row(n.Label()) + word[len(bare):]
	}
	return word
}
