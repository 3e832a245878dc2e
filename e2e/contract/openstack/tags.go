package openstack

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// tagsOf returns the server's tags.
func (s *server) tagsOf() []string {
	s.Helper()
	got, _ := s.ask("2.26", "/tags").is(200).at("tags").([]any)
	all := []string{}
	for _, tag := range got {
		all = append(all, text(tag))
	}
	return all
}

func (s *server) wantTags(want ...string) {
	s.Helper()
	if got := s.tagsOf(); !slices.Equal(got, want) {
		s.Errorf("tags %q, want %q", got, want)
	}
}

func (s *server) tag(method, tag string) *answer {
	s.Helper()
	return s.compute("2.26", method, "/servers/"+s.ID+"/tags/"+tag, nil)
}

func (s *server) replaceTags(tags any) *answer {
	s.Helper()
	return s.compute("2.26", http.MethodPut, "/servers/"+s.ID+"/tags", object{"tags": tags})
}

var tagCases = []testCase{
	{"one tag is added once, looked for and removed", func(d *desk) {
		s := d.boot(d.room(), order{})
		a := s.tag(http.MethodPut, "alpha").is(201)
		if want := "/servers/" + s.ID + "/tags/alpha"; !strings.HasSuffix(a.header.Get("Location"), want) {
			d.Errorf("Location %q, want one that ends in %s", a.header.Get("Location"), want)
		}
		s.tag(http.MethodPut, "alpha").is(204)
		s.tag(http.MethodGet, "alpha").is(204)
		s.wantTags("alpha")
		s.tag(http.MethodGet, "beta").refused(404, "Server %s has no tag 'beta'", s.ID)
		s.tag(http.MethodDelete, "beta").refused(404, "Instance %s has no tag 'beta'", s.ID)
		s.tag(http.MethodDelete, "alpha").is(204)
		s.wantTags()
	}},
	{"a maintenance tag of MOSK is a tag", func(d *desk) {
		const tag = "openstack.lcm.mirantis.com:maintenance_action=live_migrate"
		s := d.boot(d.room(), order{})
		s.tag(http.MethodPut, tag).is(201)
		s.wantTags(tag)
	}},
	{"all tags are replaced, sorted and without doubles, and removed", func(d *desk) {
		s := d.boot(d.room(), order{})
		a := s.replaceTags([]string{"b", "a", "b"}).is(200)
		if got, _ := a.at("tags").([]any); !slices.Equal(got, []any{"a", "b"}) {
			d.Errorf("tags %v", got)
		}
		s.replaceTags([]string{"c"}).is(200)
		s.wantTags("c")
		s.compute("2.26", http.MethodDelete, "/servers/"+s.ID+"/tags", nil).is(204)
		s.wantTags()
	}},
	{"there are 50 tags at most", func(d *desk) {
		s := d.boot(d.room(), order{})
		var many []string
		for i := range 51 {
			many = append(many, fmt.Sprintf("t%02d", i))
		}
		quoted := "['" + strings.Join(many, "', '") + "']"
		s.replaceTags(many).refused(400, "Invalid input for field/attribute tags. Value: %s. %s is too long", quoted, quoted)
		s.wantTags()
		s.replaceTags(many[:50]).is(200)
		s.wantTags(many[:50]...)
		s.tag(http.MethodPut, "one-more").refused(400, "The number of tags exceeded the per-server limit 50")
	}},
	{"a tag that is none is refused", func(d *desk) {
		s := d.boot(d.room(), order{})
		long := strings.Repeat("x", 61)
		const invalid = "Tag '%s' is invalid. It must be a non empty string without characters '/' and ','. Validation error message: '%s' "
		s.tag(http.MethodPut, long).refused(400, invalid+"is too long", long, long)
		s.tag(http.MethodPut, "a,b").refused(400, invalid+"does not match '^[^,/]*$'", "a,b", "a,b")
		s.tag(http.MethodPut, long[:60]).is(201)
		s.wantTags(long[:60])
		for bad, complaint := range map[string]string{"a/b": "'a/b' does not match '^[^,/]*$'", "": "'' is too short",
			long: "'" + long + "' is too long"} {
			s.replaceTags([]string{bad}).refused(400, "Invalid input for field/attribute 0. Value: %s. %s", bad, complaint)
		}
		s.replaceTags("a").refused(400, "Invalid input for field/attribute tags. Value: a. 'a' is not of type 'array'")
		s.replaceTags([]int{1}).refused(400, "Invalid input for field/attribute 0. Value: 1. 1 is not of type 'string'")
		s.compute("2.26", http.MethodPut, "/servers/"+s.ID+"/tags", object{}).refused(400, "'tags' is a required property")
		s.wantTags(long[:60])
	}},
	{"tags that differ in case only are one, as Nova's database compares", func(d *desk) {
		s := d.boot(d.room(), order{})
		s.tag(http.MethodPut, "alpha").is(201)
		s.tag(http.MethodPut, "ALPHA").is(201)
		if got := s.tagsOf(); len(got) != 1 {
			d.Errorf("tags %q, want one", got)
		}
	}},
	{"one maintenance tag of MOSK takes another's place in one call, and the other tags stay", func(d *desk) {
		const action = "openstack.lcm.mirantis.com:maintenance_action="
		s := d.boot(d.room(), order{})
		s.replaceTags([]string{"backup=daily", action + "notify"}).is(200)
		s.replaceTags([]string{"backup=daily", action + "poweroff"}).is(200)
		s.wantTags("backup=daily", action+"poweroff")
	}},
	{"the tags of a server in ERROR stay as they are", func(d *desk) {
		s := d.boot(d.room(), order{})
		s.act("2.1", "os-resetState", object{"state": "error"}).is(202)
		s.settles("ERROR")
		s.replaceTags([]string{"late"}).refused(409, inState, "update tags", s.ID, "error")
	}},
	{"the tags of a server that waits for a confirmation stay as they are", func(d *desk) {
		s := d.boot(d.room(), order{})
		s.act("2.1", "migrate", nil).is(202)
		s.settles("VERIFY_RESIZE")
		s.tag(http.MethodPut, "late").refused(409, inState, "update tag", s.ID, "resized")
		s.tag(http.MethodDelete, "late").refused(409, inState, "delete tag", s.ID, "resized")
		s.replaceTags([]string{"late"}).refused(409, inState, "update tags", s.ID, "resized")
	}},
}
