package scenario

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"
)

// ending is the last line of a generated file: without it, a file cut off between two lines would pass as a smaller
// cloud.
const ending = "..."

// maxSize is larger than the inventory of any cloud: one with 100,000 instances has some 30 MiB.
const maxSize = 64 << 20

// searched is how much of a file is searched to recognise it.
const searched = 1 << 20

const wanted = "; want a scenario, or what `lockstep snapshot -o FILE` writes"

// topLevel is a field of the document itself, in YAML or as the first one in JSON; all others are indented.
var topLevel = regexp.MustCompile(`(?m)^(?:\{\s*)?["']?([A-Za-z][\w.-]*)["']?\s*:(?:\s|$)[ \t]*["']?([^\s"',}]*)`)

// recognise says what a file is if it is not a scenario, if possible without parsing it as YAML, which is slow for a
// large file.
func recognise(raw []byte) error {
	if len(raw) > maxSize {
		return fmt.Errorf("the file has more than %d MiB%s", maxSize>>20, wanted)
	}
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	text := bytes.TrimSpace(raw)
	switch {
	case len(text) == 0:
		return errors.New("the file is empty" + wanted)
	case bytes.IndexByte(raw, 0) >= 0 || !utf8.Valid(raw):
		return errors.New("the file is not text" + wanted)
	}
	known := fieldIndex(reflect.TypeFor[Scenario]())
	top, line := map[string]string{}, map[string]int{}
	ours := false
	for _, at := range topLevel.FindAllSubmatchIndex(raw[:min(len(raw), searched)], 1000) {
		name := string(raw[at[2]:at[3]])
		if _, twice := top[name]; !twice {
			top[name], line[name] = string(raw[at[4]:at[5]]), 1+bytes.Count(raw[:at[2]], []byte("\n"))
		}
		ours = ours || known[name] != nil
	}
	_, isObject := top["apiVersion"]
	_, isClouds := top["clouds"]
	switch kind := top["kind"]; {
	case isObject && kind == "Config":
		return errors.New("the file is a kubeconfig" + wanted)
	case isObject || kind != "":
		return fmt.Errorf("the file is a Kubernetes manifest (%s)%s", bytes.TrimSpace([]byte(kind+" "+top["apiVersion"])), wanted)
	case isClouds:
		return errors.New("the file is a clouds.yaml" + wanted)
	case !ours:
		number, first := firstLine(raw)
		return Problem{Line: number, Text: fmt.Sprintf("%q is not a field of a scenario%s", first, wanted)}
	}
	if format := top["format"]; format != "" && format != strconv.Itoa(Format) {
		return Problem{Line: line["format"], Text: wrongFormat(format)}
	}
	if bytes.Contains(raw, []byte("\nfound:")) && !bytes.HasSuffix(text, []byte("\n"+ending)) {
		return fmt.Errorf("the file was cut off: its last line is not %q", ending)
	}
	return nil
}

// wrongFormat says what is wrong with a file's format; newer formats cannot be read.
func wrongFormat(format string) string {
	if n, err := strconv.Atoi(format); err != nil || n < Format {
		return fmt.Sprintf("format: is %q: want %d", format, Format)
	}
	return fmt.Sprintf("format: the file is of format %s, and this program reads formats up to %d: use the program that wrote it, or a "+
		"newer one", format, Format)
}

// firstLine is the first line of a file with content, and its number.
func firstLine(raw []byte) (int, string) {
	number := 0
	for line := range bytes.Lines(raw) {
		number++
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] == '#' || slices.Contains([]string{"---", "{", "["}, string(line)) {
			continue
		}
		const shown = 60
		if runes := []rune(string(line[:min(len(line), 4*shown)])); len(runes) > shown {
			return number, string(runes[:shown]) + "…"
		}
		return number, string(line)
	}
	return max(number, 1), string(bytes.TrimSpace(raw))
}
