package engine

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"lockstep/core"
	"lockstep/core/wording"
	"lockstep/sim/bubble/lane"
)

// The journal is safe to print on a terminal: no control characters, and no text in another order.
func TestJournalIsPlainToWhoPrintsIt(t *testing.T) {
	wild := "a\x1b[2Jb\u0085c\u009b31md\x7fe\u202ef\u2066g\u200eh\u2028i\u200bj\U000e0041k\ufeffl\u061cm\xffn\tö…日"
	r := Record{Kind: RecordLock, Title: wild, Node: wild, By: wild, From: wild, Commands: []string{wild},
		Basis: []core.Fact{{Name: wild, Value: wild}}, Object: &core.Ref{Name: wild}, Items: []ItemRecord{{Label: wild}}}
	line, err := encodeRecord(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range strings.TrimSuffix(string(line), "\n") {
		if core.Invisible(c) || c == utf8.RuneError {
			t.Errorf("%U stands in it as it is", c)
		}
	}
	if !strings.Contains(string(line), "ö…日") {
		t.Errorf("what is harmless is escaped: %s", line)
	}
	var back Record
	err = json.Unmarshal(line, &back)
	if err != nil || back.Commands[0] != strings.ToValidUTF8(wild, "\ufffd") || back.Object.Name != back.Title {
		t.Errorf("read back: %q, %v", back.Commands, err)
	}
}

// journalled is the line of a record of which every text is this one, and what is read back.
func journalled(t *testing.T, text string) (line []byte, back Record) {
	t.Helper()
	var r Record
	fillStrings(reflect.ValueOf(&r).Elem(), text)
	r.Change = &core.AnnotationChange{Node: "n", Key: "k", Old: &text}
	line, err := encodeRecord(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(line, &back); err != nil {
		t.Fatal(err)
	}
	return line, back
}

// No string of a record is endless, whatever its field.
func TestJournalCutsEveryString(t *testing.T) {
	lane.Single(t)
	long := strings.Repeat("ä\u0085\n", 10000)
	_, back := journalled(t, long)
	n := eachString(reflect.ValueOf(back), func(s string) {
		if len(s) > wording.MaxRecordText+20 || !strings.HasSuffix(s, " …(cut)") && len(s) > 200 {
			t.Errorf("a string of %d bytes is left: %s", len(s), s[:20])
		}
	})
	if n < 50 {
		t.Errorf("a record has %d strings", n)
	}
	if back.Change != nil {
		t.Error("a value that was cut is kept to be set back")
	}
	if short := core.PlainJSON([]byte(`{"a":"bc","d":["\"","é"]}`), 2); string(short) != `{"a":"bc","d":["\"","é"]}` {
		t.Errorf("%s", short)
	}
	if cut := core.PlainJSON([]byte(`"b\u0041cd"`), 2); string(cut) != `"b …(cut)"` {
		t.Errorf("%s", cut)
	}
}

// What stands beside the name of a secret never comes into the journal, whether the text has a URL or not. A value with one is not offered
// back: it would be written without it.
func TestNoSecretIsJournalled(t *testing.T) {
	secret := "nova failed with password=hunter2 and --token hunter2 and {\"secret\": \"hunter2\"} at https://a:hunter2@keystone"
	line, back := journalled(t, secret)
	if strings.Contains(string(line), "hunter2") || !strings.Contains(back.Title, "password="+core.Hidden) || back.Change != nil {
		t.Errorf("%s", line)
	}
}

// A line of the journal as it mostly is: times, names, a text of a lock, commands.
func BenchmarkEncodeRecord(b *testing.B) {
	at := time.Date(2026, 3, 14, 20, 0, 0, 0, time.UTC)
	r := Record{At: at, Wall: at, Kind: RecordLock, Run: "9f3a5c1d", By: "anna@jump01", Node: "kaas-node-5c1d", Label: "cmp-07",
		From: "active", To: "inactive", Text: "Waiting for instances to be moved: 3 left", Title: "the lock of openstack: inactive",
		Commands: []string{"kubectl --context mos get nodeworkloadlocks openstack-kaas-node-5c1d -o yaml"}}
	for b.Loop() {
		if _, err := encodeRecord(r); err != nil {
			b.Fatal(err)
		}
	}
}

// fillStrings sets every string below a value.
func fillStrings(v reflect.Value, s string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fillStrings(v.Elem(), s)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fillStrings(v.Index(0), s)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fillStrings(v.Field(i), s)
			}
		}
	}
}

func eachString(v reflect.Value, see func(string)) (n int) {
	switch v.Kind() {
	case reflect.String:
		see(v.String())
		return 1
	case reflect.Pointer:
		if !v.IsNil() {
			return eachString(v.Elem(), see)
		}
	case reflect.Slice:
		for i := range v.Len() {
			n += eachString(v.Index(i), see)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			n += eachString(v.Field(i), see)
		}
	}
	return n
}

// A line without an end is not a record, and takes no more memory than one record may.
func TestJournalSkipsEndlessLines(t *testing.T) {
	lane.Single(t)
	text := `{"kind":"start","text":"` + strings.Repeat("x", maxJournalLine+1<<20) + `"}` + "\n" + `{"kind":"stop"}` + "\n"
	var kinds []RecordKind
	skipped, err := readRecords(strings.NewReader(text), "", nil, func(r Record) { kinds = append(kinds, r.Kind) })
	if err != nil || skipped != 1 || len(kinds) != 1 || kinds[0] != RecordStop {
		t.Errorf("%d skipped, %v, %v", skipped, kinds, err)
	}
}
