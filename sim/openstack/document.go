package openstack

import (
	"strconv"
	"time"
)

// verbatim is JSON as it is sent.
type verbatim []byte

// document writes a JSON object field by field, for answers with thousands of them. Fields are written in the order of their names, as
// those of an object are.
type document []byte

// open begins an object, as the value of a field or, without a name, by itself.
func (d *document) open(name string) {
	if name != "" {
		d.name(name)
	}
	*d = append(*d, '{')
}

func (d *document) close() { *d = append(*d, '}') }

// name begins a field.
func (d *document) name(name string) {
	if b := *d; b[len(b)-1] != '{' {
		*d = append(*d, ',')
	}
	d.string(name)
	*d = append(*d, ':')
}

func (d *document) string(text string) {
	if plain(text) {
		*d = append(*d, '"')
		*d = append(*d, text...)
		*d = append(*d, '"')
		return
	}
	*d, _ = appendJSON(*d, text) // a text is never refused
}

func (d *document) text(name, value string) {
	d.name(name)
	d.string(value)
}

// textOrNull is null where the text is empty.
func (d *document) textOrNull(name, value string) {
	if value == "" {
		d.null(name)
		return
	}
	d.text(name, value)
}

func (d *document) null(name string) { d.raw(name, "null") }

// stamp is null for the zero time.
func (d *document) stamp(name string, t time.Time) {
	text, _ := stamp(t).(string)
	d.textOrNull(name, text)
}

func (d *document) number(name string, n int) {
	d.name(name)
	*d = strconv.AppendInt(*d, int64(n), 10)
}

func (d *document) truth(name string, is bool) { d.raw(name, strconv.FormatBool(is)) }

// raw is a value as it is sent.
func (d *document) raw(name, value string) {
	d.name(name)
	*d = append(*d, value...)
}

// any is a value that appendJSON accepts: objects, lists and texts.
func (d *document) any(name string, value any) {
	d.name(name)
	*d, _ = appendJSON(*d, value)
}
