package tui

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// With --write the screen opens at once, and then says whether writing was armed.
func TestWritingIsArmedBehindTheScreen(t *testing.T) {
	for said, refused := range map[string]error{
		"writing is on: confirmed steps are carried out":             nil,
		"writing was not armed: take the lease: bob@jump02 holds it": errors.New("take the lease: bob@jump02 holds it"),
	} {
		d := drive(world(), 120, 40)
		d.fake.armErr = refused
		cmd := d.armAtOnce()
		if frame := stripped(d.shows()); !strings.Contains(frame, "asking for the operator lease") || len(d.fake.armed) != 0 {
			t.Errorf("before the answer:\n%s", frame)
		}
		d.run(cmd)
		if frame := stripped(d.shows()); !strings.Contains(frame, said) || fmt.Sprintf("%q", d.fake.armed) != `[""]` {
			t.Errorf("armed %v, and it does not say %q:\n%s", d.fake.armed, said, frame)
		}
	}
}
