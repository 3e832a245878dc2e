// Package wording puts words together: lists, counts, times, one line of a long text, and the quoting of a shell's and of Python's words.
// It knows nothing of MOSK.
package wording
