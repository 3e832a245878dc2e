package core

import (
	"time"
)

// Bookkeeping is what the OpenStack controller has noted on a request or a lock about its own work, read when the object arrived
// (docs/mosk.md#bookkeeping). The zero value says that nothing is noted.
type Bookkeeping struct {
	Handled bool // a controller finished with the object as it then was
	Marked  bool // the object bears such notes, of any controller

	Change, Delete *Tries // of the handler of creation and change, and of that of deletion; nil when nothing is noted
}

// Tries is what is noted about a handler that failed.
type Tries struct {
	Purpose string    // create, update, resume or delete, as written
	Failed  int       // how often it has failed
	Words   string    // the last failure, also when no lock shows it; one line of at most MaxWords bytes
	Started time.Time // when it was tried first
	Next    time.Time // when it is tried again; in the past: it runs now; zero when not known
	GaveUp  bool      // it is not tried again
}

// MaxWords is how much of a failure's text is kept, in bytes. Longer texts are on a lock as well.
const MaxWords = 300
