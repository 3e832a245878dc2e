package rules

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// domain is the document that the code cites for what it knows of MOSK, by its headings: "docs/mosk.md#locks, #requests".
const domain = "docs/mosk.md"

var (
	cited  = regexp.MustCompile(`docs/mosk\.md((?:(?:, )?#[a-z0-9-]+)*)`)
	linked = regexp.MustCompile(`\]\(#([a-z0-9-]+)\)`)
	// elsewhere are documents that the domain was written from and that no reader of the repository has. Each begins with letters that
	// are quickly looked for in a long text.
	elsewhere = []*regexp.Regexp{regexp.MustCompile(`mosk-facts`), regexp.MustCompile(`seeds? (?:00[0-9]\b|documents?\b)`),
		regexp.MustCompile(`DESIGN\.md`)}
)

// anchors are the headings of the text as their links are written: lower case, with dashes, without other punctuation.
func anchors(t *testing.T, text string) map[string]bool {
	t.Helper()
	all, code := map[string]bool{}, false
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "```") {
			code = !code
		}
		level, title, found := strings.Cut(line, " ")
		if code || !found || level == "" || strings.Trim(level, "#") != "" {
			continue
		}
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case r == '-', r >= 'a' && r <= 'z', r >= '0' && r <= '9':
				return r
			}
			return -1
		}, strings.ToLower(title))
		if all[anchor] {
			t.Errorf("%s has two headings #%s", domain, anchor)
		}
		all[anchor] = true
	}
	return all
}

// brokenCitations is what is wrong with the citations in a text of the repository.
func brokenCitations(text string, anchors map[string]bool) (broken []string, number int) {
	for _, document := range elsewhere {
		for _, word := range document.FindAllString(text, -1) {
			broken = append(broken, "cites "+word+", which is not in the repository")
		}
	}
	for _, c := range cited.FindAllStringSubmatch(text, -1) {
		for _, anchor := range strings.Split(c[1], "#")[1:] {
			number++
			if anchor = strings.TrimSuffix(anchor, ", "); !anchors[anchor] {
				broken = append(broken, "cites "+domain+"#"+anchor+", which is no heading there")
			}
		}
	}
	return broken, number
}

// Whatever the code cites can be read in the repository: each citation of the domain is of a heading that exists, and names one.
func TestCitationsPointAtHeadings(t *testing.T) {
	t.Chdir("..")
	text, err := os.ReadFile(domain)
	if err != nil {
		t.Fatal(err)
	}
	headings := anchors(t, string(text))
	for _, link := range linked.FindAllStringSubmatch(string(text), -1) {
		if !headings[link[1]] {
			t.Errorf("%s links to #%s, which is no heading there", domain, link[1])
		}
	}
	total := 0
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (strings.HasPrefix(d.Name(), ".") && path != "." || d.Name() == "bin" || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() || path == "rules/citations_test.go" {
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if bytes.IndexByte(content, 0) >= 0 {
			return nil // no text
		}
		broken, number := brokenCitations(string(content), headings)
		for _, what := range broken {
			t.Errorf("%s %s", path, what)
		}
		total += number
		if strings.HasSuffix(path, ".go") {
			for _, c := range cited.FindAllStringSubmatch(string(content), -1) {
				if c[1] == "" {
					t.Errorf("%s cites %s without a heading", path, domain)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if total < 150 {
		t.Fatalf("only %d citations found: is this run from the project's root?", total)
	}
}

// The check finds what it is for.
func TestABrokenCitationIsFound(t *testing.T) {
	t.Chdir("..")
	headings := anchors(t, "# MOSK, in short\n## Locks\n```\n# a comment\n```\n### After a node is gone\n")
	for text, want := range map[string]string{
		"// (docs/mosk.md#locks)":                           "",
		"// docs/mosk.md#locks, #after-a-node-is-gone, old": "",
		"// a seed of 7, and seed: 104":                     "",
		"// docs/design.md":                                 "",
		"// (docs/mosk.md#a-comment)":                       "cites docs/mosk.md#a-comment, which is no heading there",
		"// (docs/mosk.md#locks, #lock)":                    "cites docs/mosk.md#lock, which is no heading there",
		"// (mosk" + "-facts 4.1)":                          "cites mosk" + "-facts, which is not in the repository",
		"// (see" + "d 004, step 2)":                        "cites see" + "d 004, which is not in the repository",
		"// DESIGN" + ".md, the house":                      "cites DESIGN" + ".md, which is not in the repository",
	} {
		broken, _ := brokenCitations(text, headings)
		if got := strings.Join(broken, "; "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
