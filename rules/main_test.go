// Package rules has the tests of the sources: which room of the house may import which, who may write, how a file looks. They have a
// folder of their own, as a test beside main.go would be linked with the whole program.
package rules

import (
	"os"
	"testing"
)

// TestMain lets the tests find all files from the project's root.
func TestMain(m *testing.M) {
	if err := os.Chdir(".."); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
