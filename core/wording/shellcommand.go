package wording

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

// ShellCommand is a command as an operator would type it: on one line, every word quoted where a shell needs it, so that
// a name that came from an API stays a name.
func ShellCommand(words ...string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = ShellQuote(w)
	}
	return strings.Join(quoted, " ")
}

// ShellQuote is one word for a POSIX shell. A word that cannot be shown on one line takes the $'…' form of bash, zsh and
// ksh.
func ShellQuote(word string) string {
	plain, printable := word != "", true
	for _, r := range word {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@%+,", r) {
			plain = false
		}
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			printable = false
		}
	}
	switch {
	case plain:
		return word
	case printable:
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	var b strings.Builder
	b.WriteString("$'")
	for i := range len(word) {
		switch c := word[i]; {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c >= ' ' && c <= '~':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, `\x%02x`, c)
		}
	}
	b.WriteString("'")
	return b.String()
}

// AnnotateCommand sets the annotation of a node, or removes it when value is nil.
func AnnotateCommand(node, key string, value *string) string {
	if value == nil {
		return ShellCommand("kubectl", "annotate", "node", node, key+"-")
	}
	return ShellCommand("kubectl", "annotate", "node", node, key+"="+*value, "--overwrite")
}

// JSONText is a value as JSON on one line.
func JSONText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "null" // no value used here fails
	}
	return string(b)
}
