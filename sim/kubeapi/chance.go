package kubeapi

import (
	"encoding/hex"
	"fmt"
	"io"
	"sync"

	"k8s.io/apimachinery/pkg/types"
)

// chance is the source of the server's random values. It is safe for use by several goroutines.
type chance struct {
	mu     sync.Mutex
	source io.Reader
}

// bytes returns the next n bytes.
func (c *chance) bytes(n int) []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := make([]byte, n)
	if _, err := io.ReadFull(c.source, b); err != nil {
		panic(fmt.Sprintf("kubeapi: Options.Random: %v", err)) // the source must be endless
	}
	return b
}

// uid is a UUID of version 4.
func (c *chance) uid() types.UID {
	b := c.bytes(16)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b)
	return types.UID(h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:])
}

// token is a bearer token.
func (c *chance) token() string { return hex.EncodeToString(c.bytes(20)) }

// suffix is the random part after a generateName, in the real server's alphabet.
func (c *chance) suffix() string {
	const letters = "bcdfghjklmnpqrstvwxz2456789"
	b := c.bytes(5)
	for i := range b {
		b[i] = letters[int(b[i])%len(letters)]
	}
	return string(b)
}
