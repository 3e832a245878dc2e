package core

import (
	"time"
)

// Bookkeeping is what the OpenStack controller has noted on a request or a lock of its own work on it, as it was read when the object
// arrived (docs/mosk.md#bookkeeping). Its zero value says that nothing is noted.
type Bookkeeping struct {
	Handled bool // a controller was through with the object, as it then was
	Marked  bool // the object bears notes of the kind, whoever's they are

	Change, Delete *Tries // of the handler of what is made or changed, and of the deletion; nil when nothing is noted of it
}

// Tries is what is noted of a handler that has failed.
type Tries struct {
	Purpose string    // create, update, resume or delete, as it stands
	Failed  int       // how often it has failed
	Words   string    // of its last failure, also where no lock says them; one line of at most MaxWords bytes
	Started time.Time // when it was tried first
	Next    time.Time // when it is tried again; in the past: it is being tried; zero when it does not say
	GaveUp  bool      // it is not tried again
}

// MaxWords is how much of a failure's words is kept, in bytes. Those that are longer stand on a lock as well.
const MaxWords = 300
