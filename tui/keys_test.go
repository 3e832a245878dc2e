package tui

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// The list of keys in the documents is generated from the catalogue.
func TestKeysInTheDocumentsAreTheCatalogues(t *testing.T) {
	var b strings.Builder
	b.WriteString("# The keys\n\nWritten from the catalogue of actions by `go test ./tui -update`. A key of an inner place wins over one " +
		"of an outer place.\n")
	for _, scope := range Scopes() {
		fmt.Fprintf(&b, "\n## %s\n\n| key | does | changes something |\n|---|---|---|\n", scope)
		for _, a := range Actions() {
			if a.Scope != scope {
				continue
			}
			writes := ""
			if a.Writes() {
				writes = "after a confirmation"
			}
			keys := "(palette)"
			if len(a.Keys) > 0 {
				keys = "`" + strings.Join(a.Keys, "` `") + "`"
			}
			fmt.Fprintf(&b, "| %s | %s | %s |\n", strings.ReplaceAll(keys, "|", "\\|"), a.Title, writes)
		}
	}
	const path = "../docs/keys.md"
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	have, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != b.String() {
		t.Errorf("%s is not the catalogue any more: run go test ./tui -run Keys -update", path)
	}
}
