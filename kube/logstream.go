package kube

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"lockstep/core"
)

// logPosition is up to where a log was read: the time of its last line, and how many lines had that time. The API takes times to the
// second only.
type logPosition struct {
	time     time.Time
	same     int
	restarts int // of the container
}

// read reads a container's log once, from the position on, and returns how many new lines came. A log that is followed ends with an
// error, or when the server ends it.
func (f *logReading) read(ctx context.Context, pod, container string, previous, follow bool, at *logPosition) (int, *core.APIError) {
	call := fmt.Sprintf("read the log of %s/%s, container %s", f.Namespace, pod, container)
	if previous {
		call += ", previous run"
	}
	r := f.client.session.Load().rest.Get().AbsPath("/api/v1").Namespace(f.Namespace).Resource("pods").Name(pod).SubResource("log").
		Param("container", container).Param("timestamps", "true")
	if follow {
		r = r.Param("follow", "true")
	}
	if previous {
		r = r.Param("previous", "true")
	}
	from := *at
	switch {
	case !from.time.IsZero():
		r = r.Param("sinceTime", from.time.UTC().Truncate(time.Second).Format(time.RFC3339))
	case !f.From.IsZero(): // the last lines of all are not the last ones of a range
		r = r.Param("sinceTime", f.From.UTC().Truncate(time.Second).Format(time.RFC3339))
	default:
		if f.Since > 0 {
			r = r.Param("sinceSeconds", strconv.Itoa(int(max(f.Since.Seconds(), 1))))
		}
		if f.Tail > 0 {
			r = r.Param("tailLines", strconv.Itoa(f.Tail))
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if !follow { // of one that is followed nothing may come for hours
		ctx, cancel = context.WithTimeout(ctx, logRead)
		defer cancel()
	}
	body, err := r.Stream(ctx)
	if err != nil {
		e := lookError(err, f.Server, call)
		if e.Kind == core.ErrUnauthorized {
			f.client.renew()
		}
		if e.Kind == core.ErrInvalid && strings.Contains(e.Message, "previous terminated container") {
			e.Remedy = "This container has not been started again in this pod: there is no earlier run."
		}
		return 0, e
	}
	defer body.Close()
	stop := context.AfterFunc(ctx, func() { body.Close() })
	defer stop()
	f.sink(core.LogPart{Well: true})
	n, err := f.lines(ctx, pod, body, follow, from, at)
	if err != nil && ctx.Err() == nil {
		return n, lookError(err, f.Server, call)
	}
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return n, lookError(ctx.Err(), f.Server, call)
	}
	return n, nil
}

// logRead is how long reading a log may take that is not followed: what is kept of it is a few MiB.
const logRead = 2 * time.Minute

// lines passes on the lines of a stream that are not from before the position.
func (f *logReading) lines(ctx context.Context, pod string, body io.Reader, follow bool, from logPosition, at *logPosition) (int, error) {
	in := bufio.NewReaderSize(body, 32<<10)
	var batch []core.LogLine
	n, skip, catching := 0, from.same, !from.time.IsZero()
	flush := func() {
		if len(batch) > 0 {
			f.sink(core.LogPart{Lines: batch})
			batch = nil
		}
	}
	defer flush()
	for {
		raw, length, whole, err := logLine(in)
		if length > 0 && (whole || !follow) { // the rest of a line that broke off comes when the log is read on
			line := newLogLine(pod, raw, length, f.client.secrets.Redact)
			if line.At.IsZero() {
				line.At = at.time
			}
			if !f.To.IsZero() && !line.At.Before(f.To) {
				return n, nil // the API knows no end
			}
			if line.At.Before(f.From) && !line.At.IsZero() {
				goto next
			}
			if catching {
				switch {
				case line.At.Before(from.time):
					goto next
				case line.At.Equal(from.time) && skip > 0:
					skip--
					goto next
				}
				catching = line.At.Equal(from.time)
			}
			switch {
			case line.At.Equal(at.time):
				at.same++
			case line.At.After(at.time):
				at.time, at.same = line.At, 1
			}
			n++
			batch = append(batch, line)
		}
	next:
		if len(batch) >= 500 || in.Buffered() == 0 || err != nil {
			flush()
		}
		if err == io.EOF {
			return n, nil
		}
		if err != nil {
			return n, err
		}
		if f.budget.spend(ctx, length) != nil {
			return n, nil
		}
	}
}

// logLine reads one line, of which it keeps the beginning; length is the whole line's, without its end. whole tells whether the
// line's end was there.
func logLine(in *bufio.Reader) (line []byte, length int, whole bool, err error) {
	const stamp = 64 // bytes of the time before the text
	for {
		part, err := in.ReadSlice('\n')
		whole = err == nil
		if whole {
			part = part[:len(part)-1]
		}
		length += len(part)
		if room := core.MaxLogLine + lineMargin + stamp - len(line); room > 0 {
			line = append(line, part[:min(len(part), room)]...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		return line, length, whole, err
	}
}

// newLogLine reads a line that begins with the time at which it was written. redact hides the secrets in it.
func newLogLine(pod string, raw []byte, length int, redact func(string) string) core.LogLine {
	stamp, text, found := strings.Cut(string(raw), " ")
	at, err := time.Parse(time.RFC3339Nano, stamp)
	if err != nil { // not as the API writes it: the line is shown as it is
		at, text, found = time.Time{}, string(raw), false
	}
	if found {
		length -= len(stamp) + 1
	}
	line := core.LogLine{Pod: pod, At: at}
	broken := length > len(text)
	if text = redact(strings.TrimSuffix(text, "\r")); broken {
		text = text[:max(len(text)-lineMargin, 0)]
	}
	if broken || len(text) > core.MaxLogLine {
		line.Length = length
		text = strings.ToValidUTF8(text[:min(len(text), core.MaxLogLine)], "\uFFFD")
	}
	line.Text = text
	return line
}

// lineMargin is how much more of a long line is read than is kept, in bytes: what would hide a secret may stand behind where the line
// is cut, and half a secret is not recognised. No secret that a person would hide is longer.
const lineMargin = 16 << 10

// budget holds the reading of a log to logRate.
type budget struct {
	turn  turn
	since time.Time
	spent int
}

func newBudget() *budget { return &budget{turn: newTurn()} }

// spend waits until n more bytes may have been read.
func (b *budget) spend(ctx context.Context, n int) error {
	if err := b.turn.take(ctx); err != nil {
		return err
	}
	defer b.turn.give()
	now := time.Now()
	if now.Sub(b.since) >= time.Second {
		b.since, b.spent = now, 0
	}
	if b.spent += n; b.spent < logRate {
		return nil
	}
	return sleep(ctx, time.Second-now.Sub(b.since))
}
