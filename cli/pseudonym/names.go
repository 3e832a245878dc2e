// Package pseudonym makes names up for what is given to others: of a recording, every name and ID of the customer becomes another one
// that is the same everywhere in the file.
package pseudonym

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
)

// LeftOut stands for a text that may say anything.
const LeftOut = "(left out)"

// Names makes names up. Equal names stay equal, different ones different, and nothing leads back: pseudonyms derive from a key that is
// made for one file and thrown away.
type Names struct {
	key []byte
}

// New is a source of names with a key of its own.
func New() Names {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails; the program ends when the system has no randomness
	return Names{key: key}
}

func (n Names) digest(kind, name string) []byte {
	mac := hmac.New(sha256.New, n.key)
	fmt.Fprintf(mac, "%s\x00%s", kind, name)
	return mac.Sum(nil)
}

// Name is the pseudonym of a name; an empty name stays empty.
func (n Names) Name(kind, name string) string {
	if name == "" {
		return ""
	}
	return kind + "-" + hex.EncodeToString(n.digest(kind, name)[:5])
}

// ID is a new ID in the form of the old one: 32 hexadecimal digits, else a UUID.
func (n Names) ID(id string) string {
	if id == "" {
		return ""
	}
	d := n.digest("id", id)
	d[6], d[8] = d[6]&0x0f|0x40, d[8]&0x3f|0x80
	h := hex.EncodeToString(d[:16])
	if hexID.MatchString(id) {
		return h
	}
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

var hexID = regexp.MustCompile(`^[0-9a-f]{32}$`)
