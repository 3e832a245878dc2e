package core

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Hidden stands where a secret stood.
const Hidden = "(hidden)"

// Redact hides secrets in a text: the user and password of a URL (https://user:password@host), a URL's secret parameters, values that
// stand beside the name of a secret (password=x, "password": "x", --password x, Authorization: x; SecretName tells which names), and
// the given secrets in each of their spellings. RedactObject does it for a whole object. No other code redacts. Adapters pass every
// error through it with the secrets that they use. Code that prints, logs, keeps or shows a foreign text passes it once more: a server
// may mention any URL.
func Redact(text string, secrets ...string) string {
	return redact(text, allForms(secrets))
}

func redact(text string, forms []string) string {
	for _, form := range forms {
		text = strings.ReplaceAll(text, form, Hidden)
	}
	return redactPairs(redactURLs(text))
}

// allForms are the spellings of all secrets, the longer secrets first.
func allForms(secrets []string) []string {
	if len(secrets) == 0 {
		return nil // most texts are looked at without any, thousands of them for a screen
	}
	var all []string
	for _, s := range slices.SortedFunc(slices.Values(secrets),
		func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }) {
		// A shorter one would match inside ordinary words.
		if len(s) >= shortestSecret {
			all = append(all, writtenForms(s)...)
		}
	}
	return all
}

// shortestSecret is the length of the shortest secret that is looked for, in bytes.
const shortestSecret = 4

// writtenForms are the spellings of a secret: as it is, as Go and JSON quote it, as URLs write it, and as Kubernetes encodes it.
func writtenForms(secret string) []string {
	forms := []string{secret, unquoted(strconv.Quote(secret)), url.QueryEscape(secret), url.PathEscape(secret),
		strings.TrimPrefix(url.UserPassword("", secret).String(), ":"), base64.StdEncoding.EncodeToString([]byte(secret))}
	if quoted, err := json.Marshal(secret); err == nil {
		forms = append(forms, unquoted(string(quoted)))
	}
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.Compact(forms)
}

func unquoted(s string) string { return s[1 : len(s)-1] }

// URLSecrets are the parts of a URL that must not be printed: user and password, whether it can be parsed or not.
func URLSecrets(address string) []string {
	_, rest, ok := strings.Cut(address, "://")
	if !ok {
		rest = address // somebody forgot the scheme
	}
	at := strings.LastIndexByte(rest, '@')
	if at < 0 {
		return nil
	}
	info := rest[:at]
	secrets := []string{info}
	if _, password, ok := strings.Cut(info, ":"); ok {
		secrets = append(secrets, password)
		if plain, err := url.PathUnescape(password); err == nil {
			secrets = append(secrets, plain)
		}
	}
	return secrets
}

// PublicURL is a server's address without user and password, for printing. An address has no other @.
func PublicURL(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if ok {
		scheme += "://"
	} else {
		scheme, rest = "", address
	}
	if at := strings.LastIndexByte(rest, '@'); at >= 0 {
		rest = Hidden + rest[at:]
	}
	return Redact(scheme + rest)
}

// redactURLs hides what URLs in a text give away.
func redactURLs(text string) string {
	if strings.Contains(text, `invalid port "`) || strings.Contains(text, `invalid URL escape "`) {
		text = brokenURL.ReplaceAllString(text, "$1"+Hidden) // net/url quotes the part of a password that it cannot parse
	}
	var b strings.Builder
	for {
		at := strings.Index(text, "://")
		if at < 0 {
			break
		}
		scheme := at
		for scheme > 0 && isSchemeByte(text[scheme-1]) {
			scheme--
		}
		b.WriteString(text[:at+3])
		quote := byte(0)
		if scheme > 0 {
			quote = text[scheme-1]
		}
		rest := text[at+3:]
		if info := userinfo(text[scheme:at], rest, quote); info > 0 {
			b.WriteString(Hidden)
			rest = rest[info:]
		}
		text = rest
		end := urlEnd(text)
		if strings.ContainsAny(text[:end], "?&;#") { // few URLs in a message have parameters
			b.WriteString(secretParameter.ReplaceAllString(text[:end], "$1"+Hidden))
		} else {
			b.WriteString(text[:end])
		}
		text = text[end:]
	}
	return b.String() + text
}

