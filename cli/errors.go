package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"

	"lockstep/core"
)

// printError prints what failed, why, and what to do.
func printError(w io.Writer, err error) {
	var api *core.APIError
	if !errors.As(err, &api) {
		lines := strings.Split(strings.TrimSpace(err.Error()), "\n")
		fmt.Fprintf(w, "lockstep: %s\n", oneLine(lines[0]))
		for i, line := range lines[1:] {
			if i == maxLines {
				fmt.Fprintf(w, "  and %d more\n", len(lines)-1-i)
				break
			}
			fmt.Fprintf(w, "  %s\n", oneLine(line))
		}
		return
	}
	fmt.Fprintf(w, "lockstep: %s: %s\n", oneLine(api.Call), api.Kind)
	if api.Message != "" {
		fmt.Fprintf(w, "  %s\n", oneLine(api.Message))
	}
	if api.Remedy != "" {
		fmt.Fprintf(w, "  %s\n", oneLine(api.Remedy))
	}
}

// maxLines is how many further lines of an error are printed: a broken file may have thousands of mistakes.
const maxLines = 20

// maxLine is how much of one text is printed, in runes.
const maxLine = 2000

// oneLine makes a text from a server fit for a terminal: one line of limited length, without control or formatting characters and
// without passwords in URLs.
func oneLine(s string) string {
	s = core.Redact(s)
	var b strings.Builder
	n := 0
	space := false
	for _, r := range s {
		if n == maxLine {
			b.WriteString(" …(cut)")
			break
		}
		switch {
		case r == '\n' || r == '\t' || r == '\r' || unicode.IsSpace(r):
			if !space {
				b.WriteByte(' ')
				n++
			}
			space = true
			continue
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar:
			continue
		}
		space = false
		b.WriteRune(r)
		n++
	}
	return strings.TrimSpace(b.String())
}
