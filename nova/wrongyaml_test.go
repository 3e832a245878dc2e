package nova

import (
	"errors"
	"strings"
	"testing"

	"lockstep/core"
)

// A broken clouds.yaml says on which line what is wrong, and nothing that stands in it.
func TestABrokenCloudsYAMLSaysWhatIsWrong(t *testing.T) {
	const secret = "s3cr3t"
	for file, want := range map[string]string{
		"clouds:\n  mos:\n    auth:\n      password: " + secret + ": x\n":     "(line 4): a colon stands where none may",
		"clouds:\n  mos:\n\tauth: " + secret + "\n":                           "blanks must",
		"clouds:\n  mos:\n    auth:\n      password: @" + secret + "\n":       "needs quotes",
		"clouds:\n  mos:\n    auth: {password: " + secret + "\n  x: y\n":      "closing } is missing",
		"clouds:\n  mos:\n    auth:\n      password: '" + secret + "\n":       "a text has no second quote",
		"clouds:\n  mos:\n    auth:\n      password: \"" + secret + "\\d\"\n": "single quotes",
		"clouds:\n  mos:\n    auth:\n      password: *" + secret:              "clouds.yaml: a text that begins with * needs quotes", // no line
		"clouds:\n  mos:\n    auth:\n      password: !" + secret + "!\n":      "(line 4)",
		"clouds:\n  mos:\n    auth:\n      password: [" + secret + "]\n":      "(line 4): a list stands where a text must",
		"clouds:\n  mos:\n    auth: " + secret + "\n":                         "(line 3): a text stands where a group of keys must",
		"clouds: [" + secret + "]\n":                                          "(line 1): a list stands where a group of keys must",
		"clouds:\n  mos:\n    verify: " + secret + "\n":                       "(line 3): a text stands where true or false must",
		secret + "\n": "a text stands where a group of keys must",
		"clouds:\n  mos:\n    auth:\n      username: x\n     password: " + secret + "\n": "look at its indentation",
		"clouds:\n  mos:\n    auth:\n      password " + secret + "\n      username: x":   "the one above it has no colon",
		"clouds:\n  mos:\n    auth:\n      password: " + secret + "\x01\n":               "control characters",
		"clouds:\n  mos: {auth: {" + secret + ": 1, " + secret + ": 2}}\n":               "not a valid clouds.yaml",
	} {
		_, err := parseClouds([]byte(file), "/x/clouds.yaml")
		if err == nil {
			if !strings.Contains(file, secret+": 1") {
				t.Errorf("%q is taken as it is", file)
			}
			continue
		}
		var e *core.APIError
		if !errors.As(err, &e) {
			t.Fatal(err)
		}
		says := e.Message
		if !strings.Contains(says, want) || strings.Contains(says, secret) {
			t.Errorf("%q: it says %q, want %q", file, says, want)
		}
	}
}
