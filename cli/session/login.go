package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"lockstep/core"
	"lockstep/core/wording"
	"lockstep/kube"
)

// loginFor is how long a credential plugin may take: it may ask a person for a password, or wait for one in a browser.
const loginFor = 3 * time.Minute

// GetCredentials lets a credential plugin that may ask a person do so before the screen takes the terminal, and says so. Other
// logins happen behind the screen, where nobody waits for them. A failed plugin is not an error here: the sources that need it
// report it.
func (p *Place) GetCredentials(ctx context.Context, log *Log, client *kube.Client, what string) error {
	plugin := client.Asks()
	if plugin == "" {
		client.KeepTerminal()
		return nil
	}
	if p.Unasked {
		return errAsks
	}
	within := cmp.Or(p.LoginFor, loginFor)
	if p.Stderr != nil {
		fmt.Fprintf(p.Stderr, "lockstep: %s logs in to %s. It may ask you something here; it has %s, and ctrl+c gives up.\n",
			core.Printable(plugin, wording.MostRead), what, wording.SpanText(within))
	}
	login, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	err := client.GetCredentials(login)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && login.Err() != nil:
		return KeptTerminal{err}
	case err != nil:
		log.Warn("log in", "to", what, "error", err)
	}
	return nil
}

// errAsks is why there is no login where nobody may be asked anything.
var errAsks = errors.New("the credential plugin may ask something, and nobody is asked here")

// KeptTerminal is why a login failed whose credential plugin still has the terminal: nothing else may read from it.
type KeptTerminal struct{ error }

// Unwrap is why it failed.
func (k KeptTerminal) Unwrap() error { return k.error }

// Login logs in to a cluster for a command that reads once. A silent server delays it no longer than any call.
func (p *Place) Login(ctx context.Context, log *Log, client *kube.Client, what string) error {
	if err := p.GetCredentials(ctx, log, client, what); err != nil {
		return err
	}
	login, cancel := context.WithTimeout(ctx, cmp.Or(p.LoginFor, loginFor))
	defer cancel()
	_, err := client.Login(login)
	if errors.Is(ctx.Err(), context.Canceled) {
		return ctx.Err()
	}
	return err
}
