package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"time"

	"lockstep/cli/session"
	"lockstep/core"
	"lockstep/core/attention"
	"lockstep/core/engine"
	"lockstep/core/news"
	"lockstep/tui"
)

// notify is the configuration's section of that name: about what somebody is called, and how.
type notify struct {
	From     string        `yaml:"from"`
	Only     []string      `yaml:"only"`
	Never    []string      `yaml:"never"`
	After    time.Duration `yaml:"after"`
	Quiet    time.Duration `yaml:"quiet"`
	Limit    int           `yaml:"limit"`
	Command  []string      `yaml:"command"`
	Terminal []string      `yaml:"terminal"`
}

// The ways in which the terminal calls.
const (
	callTitle  = "title"
	callBell   = "bell"
	callOSC9   = "osc9"
	callOSC777 = "osc777"
)

// severities are the values of from.
var severities = map[string]core.Severity{core.SeverityUrgent.String(): core.SeverityUrgent,
	core.SeverityWarning.String(): core.SeverityWarning, core.SeverityNotice.String(): core.SeverityNotice}

// check says what is wrong with the section; nil for nothing.
func (n notify) check() error {
	if severities[n.From] == 0 {
		return fmt.Errorf("from: %q: want %s", oneLine(n.From), strings.Join(slices.Sorted(maps.Keys(severities)), ", "))
	}
	for name, rules := range map[string][]string{"only": n.Only, "never": n.Never} {
		for _, rule := range rules {
			if !slices.Contains(attention.Rules(), core.AttentionRule(rule)) {
				return fmt.Errorf("%s: there is no rule %q; `lockstep watch -o json` shows the rule of each entry", name, oneLine(rule))
			}
		}
	}
	if n.After < 0 || n.After > time.Hour {
		return fmt.Errorf("after: want 0s to 1h")
	}
	if n.Quiet < 0 || n.Quiet > 24*time.Hour {
		return fmt.Errorf("quiet: want 0s to 24h")
	}
	if n.Limit < 0 {
		return fmt.Errorf("limit: want 0 (none) or more")
	}
	if len(n.Command) > 0 && n.Command[0] == "" {
		return fmt.Errorf("command: its first word is the program, and is empty")
	}
	for _, way := range n.Terminal {
		if !slices.Contains([]string{callTitle, callBell, callOSC9, callOSC777}, way) {
			return fmt.Errorf("terminal: want some of %s, %s, %s and %s", callTitle, callBell, callOSC9, callOSC777)
		}
	}
	return nil
}

func (n notify) rules() news.Rules {
	r := news.Rules{From: severities[n.From], After: n.After, Quiet: n.Quiet, Limit: n.Limit}
	for _, rule := range n.Only {
		r.Only = append(r.Only, core.AttentionRule(rule))
	}
	for _, rule := range n.Never {
		r.Never = append(r.Never, core.AttentionRule(rule))
	}
	return r
}

func (n notify) by(way string) bool { return slices.Contains(n.Terminal, way) }

const (
	// callWithin is how long the command may take, and callsWaiting how many calls wait for it at most.
	callWithin   = 30 * time.Second
	callsWaiting = 100
	// callTick is how often it is looked whether a call that the limit held back may be made now.
	callTick = 5 * time.Second
	// firstWithin is how long the first answers of slow sources are waited for before anything is told.
	firstWithin = 20 * time.Second
)

// followNews tells the news of an engine until ctx is done: the lines that are new, and the calls to make. The first lines, which say how
// everything stands, come when the sources have answered. about tells whether there are calls about what is there then.
func followNews(ctx context.Context, e *engine.Engine, rules news.Rules, about bool, handle func([]news.Line, []news.Call)) {
	snapshots, stop := e.Subscribe()
	defer stop()
	reporter, caller := news.Reporter{}, news.Caller{Rules: rules}
	first, began := true, time.Now()
	tick := time.NewTicker(callTick)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-snapshots:
			if first && !answered(s, began.Add(firstWithin), everySource) && time.Since(began) < firstWithin {
				continue
			}
			lines := reporter.Next(s)
			calls := caller.Next(lines, time.Now())
			if first && !about {
				calls, caller = nil, news.Caller{Rules: rules}
			}
			first = false
			if len(lines)+len(calls) > 0 {
				handle(lines, calls)
			}
		case <-tick.C:
			if calls := caller.Next(nil, time.Now()); len(calls) > 0 {
				handle(nil, calls)
			}
		}
	}
}

