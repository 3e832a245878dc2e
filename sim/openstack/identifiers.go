package openstack

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"time"
)

// digest is the source of identifiers and variations. It depends only on the cloud's seed and the words, in particular
// not on the order of unrelated requests.
func (c *Cloud) digest(words ...string) [32]byte {
	b := binary.BigEndian.AppendUint64(nil, c.opts.Seed)
	for _, w := range words {
		b = append(b, 0)
		b = append(b, w...)
	}
	return sha256.Sum256(b)
}

// uuid returns a new UUID for a kind and a name.
func (c *Cloud) uuid(kind, name string) string {
	return uuidOf(c.numbered(kind, name))
}

// nextRequestID returns the next request ID, as in X-Openstack-Request-Id.
func (c *Cloud) nextRequestID() string {
	c.lastReq++
	return "req-" + uuidOf(c.digest("request", strconv.Itoa(c.lastReq)))
}

func uuidOf(d [32]byte) string {
	d[6] = d[6]&0x0f | 0x40
	d[8] = d[8]&0x3f | 0x80
	h := hex.EncodeToString(d[:16])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// hexID returns a new ID in Keystone's form: 32 hexadecimal digits.
func (c *Cloud) hexID(kind, name string) string {
	d := c.numbered(kind, name)
	return hex.EncodeToString(d[:16])
}

// fixedID returns the ID of 32 hexadecimal digits that belongs to the words.
func (c *Cloud) fixedID(words ...string) string {
	d := c.digest(words...)
	return hex.EncodeToString(d[:16])
}

// bootVolume is the ID of the volume that a server was booted from; empty if there is none. No other volume has a server's name, so
// it needs no number.
func (c *Cloud) bootVolume(s *server) string {
	if !s.fromVolume {
		return ""
	}
	return uuidOf(c.digest("volume", s.id, "0"))
}

func (c *Cloud) numbered(kind, name string) [32]byte {
	key := kind + "/" + name
	n := c.idCounts[key]
	c.idCounts[key] = n + 1
	return c.digest(kind, name, strconv.Itoa(n))
}

// fraction returns the number in [0,1) that belongs to the words.
func (c *Cloud) fraction(words ...string) float64 {
	d := c.digest(words...)
	return float64(binary.BigEndian.Uint64(d[:8])>>11) / (1 << 53)
}

// between returns the duration between low and high that belongs to the words.
func (c *Cloud) between(low, high time.Duration, words ...string) time.Duration {
	return low + time.Duration(c.fraction(words...)*float64(high-low))
}

// hostID is the obfuscated host that every tenant may see.
func hostID(projectID, host string) string {
	if host == "" {
		return ""
	}
	sum := sha256.Sum224([]byte(projectID + host))
	return hex.EncodeToString(sum[:])
}

// stamp is a time in Nova's usual format: with microseconds, which its database truncates, and without a zone. The zero
// time is null.
func stamp(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UTC().Truncate(time.Second).Format("2006-01-02T15:04:05.000000")
}

// stampZ is a time in the format of a server's created and updated.
func stampZ(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// parseTime reads the time formats that OpenStack clients send in filters.
func parseTime(s string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999", "2006-01-02 15:04:05.999999", "2006-01-02T15:04",
		"2006-01-02"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time", s)
}

// orNull is s, or null if it is empty.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}
