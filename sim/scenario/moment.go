package scenario

import (
	"encoding/json"
	"fmt"
	"time"
)

// Moment is a time in RFC 3339 format, to the second and in UTC, for example 2026-11-21T19:30:00Z.
type Moment time.Time

// UnmarshalJSON reads the text.
func (m *Moment) UnmarshalJSON(raw []byte) error {
	var written string
	if err := json.Unmarshal(raw, &written); err != nil {
		return fmt.Errorf("a time is a text such as 2026-11-21T19:30:00Z, not %s", raw)
	}
	t, err := time.Parse(time.RFC3339, written)
	if err != nil {
		return fmt.Errorf("time %q: want something such as 2026-11-21T19:30:00Z", written)
	}
	*m = Moment(t.UTC())
	return nil
}

// MarshalJSON writes the text.
func (m Moment) MarshalJSON() ([]byte, error) { return json.Marshal(m.String()) }

// String is the text.
func (m Moment) String() string { return m.Of().Format(time.RFC3339) }

// Of is the time as a time.Time in UTC.
func (m Moment) Of() time.Time { return time.Time(m).UTC() }

// IsZero tells whether the time is not set.
func (m Moment) IsZero() bool { return time.Time(m).IsZero() }

// Ago is the time from a moment to the look; 0 if the moment is zero or later.
func (s *Scenario) Ago(m Moment) Duration {
	if s.Found == nil || m.IsZero() {
		return 0
	}
	return Duration(max(s.Found.At.Of().Sub(m.Of()), 0))
}
