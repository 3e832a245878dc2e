package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"lockstep/kube"
)

// loginFor is how long a credential plugin may take: it may ask a person for a password, or wait for one in a browser.
const loginFor = 3 * time.Minute

// getCredentials lets a credential plugin that may ask a person do so before the screen takes the terminal, and says so. Other
// logins happen behind the screen, where nobody waits for them. A failed plugin is not an error here: the sources that need it
// report it.
func (p *place) getCredentials(ctx context.Context, log *log, client *kube.Client, what string) error {
	plugin := client.Asks()
	if plugin == "" {
		client.KeepTerminal()
		return nil
	}
	if p.unasked {
		return errAsks
	}
	within := cmp.Or(p.loginFor, loginFor)
	if p.stderr != nil {
		fmt.Fprintf(p.stderr, "lockstep: %s logs in to %s. It may ask you something here; it has %s, and ctrl+c gives up.\n",
			oneLine(plugin), what, span(within))
	}
	login, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	err := client.GetCredentials(login)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && login.Err() != nil:
		return keptTerminal{err}
	case err != nil:
		log.Warn("log in", "to", what, "error", err)
	}
	return nil
}

// keptTerminal is why a login failed whose credential plugin still has the terminal: nothing else may read from it.
type keptTerminal struct{ error }

// Unwrap is why it failed.
func (k keptTerminal) Unwrap() error { return k.error }

// login logs in to a cluster for a command that reads once. A silent server delays it no longer than any call.
func (p *place) login(ctx context.Context, log *log, client *kube.Client, what string) error {
	if err := p.getCredentials(ctx, log, client, what); err != nil {
		return err
	}
	login, cancel := context.WithTimeout(ctx, cmp.Or(p.loginFor, loginFor))
	defer cancel()
	_, err := client.Login(login)
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return err
}

// patience is how long a command that takes one look waits for the sources' first answers.
type patience struct {
	wait  time.Duration
	named bool // set with --wait: then it includes a login that may ask a person
}

func (w *patience) addTo(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&w.wait, "wait", 20*time.Second, "how long to wait for the sources' first answers, logins included")
}

// of returns the patience that a call's flags set.
func (w patience) of(cmd *cobra.Command) patience {
	w.named = cmd.Flags().Changed("wait")
	return w
}
