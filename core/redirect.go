package core

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
)

// OnlyReadsThere is how requests with a login follow redirections (http.Client.CheckRedirect): reads only, as a redirected write would
// become a read, whose answer says nothing about the write; and only on the server that was asked, as the login goes with the request.
func OnlyReadsThere(to *http.Request, via []*http.Request) error {
	first := via[0]
	if first.Method != http.MethodGet && first.Method != http.MethodHead || len(via) >= 10 || !sameServer(first.URL, to.URL) {
		return http.ErrUseLastResponse
	}
	return nil
}

// sameServer tells whether two addresses are those of one server. One that asks for TLS is still the same.
func sameServer(asked, to *url.URL) bool {
	if !strings.EqualFold(asked.Hostname(), to.Hostname()) {
		return false
	}
	return asked.Scheme == "http" && to.Scheme == "https" || asked.Scheme == to.Scheme && portOf(asked) == portOf(to)
}

func portOf(u *url.URL) string {
	return cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
}
