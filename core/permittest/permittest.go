// Package permittest gives adapters' tests a Permit, which otherwise only the gate makes. Only tests import it.
package permittest

import (
	"testing"

	"lockstep/core/internal/permit"
)

// For is a Permit for one write of the change. It ends with the test.
func For(t testing.TB, change any) permit.Permit {
	t.Helper()
	p, end := permit.New("test", t.Name(), change)
	t.Cleanup(end)
	return p
}
