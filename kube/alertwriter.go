package kube

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"lockstep/core"
	"lockstep/core/engine"
)

// AlertChecker reads silences from Alertmanager itself. It implements engine.AlertChecker.
type AlertChecker struct{ alertAPI }

// NewAlertChecker makes an AlertChecker for the Alertmanager of the client's cluster.
func NewAlertChecker(client *Client, place core.AlertmanagerPlace) *AlertChecker {
	return &AlertChecker{alertAPI{client, place}}
}

// AlertWriter makes and expires silences. It implements engine.ChangeWriter: it writes nothing without a Permit, which only the gate makes.
type AlertWriter struct{ checker *AlertChecker }

// NewAlertWriter makes an AlertWriter for the Alertmanager of the client's cluster.
func NewAlertWriter(client *Client, place core.AlertmanagerPlace) *AlertWriter {
	return &AlertWriter{NewAlertChecker(client, place)}
}

var (
	_ engine.AlertChecker = (*AlertChecker)(nil)
	_ engine.ChangeWriter = (*AlertWriter)(nil)
)

// Silences implements engine.AlertChecker.
func (c *AlertChecker) Silences(ctx context.Context) ([]core.Silence, error) {
	place, err := c.located(ctx)
	if err != nil {
		return nil, err
	}
	return c.silences(ctx, place)
}

// Silence implements engine.AlertChecker. That the Service is not there does not mean that the silence is not.
func (c *AlertChecker) Silence(ctx context.Context, id string) (core.Silence, error) {
	place, err := c.located(ctx)
	var e *core.APIError
	if err != nil {
		e = alertError(err, "")
	} else {
		var o silenceAnswer
		if e = c.get(ctx, place, "silence/"+url.PathEscape(id), nil, &o); e == nil {
			return o.silence(), nil
		}
	}
	if noService(e) {
		e.Kind = core.ErrUnreachable
	}
	return core.Silence{}, e
}

// Write implements engine.ChangeWriter.
func (w *AlertWriter) Write(ctx context.Context, p engine.Permit, change core.Change) error {
	if err := engine.TakePermit(p, change, core.ServerAlertmanager); err != nil {
		return err
	}
	return alertSender{w.checker}.send(ctx, change)
}

// alertSender sends the request of a change. Alertmanager has no dry-run.
type alertSender struct{ *AlertChecker }

func (s alertSender) send(ctx context.Context, change core.Change) error {
	switch c := change.(type) {
	case core.MakeSilence:
		return s.makeSilence(ctx, c)
	case core.ExpireSilence:
		return s.expireSilence(ctx, c)
	}
	return engine.NoSuchChange(change, core.ServerAlertmanager)
}

// makeSilence posts a silence. Alertmanager makes a new one of each that has no ID.
func (s alertSender) makeSilence(ctx context.Context, c core.MakeSilence) error {
	const doing = "make a silence"
	body, err := json.Marshal(c.Posted())
	if err != nil {
		return &core.APIError{Kind: core.ErrInvalid, Server: core.ServerAlertmanager, Call: doing, Message: err.Error(), Err: err}
	}
	place, err := s.located(ctx)
	if err != nil {
		return unsent(err)
	}
	answer, err := s.call(ctx, place, http.MethodPost, "silences", nil, body)
	if err != nil {
		return alertError(err, doing)
	}
	var made struct{ SilenceID string }
	if err := json.Unmarshal(answer, &made); err != nil || made.SilenceID == "" {
		return alertError(&strangeError{"it names no silence"}, doing)
	}
	return nil
}

// expireSilence ends a silence. The API cannot be told what it must be before: the checker has just read it.
func (s alertSender) expireSilence(ctx context.Context, c core.ExpireSilence) error {
	place, err := s.located(ctx)
	if err != nil {
		return unsent(err)
	}
	_, err = s.call(ctx, place, http.MethodDelete, "silence/"+url.PathEscape(c.Silence.ID), nil, nil)
	if err != nil {
		return alertError(err, "expire the silence "+core.ShortID(c.Silence.ID))
	}
	return nil
}

// unsent is why nothing was sent: the Service could not be read. It is a refusal, whatever the cause.
func unsent(err error) error {
	e := *alertError(err, "")
	e.Message, e.Kind = "nothing was sent: "+string(e.Kind)+": "+e.Message, core.ErrInvalid
	return &e
}
