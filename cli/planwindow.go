package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"lockstep/cli/outputfile"
	"lockstep/cli/session"
	"lockstep/core/evacuation"
	"lockstep/core/forecast"
	"lockstep/core/wording"
)

// windowPrinters write how long an update takes, and its nights.
var windowPrinters = map[string]func(w io.Writer, d *forecast.Document) error{
	"table": printWindowTable,
	"markdown": func(w io.Writer, d *forecast.Document) error {
		_, err := io.WriteString(w, d.Markdown())
		return err
	},
	"json": func(w io.Writer, d *forecast.Document) error {
		raw, err := d.JSON()
		if err == nil {
			_, err = w.Write(raw)
		}
		return err
	},
}

// window is `lockstep plan --window`.
func window(ctx context.Context, at options, f planFlags, nodes []string, stdout, stderr io.Writer) error {
	print, ok := windowPrinters[f.output]
	switch {
	case !ok:
		return fmt.Errorf("-o is %q; it takes table, markdown or json", f.output)
	case f.atOnceNamed && f.atOnce < 1:
		return fmt.Errorf("--at-once is %d; it takes a number from 1", f.atOnce)
	}
	if f.out != "" {
		if err := outputfile.Check("--out", f.out, f.force); err != nil {
			return err
		}
	}
	var d forecast.Document
	if err := glance(ctx, at, f.wait, func(s *session.Session, at options, left time.Duration) (err error) {
		d, err = windowOn(ctx, s, at, f, left, nodes, stderr)
		return err
	}); err != nil {
		return err
	}
	if err := writeOut(f, stdout, d.Headline, func(w io.Writer) error { return print(w, &d) }); err != nil {
		return err
	}
	if !d.Clear() {
		return exitWith(exitAttention)
	}
	return nil
}

// windowOn waits for the sources, has the evacuation forecast where OpenStack tells of it, and divides the update over nights.
func windowOn(ctx context.Context, s *session.Session, at options, f planFlags, left time.Duration, names []string,
	stderr io.Writer) (forecast.Document, error) {
	w, err := at.config.window()
	if f.window != "" {
		w, err = forecast.ParseWindow(f.window)
	}
	switch {
	case err != nil:
		return forecast.Document{}, fmt.Errorf("--window: %w", err)
	case w.IsZero():
		return forecast.Document{}, errors.New("--window is empty, and the configuration has no window: name one, as 22:00-06:00")
	}
	snap := look(ctx, s.Engine, left)
	if err := cannotSee(snap); err != nil {
		return forecast.Document{}, err
	}
	nodes, err := evacuation.ResolveNodes(snap, names)
	if err != nil {
		return forecast.Document{}, err
	}
	ask := forecast.Ask{Request: forecast.Request{Window: w, Nodes: nodes}}
	if f.atOnceNamed {
		ask.AtOnce = f.atOnce
	}
	order, _ := forecast.Order(snap)
	asking, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	request := evacuation.Request{Nodes: nodes, Order: order, AtOnce: max(ask.AtOnce, 1)}
	e, err := s.Engine.ForecastEvacuation(asking, request, progressOn(stderr))
	if err == nil {
		ask.Evacuation = &e
	} else if ctx.Err() == nil {
		ask.Unforecast = err.Error()
		fmt.Fprintf(stderr, "the evacuation of the nodes was not forecast, and their times are without it: %s\n", oneLine(err.Error()))
	}
	return forecast.NewDocument(snap, ask), ctx.Err()
}

// printWindowTable prints the document for a terminal.
func printWindowTable(out io.Writer, d *forecast.Document) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintf(w, "%s: %s\nAs of %s.\n", oneLine(d.Cluster), oneLine(d.Headline), wording.StampText(d.AsOf))
	for _, sec := range d.Sections {
		fmt.Fprintf(w, "\n%s\n", oneLine(sec.Title))
		for _, text := range sec.Bad {
			fmt.Fprintf(w, "  ! %s\n", oneLine(text))
		}
		for _, text := range sec.Good {
			fmt.Fprintf(w, "  %s\n", oneLine(text))
		}
		if len(sec.Head) > 0 {
			for _, row := range append([][]string{upper(sec.Head)}, sec.Rows...) {
				for i, c := range row {
					if i > 0 {
						fmt.Fprint(w, "\t")
					} else {
						fmt.Fprint(w, "  ")
					}
					fmt.Fprint(w, oneLine(c))
				}
				fmt.Fprintln(w)
			}
		}
		for _, text := range sec.Lines {
			fmt.Fprintf(w, "  %s\n", oneLine(text))
		}
	}
	return w.Flush()
}

func upper(titles []string) []string {
	out := make([]string, len(titles))
	for i, t := range titles {
		out[i] = strings.ToUpper(t)
	}
	return out
}
