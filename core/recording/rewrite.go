package recording

import (
	"errors"
	"fmt"
	"io"
	"math"
)

// Changes are what becomes of a recording that is written again; nil: nothing.
type Changes struct {
	Frame func(Frame) (Frame, error) // a frame has only what changed (Part), and so has what is made of it
	Event func(Event) Event
}

// Each calls the functions with every frame and event in their order, Keys that only repeat what was told among them. A frame has only what
// changed (Part).
func (r *Recording) Each(frame func(Frame) error, event func(Event) error) error {
	c := &Cursor{r: r, every: true}
	defer c.Close()
	if err := c.open(r.parts[0].file, r.parts[0].offset); err != nil {
		return err
	}
	// What is read is decoded while what was read before is worked on.
	type read struct {
		item
		err error
	}
	ahead, enough := make(chan read, 8), make(chan struct{})
	go func() {
		defer close(ahead)
		for {
			i, err := c.next()
			select {
			case ahead <- read{i, err}:
			case <-enough:
				return
			}
			if err != nil {
				return
			}
		}
	}()
	defer func() { // the cursor is closed when nobody reads any more
		close(enough)
		for range ahead {
		}
	}()
	for i := range ahead {
		err := i.err
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
		case i.event != nil:
			err = event(*i.event)
		default:
			err = frame(i.frame)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Rewrite writes the recording again, under another head and in one file: the same frames and events, each as the changes make it.
func (r *Recording) Rewrite(h Head, to io.Writer, changes Changes) error {
	h.Format, h.Cut = Format, r.Cut
	w := &Recorder{opts: Options{Head: h, Limit: math.MaxInt64, Told: func(string) {},
		Create: func(int) (io.WriteCloser, error) { return left{to}, nil }}}
	if err := w.begin(); err != nil {
		return fmt.Errorf("write the recording: %w", err)
	}
	err := r.Each(func(f Frame) (err error) {
		if changes.Frame != nil {
			if f, err = changes.Frame(f); err != nil {
				return err
			}
		}
		if f.Key == nil {
			return w.append(item{frame: f})
		}
		return w.appendKey(f)
	}, func(e Event) error {
		if changes.Event != nil {
			e = changes.Event(e)
		}
		return w.append(item{event: &e})
	})
	if err == nil {
		err = w.finish()
	}
	if err != nil {
		return fmt.Errorf("write the recording: %w", err)
	}
	return nil
}

// left is a writer that whoever gave it closes.
type left struct{ io.Writer }

// Close implements io.Closer.
func (left) Close() error { return nil }
