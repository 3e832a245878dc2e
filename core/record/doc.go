// Package record makes the account of an update from the lines of a journal: what happened, for the next shift, for the customer, and for
// the next update. Every number in it is counted from lines, and names them.
package record
