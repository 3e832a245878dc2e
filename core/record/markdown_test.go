package record

import (
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"lockstep/core"
)

// The report is printed on terminals: no text in it has an effect there, and none has a secret.
func TestTheReportIsPlainToWhoPrintsIt(t *testing.T) {
	const hostile = "a\x1b]0;x\x07b\u009b2Jc\u202ed\x7f password=hunter2, password=\"hunter2\", {\"secret\": \"hunter2\"}, --token 'hunter2'"
	for seed := range uint64(40) {
		a := &Account{}
		fill(rand.New(rand.NewPCG(seed, 1)), reflect.ValueOf(a).Elem(), func() string { return hostile })
		for form, write := range map[string]func(io.Writer, *Account, *time.Location) error{"Markdown": Markdown, "HTML": HTML} {
			var out strings.Builder
			if err := write(&out, a, time.UTC); err != nil {
				t.Fatal(err)
			}
			for i, c := range out.String() {
				if c != '\n' && core.Invisible(c) {
					t.Fatalf("%s: %U stands in it as it is: %q", form, c, out.String()[max(i-40, 0):i+10])
				}
			}
			if i := strings.Index(out.String(), "hunter2"); i >= 0 {
				t.Fatalf("%s: a secret stands in it: %q", form, out.String()[max(i-80, 0):i+10])
			}
		}
	}
}