// callCommand runs the configured command for each call, one after the other, until ctx is done. It gets the call as a line of JSON on its
// standard input, and no terminal. failed is told what went wrong; nothing is lost in silence.
type callCommand struct {
	command []string
	calls   chan news.Call
	failed  func(text string)
	log     *session.Log
}

func newCallCommand(command []string, log *session.Log, failed func(string)) *callCommand {
	if len(command) == 0 {
		return nil
	}
	return &callCommand{command: command, calls: make(chan news.Call, callsWaiting), failed: failed, log: log}
}

// make queues a call; it never waits.
func (c *callCommand) make(call news.Call) {
	if c == nil {
		return
	}
	select {
	case c.calls <- call:
	default:
		c.fail(fmt.Sprintf("%d calls wait for it already; the call was: %s", callsWaiting, call.Text()))
	}
}

func (c *callCommand) fail(text string) {
	text = "notify: " + c.command[0] + ": " + oneLine(text)
	c.log.Warn(text)
	if c.failed != nil {
		c.failed(text)
	}
}

func (c *callCommand) run(ctx context.Context) {
	if c == nil {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case call := <-c.calls:
			if err := c.one(ctx, call); err != nil && ctx.Err() == nil {
				c.fail(err.Error() + "; the call was: " + call.Text())
			}
		}
	}
}

func (c *callCommand) one(ctx context.Context, call news.Call) error {
	raw, err := core.EncodeJSON(call, "")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, callWithin)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.command[0], c.command[1:]...)
	var said capped
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(raw), &said, &said
	cmd.WaitDelay = time.Second // for child processes that keep the output open
	if err = cmd.Run(); errors.Is(err, exec.ErrWaitDelay) {
		err = nil // it has ended well; a process that it has started lives on
	}
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("it had not ended after %s, and was stopped", callWithin)
	case err != nil && len(said.text) > 0:
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(said.text))
	}
	return err
}

// capped keeps the beginning of what is written to it.
type capped struct{ text []byte }

// Write implements io.Writer.
func (c *capped) Write(p []byte) (int, error) {
	c.text = append(c.text, p[:min(len(p), max(4096-len(c.text), 0))]...)
	return len(p), nil
}

// callsBy is the command that calls the operator. Nobody is called by one about a cluster that is simulated.
func (n notify) callsBy(s *session.Session) []string {
	if s.Simulated && len(n.Command) > 0 {
		s.Log.Info("the command of the section notify is not run: the cluster is simulated")
		return nil
	}
	return n.Command
}

// call has the dashboard and the configured command call the operator, until ctx is done. What is there when the screen opens is no call:
// the operator is looking.
func (n notify) call(ctx context.Context, s *session.Session, calls chan<- tui.Call) {
	send := func(c tui.Call) {
		select {
		case calls <- c:
		default: // the screen is behind: one call rings like ten
		}
	}
	command := newCallCommand(n.callsBy(s), s.Log, func(text string) { send(tui.Call{Trouble: text}) })
	go command.run(ctx)
	followNews(ctx, s.Engine, n.rules(), false, func(lines []news.Line, made []news.Call) {
		s.RecordNews(lines)
		for _, c := range made {
			command.make(c)
			send(tui.Call{Title: "Lockstep: " + c.Cluster, Text: c.Text(), Bell: n.by(callBell), OSC9: n.by(callOSC9),
				OSC777: n.by(callOSC777)})
		}
	})
}
