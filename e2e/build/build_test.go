package build

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestRootIsFoundFromInsideOnly(t *testing.T) {
	root, err := Root()
	if err != nil {
		t.Fatal(err)
	}
	if want, _ := filepath.Abs(".."); root != want {
		t.Errorf("the root is %s, want %s", root, want)
	}
	t.Chdir(t.TempDir())
	if root, err := Root(); err == nil {
		t.Errorf("outside, the root is %s", root)
	}
}

func TestAProgramThatDoesNotCompileSaysWhy(t *testing.T) {
	root, empty := t.TempDir(), t.TempDir()
	if _, err := compile(t.Context(), root, empty, "broken"); err == nil || !strings.Contains(err.Error(), empty) {
		t.Errorf("the error is %v", err)
	}
}
