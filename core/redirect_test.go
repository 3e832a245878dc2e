package core

import (
	"net/http"
	"testing"
)

// A login is sent to the server that it is for, and to no other that this one names.
func TestALoginFollowsNoRedirectionElsewhere(t *testing.T) {
	for _, tt := range []struct {
		method, asked, to string
		follows           bool
	}{
		{"GET", "https://api.example:6443/api", "https://api.example:6443/api/", true},
		{"HEAD", "https://api.example:6443/api", "https://api.example:6443/api/", true},
		{"GET", "http://nova.example/v2.1", "https://nova.example/v2.1/", true},
		{"GET", "https://nova.example:443/v2.1", "https://Nova.example/v2.1/", true},
		{"GET", "https://nova.example/v2.1", "http://nova.example/v2.1/", false},
		{"GET", "https://api.example:6443/api", "https://elsewhere.example:6443/api", false},
		{"GET", "https://api.example:6443/api", "https://api.example:8443/api", false},
		{"GET", "https://api.example/api", "https://api.example.org/api", false},
		{"POST", "https://api.example/api", "https://api.example/api/", false},
	} {
		asked, err := http.NewRequest(tt.method, tt.asked, nil)
		if err != nil {
			t.Fatal(err)
		}
		to, err := http.NewRequest(http.MethodGet, tt.to, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := OnlyReadsThere(to, []*http.Request{asked}); (err == nil) != tt.follows {
			t.Errorf("%s %s to %s: %v", tt.method, tt.asked, tt.to, err)
		}
	}
}
