package record

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// Whatever a name or a text is, it is text in the page, and all of it can be read: no element, no attribute and no style comes from it.
func TestNoTextBecomesMarkup(t *testing.T) {
	const hostile = `"'><script>alert(1)</script><i onclick=x style="a">&amp;&lt;` + "`"
	elements := strings.Fields("html head meta title style body h1 h2 h3 p ul ol li em code span i br svg line text rect div " +
		"table tr th td details summary pre")
	attributes := strings.Fields("lang charset name content class style viewBox role aria-label x y x1 x2 y1 y2 dy width height rx " +
		"transform text-anchor title")
	for seed := range uint64(40) {
		draw := rand.New(rand.NewPCG(seed, 1))
		a := &Account{}
		told := 0
		fill(draw, reflect.ValueOf(a).Elem(), func() string { told++; return fmt.Sprint(hostile, told) })
		var out strings.Builder
		if err := HTML(&out, a, time.UTC); err != nil {
			t.Fatal(err)
		}
		read := xml.NewDecoder(strings.NewReader(strings.TrimPrefix(out.String(), "<!DOCTYPE html>\n")))
		read.Strict, read.AutoClose, read.Entity = false, []string{"meta", "br"}, xml.HTMLEntity
		whole := 0
		for {
			token, err := read.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			switch token := token.(type) {
			case xml.StartElement:
				if !slices.Contains(elements, token.Name.Local) {
					t.Fatalf("seed %d: there is an element <%s>", seed, token.Name.Local)
				}
				for _, one := range token.Attr {
					if !slices.Contains(attributes, one.Name.Local) {
						t.Fatalf("seed %d: <%s> has an attribute %s", seed, token.Name.Local, one.Name.Local)
					}
				}
			case xml.CharData:
				whole += strings.Count(string(token), hostile)
			}
		}
		if whole < 10 {
			t.Errorf("seed %d: only %d of %d texts can be read", seed, whole, told)
		}
	}
}

// fill gives every field a value, and every list some.
func fill(draw *rand.Rand, v reflect.Value, text func() string) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Date(2026, 3, 14, 1, draw.IntN(300), draw.IntN(60), 0, time.UTC)))
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && draw.IntN(8) > 0 {
				fill(draw, v.Field(i), text)
			}
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(draw, v.Elem(), text)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), draw.IntN(3), 3))
		for i := range v.Len() {
			fill(draw, v.Index(i), text)
		}
	case reflect.String:
		v.SetString(text())
	case reflect.Bool:
		v.SetBool(draw.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(draw.IntN(3)))
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(uint64(draw.IntN(3)))
	case reflect.Float64:
		v.SetFloat(float64(draw.IntN(5000)))
	}
}
