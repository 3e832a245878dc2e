package controller

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/gophercloud/gophercloud/v2/openstack/compute/v2/servers"
	"github.com/gophercloud/gophercloud/v2/pagination"
)

// A page of servers goes on where gophercloud's own page does, and is as empty.
func TestAPageOfServersGoesOnAsGophercloudsDoes(t *testing.T) {
	for _, body := range []string{
		`{"servers": []}`,
		`{"servers": [{"id": "a"}]}`,
		`{"servers": [{"id": "a"}], "servers_links": []}`,
		`{"servers": [{"id": "a"}], "servers_links": [{"rel": "previous", "href": "http://nova/before"}]}`,
		`{"servers": [{"id": "a"}], "servers_links": [{"rel": "previous", "href": "http://nova/0"}, {"rel": "next", "href": "http://nova/2"}]}`,
	} {
		var content any
		if err := json.Unmarshal([]byte(body), &content); err != nil {
			t.Fatal(err)
		}
		var r pagination.PageResult
		r.Body, r.StatusCode = content, 200
		own, theirs := asServersPage(r), servers.ServerPage{LinkedPageBase: pagination.LinkedPageBase{PageResult: r}}
		next, err := own.NextPageURL()
		want, wantErr := theirs.NextPageURL()
		if next != want || err != nil || wantErr != nil {
			t.Errorf("%s goes on at %q (%v), and gophercloud's at %q (%v)", body, next, err, want, wantErr)
		}
		empty, err := own.IsEmpty()
		wantEmpty, wantErr := theirs.IsEmpty()
		if empty != wantEmpty || err != nil || wantErr != nil {
			t.Errorf("%s is empty: %t (%v), and gophercloud's: %t (%v)", body, empty, err, wantEmpty, wantErr)
		}
	}
	for _, content := range []any{nil, "a page of HTML", map[string]any{"servers": nil}, map[string]any{"computeFault": map[string]any{}}} {
		var r pagination.PageResult
		r.Body = content
		if _, err := asServersPage(r).IsEmpty(); err == nil || !strings.Contains(err.Error(), "no servers") {
			t.Errorf("%v is taken for a list of servers: %v", content, err)
		}
	}
}
