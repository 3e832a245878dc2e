package nova

import "strings"

// wrongTexts say what is wrong in a file, by what the parser of YAML says. The parser's own words may quote the file, and so a password: of
// what is not listed here only the line is told.
var wrongTexts = []struct{ has, says string }{
	{"mapping values are not allowed", "a colon stands where none may: a text with ': ' in it needs quotes, the line is indented " +
		"too far, or the one above it has no colon"},
	{"found a tab character", "a tab stands where blanks must"},
	{"cannot start any token", "a text begins with a character that needs quotes (@ ` %), or a tab stands where blanks must"},
	{"could not find expected ':'", "a key has no colon, or a text no second quote"},
	{"did not find expected ',' or '}'", "a comma or the closing } is missing"},
	{"did not find expected ',' or ']'", "a comma or the closing ] is missing"},
	{"did not find expected key", "the line does not fit those above it: look at its indentation, and at the quotes of the line before"},
	{"did not find expected '-' indicator", "the line does not fit into the list above it: look at its indentation"},
	{"block sequence entries are not allowed", "a list stands where none may"},
	{"unexpected end of stream", "a text has no second quote"},
	{"unexpected document indicator", "a text has no second quote"},
	{"unknown escape character", `a \ in double quotes: put the text into single quotes`},
	{"unknown anchor", "a text that begins with * needs quotes"},
	{"did not find expected alphabetic or numeric character", "a text that begins with & or * needs quotes"},
	{"tag handle", "a text that begins with ! needs quotes"},
	{"expected tag URI", "a text that begins with ! needs quotes"},
	{"already set in type", "a key stands twice"},
	{"already defined", "a key stands twice"},
	{"control characters are not allowed", "it has control characters"},
	{"UTF-8", "it is no text in UTF-8"},
}

// wrongIn says what is wrong in a file, " (line 12): a text has no second quote"; only the line where it cannot be said without what the
// file has; empty where not even that is known.
func wrongIn(err error) string {
	line, what := lineOf(err), wrongKind(err.Error())
	if what == "" {
		return line
	}
	return line + ": " + what
}

// wrongKind is what is wrong, without anything that stands in the file.
func wrongKind(text string) string {
	text, _ = strings.CutPrefix(text, "yaml: unmarshal errors:\n")
	first, _, _ := strings.Cut(text, "\n")
	if _, rest, found := strings.Cut(first, "cannot unmarshal "); found { // it quotes the value
		tag, _, _ := strings.Cut(rest, " ")
		is, must := yamlKinds[tag], ""
		if at := strings.LastIndex(rest, " into "); at >= 0 {
			must = goKind(rest[at+len(" into "):])
		}
		if is == "" || must == "" || is == must {
			return ""
		}
		return is + " stands where " + must + " must"
	}
	for _, w := range wrongTexts {
		if strings.Contains(first, w.has) {
			return w.says
		}
	}
	return ""
}

// yamlKinds are the kinds of values, by the parser's tags.
var yamlKinds = map[string]string{"!!str": "a text", "!!int": "a number", "!!float": "a number", "!!bool": "true or false",
	"!!seq": "a list", "!!map": "a group of keys", "!!timestamp": "a time"}

// goKind is the kind of value that a type of Go takes; empty where it is not known.
func goKind(name string) string {
	switch {
	case name == "string":
		return "a text"
	case name == "bool":
		return "true or false"
	case strings.HasPrefix(name, "int"):
		return "a number"
	case strings.HasPrefix(name, "[]"):
		return "a list"
	case strings.HasPrefix(name, "map["), strings.HasPrefix(name, "clouds."):
		return "a group of keys"
	}
	return ""
}