// brokenURL is what net/url says of a URL that it cannot parse; secretParameter is one of a URL's parameters that is a secret.
var (
	brokenURL       = regexp.MustCompile(`(invalid (?:port|URL escape) )"(?:[^"\\]|\\.)*"`)
	secretParameter = regexp.MustCompile(
		`(?i)([?&;#][^=&;#?]*(?:token|passw|secret|signature|credential|api[-_]?key|access[-_]?key|auth|sig)[^=&;#?]*=)[^&;#]+`)
)

func isSchemeByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '-' || c == '.'
}

// urlEnd is where a URL ends in a text.
func urlEnd(text string) int {
	if i := strings.IndexAny(text, " \t\r\n\"'`<>\\|"); i >= 0 {
		return i
	}
	return len(text)
}

// userinfo is the length of what stands before the @ of an address: user and password. If the password has
// unescaped characters of a URL, the address does not parse, and the last @ counts. quote is the character before the URL.
func userinfo(scheme, rest string, quote byte) int {
	whole := rest[:urlEnd(rest)]
	authority := whole
	if i := strings.IndexAny(authority, "/?#"); i >= 0 {
		authority = authority[:i]
	}
	at := strings.LastIndexByte(authority, '@')
	if at < 0 && !plainAddress.MatchString(authority) {
		if at = strings.LastIndexByte(whole, '@'); at < 0 && quote != 0 && strings.IndexByte("\"'`", quote) >= 0 {
			if end := strings.IndexByte(rest, quote); end >= 0 {
				whole = rest[:end]
				at = strings.LastIndexByte(whole, '@')
			}
		}
	}
	if at < 0 {
		return 0
	}
	// libvirt's qemu+ssh://nova@host says how it connects. A token may be the user of a web address.
	if !strings.Contains(whole[:at], ":") && !strings.HasPrefix(strings.ToLower(scheme), "http") {
		return 0
	}
	return at
}

// plainAddress is a host, with or without a port.
var plainAddress = regexp.MustCompile(`^(?:\[[^\]@]*\]|[^:@\[\]]*)(?::[0-9]*)?$`)

// RedactedError is an error with a redacted text. errors.Is works on its cause; the cause itself cannot be unwrapped, because its text
// is not redacted.
func RedactedError(text string, cause error) error {
	return &redacted{text: Redact(text), cause: cause}
}

type redacted struct {
	text  string
	cause error
}

// Error is the text without secrets.
func (r *redacted) Error() string { return r.text }

// GoString keeps %#v from printing the cause.
func (r *redacted) GoString() string { return r.text }

// Is answers for the cause.
func (r *redacted) Is(target error) bool { return errors.Is(r.cause, target) }

// Secrets are what an adapter logs in with: what it was given, and the tokens since. The zero value has none. Secrets are safe for
// concurrent use.
type Secrets struct {
	mu    sync.Mutex
	given []string
	sent  []string
	forms []string // the spellings of all; nil after a change
}

// keptTokens is how many tokens are remembered: an answer may be about the one before the last.
const keptTokens = 8

// Give adds what the adapter was given.
func (s *Secrets) Give(secrets ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range secrets {
		if !slices.Contains(s.given, secret) {
			s.given, s.forms = append(s.given, secret), nil
		}
	}
}

// Sent remembers what was just sent to a server.
func (s *Secrets) Sent(secret string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if secret == "" || slices.Contains(s.sent, secret) {
		return
	}
	s.forms = nil
	if s.sent = append(s.sent, secret); len(s.sent) > keptTokens {
		s.sent = slices.Delete(s.sent, 0, 1)
	}
}

// Redact takes them out of a text.
func (s *Secrets) Redact(text string) string {
	s.mu.Lock()
	if s.forms == nil {
		s.forms = allForms(slices.Concat(s.given, s.sent))
	}
	forms := s.forms
	s.mu.Unlock()
	return redact(text, forms)
}
