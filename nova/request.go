package nova

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gophercloud/gophercloud/v2"
)

const (
	maxTries    = 4               // of a GET
	maxAnswer   = 64 << 20        // bytes of one page; 1000 servers are about 3 MB
	foretold    = 4 << 20         // bytes for which there is room before they come, where the server says how many will
	longestWait = 5 * time.Minute // a server that asks for a longer wait may well be back earlier
	readLimit   = time.Minute     // of a read for a step, all pages and tries included

	// Of a write: longer than Nova waits for a host that is silent (docs/mosk.md#how-long-nova-takes).
	writeLimit = 90 * time.Second

	// Of a write that Nova schedules before it answers: longer than Nova ever waits for its own parts, so that Nova always says
	// itself why the write failed (docs/mosk.md#how-long-nova-takes).
	scheduleLimit = 31 * time.Minute

	headerLimit = scheduleLimit + time.Minute // until the first byte of any answer, a backstop behind the deadline of each call
)

// checked is an answer that can check itself. Fields of unexpected types are left empty; a missing list must not pass for an empty
// one.
type checked interface{ check() error }

// get reads a document. Failures of the network and of the server are tried again, with jitter, as long as ctx allows.
func (c *Client) get(ctx context.Context, sc *gophercloud.ServiceClient, url string, out checked, ok ...int) error {
	if len(ok) == 0 {
		ok = []int{http.StatusOK}
	}
	for try := 1; ; try++ {
		err := c.getOnce(ctx, sc, url, out, ok)
		if err == nil {
			return nil
		}
		if try == maxTries || ctx.Err() != nil || !retryable(err) {
			return err
		}
		pause := c.pause(url, try)
		if after, ok := retryAfter(err); ok {
			pause = after
		}
		if deadline, ok := ctx.Deadline(); ok && wallClock().Add(pause).After(deadline) {
			return err
		}
		if sleep(ctx, pause) != nil {
			return err
		}
	}
}

func (c *Client) getOnce(ctx context.Context, sc *gophercloud.ServiceClient, url string, out checked, ok []int) error {
	ctx, cancel := context.WithTimeout(ctx, c.times.try)
	defer cancel()
	resp, err := sc.Get(ctx, url, nil, &gophercloud.RequestOpts{OkCodes: ok, KeepResponseBody: true})
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body := bodyFor(resp.ContentLength, out)
	defer giveBack(body)
	body.Reset()
	if n := roomFor(resp.ContentLength, out); n > 0 {
		body.Grow(n + bytes.MinRead) // ReadFrom wants that much room beyond the end
	}
	if _, err := body.ReadFrom(io.LimitReader(resp.Body, maxAnswer)); err != nil {
		return err
	}
	err = decode(body.Bytes(), out)
	if page, servers := out.(*serverPage); servers {
		page.length = body.Len()
	}
	return err
}

// roomFor is for how many bytes there is room before an answer comes: a buffer that grows while it is read leaves several times as many as
// garbage. The length in bytes is negative when it was not foretold.
func roomFor(length int64, out checked) int {
	page, servers := out.(*serverPage)
	if length < 0 && servers { // a page is about as long as the one before it
		length = int64(page.expect + page.expect/8)
	}
	return int(max(min(length, foretold), 0))
}

// bodies are buffers that answers are read into before they are decoded, which copies what is kept. The hundred pages of a large cloud
// would otherwise each leave several times their size as garbage. The large ones are kept apart and go when the pages are read: every
// small answer, of which one comes each second, would keep one of them.
var bodies, largeBodies = sync.Pool{New: newBody}, sync.Pool{New: newBody}

func newBody() any { return new(bytes.Buffer) }

// largeBody is the size of a buffer from which it is large, in bytes.
const largeBody = 256 << 10

// bodyFor is a buffer for an answer of the given length in bytes, negative when it was not foretold.
func bodyFor(length int64, out checked) *bytes.Buffer {
	page, servers := out.(*serverPage)
	if length >= largeBody || length < 0 && servers && page.seen == nil { // one of all pages
		return largeBodies.Get().(*bytes.Buffer)
	}
	return bodies.Get().(*bytes.Buffer)
}

func giveBack(body *bytes.Buffer) {
	if body.Cap() >= largeBody {
		largeBodies.Put(body)
		return
	}
	bodies.Put(body)
}

// decode is lenient about what Nova may leave out or send as null, and strict about the shape of the whole. A list that is missing,
// null or of another type is a nil slice, an empty one is not: check refuses the former.
func decode(body []byte, out checked) error {
	if page, ok := out.(*serverPage); ok {
		if scanServers(body, page) {
			return page.check()
		}
		*page = serverPage{polled: page.polled, seen: page.seen}
	}
	var wrongType *json.UnmarshalTypeError
	if err := json.Unmarshal(body, out); err != nil && !errors.As(err, &wrongType) {
		return errShape("JSON")
	}
	return out.check()
}

// backoff is the pause after the given number of failed tries: 0.5 to 8 seconds, jittered.
func backoff(jitter Jitter) func(url string, try int) time.Duration {
	if jitter == nil {
		jitter = func(_ string, most time.Duration) time.Duration { return rand.N(most + 1) }
	}
	return func(url string, try int) time.Duration {
		d := 500 * time.Millisecond << min(try-1, 4)
		return d/2 + jitter(url, d/2)
	}
}

// retryable tells whether the same GET may succeed a moment later.
func retryable(err error) bool {
	var relogin *gophercloud.ErrUnableToReauthenticate
	if errors.As(err, &relogin) {
		return false
	}
	if status := statusOf(err); status != 0 {
		return status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestEntityTooLarge || notOfAPI(err)
	}
	var answer *errAnswer
	if errors.As(err, &answer) || errors.Is(err, errHidden) {
		return false
	}
	var noEndpoint *gophercloud.ErrEndpointNotFound
	return !errors.As(err, &noEndpoint)
}

func statusOf(err error) int {
	if e := responseOf(err); e != nil {
		return e.Actual
	}
	return 0
}

// responseOf is the HTTP answer in an error. gophercloud returns it by value in some places and by pointer in others.
func responseOf(err error) *gophercloud.ErrUnexpectedResponseCode {
	var value gophercloud.ErrUnexpectedResponseCode
	if errors.As(err, &value) {
		return &value
	}
	var pointer *gophercloud.ErrUnexpectedResponseCode
	if errors.As(err, &pointer) {
		return pointer
	}
	return nil
}

// retryAfter is the wait that a server asks for after too many requests.
func retryAfter(err error) (time.Duration, bool) {
	e := responseOf(err)
	if e == nil {
		return 0, false
	}
	seconds, parseErr := strconv.Atoi(strings.TrimSpace(e.ResponseHeader.Get("Retry-After")))
	if parseErr != nil || seconds < 0 {
		return 0, false
	}
	return min(time.Duration(seconds)*time.Second, longestWait), true
}

// send makes a change. It never repeats it: after a lost answer only the server knows whether the change was made.
func (c *Client) send(ctx context.Context, sc *gophercloud.ServiceClient, method, url string, body any, ok ...int) error {
	opts := &gophercloud.RequestOpts{OkCodes: ok}
	if body != nil {
		opts.JSONBody = body
	}
	_, err := sc.Request(ctx, method, url, opts)
	return err
}
