package core

import "time"

// MessageClass is what the text of a lock's errorMessage means for the operator.
type MessageClass string

// The classes.
const (
	MessageNone       MessageClass = ""           // no text
	MessageWaiting    MessageClass = "waiting"    // the controller waits for something that comes by itself
	MessageProgress   MessageClass = "progress"   // it works
	MessageActionable MessageClass = "actionable" // it needs a person
	MessageOutage     MessageClass = "outage"     // an API is away; it retries
	MessageUnknown    MessageClass = "unknown"    // a text that the documents do not list: read it
)

// LockMessage is an errorMessage, read by the table of literals (mosk-facts 4.1).
type LockMessage struct {
	Raw       string
	ID        string       // the literal's letter in the table, "A" to "U"; empty when unknown or none
	Class     MessageClass // what it means
	Text      string       // the text without its timestamp
	At        time.Time    // its timestamp, UTC; zero when it has none
	Meaning   string       // one plain sentence
	Remedy    string       // what to do or to wait for; may be empty
	Notify    []string     // instance IDs whose owners are to be notified
	Unset     []string     // instance IDs with no action that moves them
	Instances []string     // all instance IDs named in it, those of Notify and Unset among them
	Blockers  []string     // services that block (literal G), sorted
}
