// Command shots runs a program in a terminal, types keys, waits for what appears and takes pictures, in the order of the flags:
//
//	go run ./shots -size 120x40 -wait "Needs you" -keys "down down enter" -wait Step -o step.png -- lockstep demo
//
// A -wait that is not met within five minutes fails and prints the last screen. Pictures are PNG; -text prints the screen to the
// standard output.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"image/png"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"

	"lockstep/e2e/picture"
	"lockstep/e2e/terminal"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			os.Exit(2)
		}
		fmt.Fprintln(os.Stderr, "shots:", err)
		os.Exit(1)
	}
}

// session is a running program and how to take its pictures.
type session struct {
	term    *terminal.Terminal
	palette picture.Palette
	font    float64
	out     io.Writer
}

// action is one thing to do in the session.
type action func(*session) error

func run(args []string, out io.Writer) error {
	var (
		actions []action
		flags   = flag.NewFlagSet("shots", flag.ContinueOnError)
		size    = flags.String("size", "120x40", "the terminal's size, columns x rows")
		light   = flags.Bool("light", false, "a terminal with dark text on a light ground")
		font    = flags.Float64("font", 20, "size of the font in pixels")
		env     = []string{"TERM=xterm-256color", "COLORTERM=truecolor", "LANG=C.UTF-8", "HOME=" + os.Getenv("HOME"), "PATH=" + os.Getenv("PATH")}
	)
	do := func(name, usage string, parse func(string) (action, error)) {
		flags.Func(name, usage, func(value string) error {
			a, err := parse(value)
			if err == nil {
				actions = append(actions, a)
			}
			return err
		})
	}
	do("wait", "wait until the screen shows the `text`", func(text string) (action, error) { return wait(terminal.Shows(text)), nil })
	do("match", "wait until the screen matches the regular `expression`", func(text string) (action, error) {
		pattern, err := regexp.Compile(text)
		if err != nil {
			return nil, err
		}
		return wait(terminal.Matches(pattern)), nil
	})
	do("keys", "press the `keys`, separated by blanks: a, F, enter, esc, ctrl+l, pgdown, f1 …", func(keys string) (action, error) {
		return func(s *session) error { return s.term.Press(strings.Fields(keys)...) }, nil
	})
	do("type", "type the `text`", func(text string) (action, error) {
		return func(s *session) error { s.term.Type(text); return nil }, nil
	})
	do("pause", "let the `time` pass, to see something move", func(text string) (action, error) {
		pause, err := time.ParseDuration(text)
		return func(*session) error { time.Sleep(pause); return nil }, err
	})
	do("resize", "change the terminal's size to `columns x rows`", func(text string) (action, error) {
		columns, rows, err := picture.ParseSize(text)
		return func(s *session) error { return s.term.Resize(columns, rows) }, err
	})
	do("o", "take a picture and write it to the `file`", func(file string) (action, error) {
		return func(s *session) error { return s.shoot(file) }, nil
	})
	flags.Func("env", "set `NAME=value` in the program's environment", func(value string) error {
		env = append(env, value)
		return nil
	})
	flags.BoolFunc("text", "print the screen", func(string) error {
		actions = append(actions, func(s *session) error { _, err := fmt.Fprintln(s.out, s.term.Screen()); return err })
		return nil
	})
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: shots [flags] -- program [arguments]")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() == 0 {
		flags.Usage()
		return flag.ErrHelp
	}
	columns, rows, err := picture.ParseSize(*size)
	if err != nil {
		return err
	}
	program, err := exec.LookPath(flags.Arg(0))
	if err != nil {
		return err
	}
	s := &session{palette: picture.Dark, font: *font, out: out}
	if *light {
		s.palette = picture.Light
	}
	options := terminal.Options{Columns: columns, Rows: rows, Env: env, Foreground: s.palette.Foreground, Background: s.palette.Background}
	s.term, err = terminal.Start(options, program, flags.Args()[1:]...)
	if err != nil {
		return err
	}
	for _, do := range actions {
		if err = do(s); err != nil {
			break
		}
	}
	return errors.Join(err, s.term.Close())
}

// wait waits for the condition and a moment more: the rest of the frame may still be on its way, and a picture needs a whole
// frame.
func wait(condition terminal.Condition) action {
	const settle = 300 * time.Millisecond
	return func(s *session) error {
		ctx, cancel := context.WithTimeout(context.Background(), terminal.Patience)
		defer cancel()
		if _, err := s.term.WaitFor(ctx, condition); err != nil {
			return err
		}
		time.Sleep(settle)
		return nil
	}
}

// shoot writes a picture of the screen.
func (s *session) shoot(path string) error {
	drawn, err := picture.Draw(s.term.Screen(), s.palette, s.font)
	if err != nil {
		return fmt.Errorf("draw %s: %w", path, err)
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(file, drawn); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), file.Close())
	}
	return file.Close()
}
