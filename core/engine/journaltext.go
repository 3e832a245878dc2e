package engine

import (
	"encoding/json"
	"fmt"

	"lockstep/core"
	"lockstep/core/wording"
)

// encodeRecord returns a Record's line, with its newline.
func encodeRecord(r Record) ([]byte, error) {
	if why := unkept(r.Change); why != "" {
		r.Text = wording.TextOf(r.Text, "the value of "+wording.OneLine(r.Change.Key, 200)+why)
		r.Change = nil
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("encode a journal record: %w", err)
	}
	return encodeText(raw), nil
}

// encodeText is a line of a journal with its newline: without secrets, texts cut to what a record may have.
func encodeText(line []byte) []byte {
	return append(core.PlainJSON(core.RedactJSON(line), wording.MaxRecordText), '\n')
}

// unkept is why a record keeps nothing of a change; empty if it does. A value that was cut, or in which something was hidden, must never
// be offered back.
func unkept(c *core.AnnotationChange) string {
	switch {
	case c == nil:
		return ""
	case tooLong(c.Old) || tooLong(c.New):
		return " is too long to be kept: it is not offered back"
	case redacted(c.Old) || redacted(c.New):
		return " may be a secret, and is not kept: it is not offered back"
	}
	return ""
}

func tooLong(s *string) bool { return s != nil && len(*s) > wording.MaxRecordText }

func redacted(s *string) bool { return s != nil && core.Redact(*s) != *s }
