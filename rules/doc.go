// Package rules has the tests of the sources: which room of the house may import which, who may write, how a file looks. They have a
// folder of their own, as a test beside main.go would be linked with the whole program. Each goes to the project's root itself: go test
// has to know what it reads there, and looks for it only from where a test has gone.
package rules
