package pseudonym

import (
	"io"
	"testing"

	"lockstep/core/recording"
	"lockstep/scene/live"
)

// BenchmarkRecording is `lockstep export --redact`, in bytes of a recording's text: the file has them compressed.
func BenchmarkRecording(b *testing.B) {
	path, text := live.Recording(b)
	b.SetBytes(text)
	for b.Loop() {
		rec, err := recording.Open(path)
		if err != nil {
			b.Fatal(err)
		}
		if err := Recording(b.Context(), rec, io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}
