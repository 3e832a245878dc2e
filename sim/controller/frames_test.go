package controller

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// Each event comes whole, however long it is, however little is read, and however it arrives; one that breaks off is an error.
func TestAWatchIsReadLineByLine(t *testing.T) {
	long := `{"a":"` + strings.Repeat("x", 10_000) + `"}`
	for name, tt := range map[string]struct {
		text string
		want []string
		end  error
	}{
		"nothing":               {"", nil, io.EOF},
		"two":                   {"{}\n{\"a\":\"\\n\"}\n", []string{"{}", `{"a":"\n"}`}, io.EOF},
		"a long one":            {"{}\n" + long + "\n{}\n", []string{"{}", long, "{}"}, io.EOF},
		"one that breaks off":   {"{}\n{\"a\"", []string{"{}"}, io.ErrUnexpectedEOF},
		"a long one breaks off": {long, nil, io.ErrUnexpectedEOF},
		"an empty line":         {"{}\n\n{}\n", []string{"{}", "{}"}, io.EOF},
	} {
		for way, arrives := range map[string]func(io.Reader) io.Reader{"at once": func(r io.Reader) io.Reader { return r },
			"byte by byte": iotest.OneByteReader, "with its end": iotest.DataErrReader} {
			events := lines{}.NewFrameReader(io.NopCloser(arrives(strings.NewReader(tt.text))))
			var got []string
			var err error
			for whole, piece := []byte(nil), make([]byte, 100); ; {
				var n int
				n, err = events.Read(piece)
				whole = append(whole, piece[:n]...)
				if errors.Is(err, io.ErrShortBuffer) {
					continue
				}
				if err != nil {
					break
				}
				got, whole = append(got, string(whole)), nil
			}
			if !slices.Equal(got, tt.want) || !errors.Is(err, tt.end) {
				t.Errorf("%s, %s: %d events, and %v", name, way, len(got), err)
			}
		}
	}
}
