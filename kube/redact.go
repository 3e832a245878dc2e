package kube

import (
	"bytes"
	"encoding/base64"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	utilnet "k8s.io/apimachinery/pkg/util/net"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"lockstep/core"
)

// secretsOf are the secrets of a kubeconfig, which must not appear in any error.
func secretsOf(raw *clientcmdapi.Config) []string {
	var secrets []string
	for _, c := range raw.Clusters {
		secrets = append(secrets, core.URLSecrets(c.Server)...)
		secrets = append(secrets, core.URLSecrets(c.ProxyURL)...)
	}
	for _, u := range raw.AuthInfos {
		secrets = append(secrets, u.Token, u.Password, string(u.ClientKeyData))
		if p := u.AuthProvider; p != nil {
			for key, value := range p.Config {
				if core.SecretName(key) {
					secrets = append(secrets, value)
				}
			}
		}
		if p := u.Exec; p != nil {
			for _, v := range p.Env {
				if core.SecretName(v.Name) {
					secrets = append(secrets, v.Value)
				}
			}
			for i, arg := range p.Args {
				name, value, joined := strings.Cut(arg, "=")
				switch {
				case !strings.HasPrefix(arg, "-") || !core.SecretName(name):
				case joined:
					secrets = append(secrets, value)
				case i+1 < len(p.Args):
					secrets = append(secrets, p.Args[i+1])
				}
			}
		}
	}
	return secrets
}

// learning remembers what requests log in with: a plugin's token is seen nowhere else. It sits below the transport that logs in.
func learning(secrets *core.Secrets) func(http.RoundTripper) http.RoundTripper {
	return func(base http.RoundTripper) http.RoundTripper { return &learningTransport{base, secrets} }
}

type learningTransport struct {
	base    http.RoundTripper
	secrets *core.Secrets
}

// RoundTrip implements http.RoundTripper.
func (t *learningTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if kind, value, ok := strings.Cut(r.Header.Get("Authorization"), " "); ok {
		t.secrets.Sent(value)
		if plain, err := base64.StdEncoding.DecodeString(value); err == nil && strings.EqualFold(kind, "basic") {
			_, password, _ := strings.Cut(string(plain), ":")
			t.secrets.Sent(password)
		}
	}
	return t.base.RoundTrip(r)
}

// WrappedRoundTripper lets client-go reach the transport below, to close its idle connections.
func (t *learningTransport) WrappedRoundTripper() http.RoundTripper { return t.base }

// CloseIdleConnections lets http.Client.CloseIdleConnections reach the transport below.
func (t *learningTransport) CloseIdleConnections() { utilnet.CloseIdleConnectionsFor(t.base) }

// discreet takes secrets out of everything that says why a request failed, before client-go makes a text or a log line of it. It
// sits above the transport that logs in.
type discreet struct {
	base    http.RoundTripper
	secrets *core.Secrets
}

// maxRefusal is how much of an error answer is searched for secrets, in bytes; the rest is dropped.
const maxRefusal = 1 << 20

// RoundTrip implements http.RoundTripper.
func (t *discreet) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.base.RoundTrip(r)
	if err != nil {
		return resp, t.error(err)
	}
	if resp.StatusCode < http.StatusBadRequest {
		return resp, nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	resp.Body.Close()
	if err != nil {
		return nil, t.error(err)
	}
	text := t.secrets.Redact(string(body))
	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader([]byte(text))), int64(len(text))
	resp.Header.Del("Content-Length")
	return resp, nil
}

func (t *discreet) error(err error) error {
	text := t.secrets.Redact(err.Error())
	if text == err.Error() {
		return err
	}
	return &discreetError{text, err}
}

// CloseIdleConnections lets http.Client.CloseIdleConnections reach the transport below.
func (t *discreet) CloseIdleConnections() { utilnet.CloseIdleConnectionsFor(t.base) }

// discreetError says why a request failed, without secrets. Its cause stays for errors.Is and errors.As.
type discreetError struct {
	text  string
	cause error
}

func (e *discreetError) Error() string    { return e.text }
func (e *discreetError) GoString() string { return e.text }
func (e *discreetError) Unwrap() error    { return e.cause }

// withoutQuotes is why a file cannot be read, without quotations from it: they may be passwords. Names of files stay, and what the YAML
// parser says with quotes of its own. What is quoted may have quotes in it: from the first one to the last one of its kind all is hidden.
func withoutQuotes(text, files string) string {
	own := slices.Clone(misses)
	for _, path := range filepath.SplitList(files) {
		own = append(own, `"`+path+`"`)
	}
	var out strings.Builder
	for text != "" {
		at, end := len(text), len(text)
		for _, words := range own {
			if i := strings.Index(text, words); i >= 0 && i < at {
				at, end = i, i+len(words)
			}
		}
		for rest := text[:at]; rest != ""; {
			first := quotation(rest)
			if first < 0 {
				out.WriteString(rest)
				break
			}
			last := strings.LastIndexByte(rest, rest[first])
			if last == first { // its other end is missing
				out.WriteString(rest[:first+1] + core.Hidden)
				break
			}
			out.WriteString(rest[:first+1] + core.Hidden + rest[last:last+1])
			rest = rest[last+1:]
		}
		out.WriteString(text[at:end])
		text = text[end:]
	}
	return out.String()
}

// quotation is where the first quotation of a text begins, or -1. An apostrophe within a word is none: "couldn't".
func quotation(text string) int {
	letter := func(i int) bool {
		return i >= 0 && i < len(text) && (text[i] >= 'a' && text[i] <= 'z' || text[i] >= 'A' && text[i] <= 'Z')
	}
	for i := range len(text) {
		if c := text[i]; c == '"' || c == '`' || c == '\'' && !(letter(i-1) && letter(i+1)) {
			return i
		}
	}
	return -1
}

// misses are what the YAML parser says with quotes and quotes nothing of the file: the brackets and commas that it misses.
var misses = []string{
	"did not find expected ',' or ']'", "did not find expected ',' or '}'", "did not find expected '-' indicator",
	"could not find expected ':'", "did not find expected '!'", "did not find the expected '>'",
	"did not find expected digit or '.' character",
}
