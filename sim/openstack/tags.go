package openstack

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

const maxTags = 50 // per server, as in Nova

// Tags are in a table of their own: a change of them is no change of the server for changes-since, and moves no updated.

// taggable returns the server in the path, if its state allows changes of its tags.
func (k *call) taggable(what string) (*server, *reply) {
	s, no := k.findServer()
	if no != nil {
		return nil, no
	}
	switch s.vm {
	case vmActive, vmPaused, vmSuspended, vmStopped:
		return s, nil
	}
	r := conflict("Cannot '%s' instance %s while it is in vm_state %s", what, s.id, s.vm)
	return nil, &r
}

func listTags(k *call) reply {
	s, no := k.findServer()
	if no != nil {
		return *no
	}
	return ok(object{"tags": tagsView(s)})
}

func showTag(k *call) reply {
	s, no := k.findServer()
	if no != nil {
		return *no
	}
	if tag := k.r.PathValue("tag"); !slices.Contains(s.tags, tag) {
		return missing("Server %s has no tag '%s'", s.id, tag)
	}
	return reply{status: http.StatusNoContent}
}

var (
	tagProperty  = lengthOf(1, 60, regexp.MustCompile(`^[^,/]*$`))
	tagsProperty = listOf(maxTags, tagProperty)
)

// addTag is PUT of one tag. Nova treats tags that differ only in case as two, but its database treats them as one and
// keeps the first.
func addTag(k *call) reply {
	s, no := k.taggable("update tag")
	if no != nil {
		return *no
	}
	tag := k.r.PathValue("tag")
	raw, err := json.Marshal(tag)
	if err != nil {
		return badRequest("Tag is invalid")
	}
	if no := tagProperty(raw); no != nil {
		return badRequest("Tag '%s' is invalid. It must be a non empty string without characters '/' and ','. Validation error message: '%s' %s",
			tag, tag, no.text)
	}
	switch {
	case len(s.tags) >= maxTags:
		return badRequest("The number of tags exceeded the per-server limit %d", maxTags)
	case slices.Contains(s.tags, tag):
		return reply{status: http.StatusNoContent}
	}
	if !slices.ContainsFunc(s.tags, func(has string) bool { return strings.EqualFold(has, tag) }) {
		s.tags = append(slices.Clone(s.tags), tag)
		slices.Sort(s.tags)
	}
	return reply{status: http.StatusCreated}.with("Location", k.base+"/v2.1/servers/"+s.id+"/tags/"+tag)
}

func replaceTags(k *call) reply {
	args, no := schema{properties: map[string]property{"tags": tagsProperty}, order: []string{"tags"}, required: []string{"tags"}}.check("",
		k.body)
	if no != nil {
		return *no
	}
	s, no := k.taggable("update tags")
	if no != nil {
		return *no
	}
	var tags []string
	_ = json.Unmarshal(args["tags"], &tags) // the schema has checked it
	slices.Sort(tags)
	s.tags = slices.Compact(tags)
	return ok(object{"tags": tagsView(s)})
}

func deleteTag(k *call) reply {
	s, no := k.taggable("delete tag")
	if no != nil {
		return *no
	}
	tag := k.r.PathValue("tag")
	i := slices.Index(s.tags, tag)
	if i < 0 {
		return missing("Instance %s has no tag '%s'", s.id, tag)
	}
	s.tags = slices.Delete(slices.Clone(s.tags), i, i+1)
	return reply{status: http.StatusNoContent}
}

func deleteTags(k *call) reply {
	s, no := k.taggable("delete tags")
	if no != nil {
		return *no
	}
	s.tags = nil
	return reply{status: http.StatusNoContent}
}
