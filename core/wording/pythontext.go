package wording

import (
	"regexp"
	"slices"
	"strings"
)

// Rockoon puts Python's own spelling of lists and dicts into its texts. They are read leniently: a text that is cut
// off or misspelled yields less, never an error.

// MaxListed is how many entries of a list are taken.
const MaxListed = 1000

var (
	quoted     = regexp.MustCompile(`'([^'\n]{1,200})'|"([^"\n]{1,200})"`)
	quotedKey  = regexp.MustCompile(`['"]([^'"\n]{1,200})['"]\s*:`)
	falseValue = regexp.MustCompile(`['"]([^'"\n]{1,200})['"]\s*:\s*False\b`)
	uuid       = regexp.MustCompile(`\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b`)
)

// PythonList is the entries of the first list in text: "['a', 'b']". A list without an end goes to the end of the text.
// A list without quotes yields its UUIDs.
func PythonList(text string) []string {
	_, list, ok := strings.Cut(text, "[")
	if !ok {
		return nil
	}
	list, _, _ = strings.Cut(list, "]")
	var out []string
	for _, g := range quoted.FindAllStringSubmatch(list, MaxListed) {
		out = append(out, g[1]+g[2])
	}
	if len(out) == 0 {
		out = uuid.FindAllString(list, MaxListed)
	}
	return out
}

// PythonKeys is the keys of the dict in text: "{'id': 'ACTIVE'}"; the text's UUIDs when it has no dict.
func PythonKeys(text string) []string {
	var out []string
	for _, g := range quotedKey.FindAllStringSubmatch(text, MaxListed) {
		out = append(out, g[1])
	}
	if len(out) == 0 {
		out = uuid.FindAllString(text, MaxListed)
	}
	return out
}

// PythonFalse is the keys of the dict in text whose value is False, sorted.
func PythonFalse(text string) []string {
	var out []string
	for _, g := range falseValue.FindAllStringSubmatch(text, MaxListed) {
		out = append(out, g[1])
	}
	slices.Sort(out)
	return slices.Compact(out)
}
