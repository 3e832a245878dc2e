package openstack

import (
	"net/http"
	"slices"
	"strings"
)

const maxTags = 50 // per server, as in Nova

// taggable is the server of the path in a state in which its tags may change.
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

func goodTag(tag string) bool { return tag != "" && len(tag) <= 60 && !strings.ContainsAny(tag, "/,") }

func addTag(k *call) reply {
	s, no := k.taggable("update tag")
	if no != nil {
		return *no
	}
	tag := k.r.PathValue("tag")
	switch {
	case !goodTag(tag) && len(tag) > 60:
		return badRequest("Tag '%s' is invalid. It must be a non empty string without characters '/' and ','. Validation error message: '%s' is too long", tag, tag)
	case !goodTag(tag):
		return badRequest("Tag '%s' is invalid. It must be a non empty string without characters '/' and ','. Validation error message: '%s' does not match '^[^,/]*$'", tag, tag)
	case slices.Contains(s.tags, tag):
		return reply{status: http.StatusNoContent}
	case len(s.tags) >= maxTags:
		return badRequest("The number of tags exceeded the per-server limit %d", maxTags)
	}
	s.tags = append(s.tags, tag)
	s.updated = k.now
	return reply{status: http.StatusCreated}.with("Location", k.base+"/v2.1/servers/"+s.id+"/tags/"+tag)
}

func replaceTags(k *call) reply {
	s, no := k.taggable("update tags")
	if no != nil {
		return *no
	}
	var body struct {
		Tags []string `json:"tags"`
	}
	if no := k.decode(&body); no != nil {
		return *no
	}
	for _, t := range body.Tags {
		if !goodTag(t) {
			return badRequest("Invalid input for field/attribute tags. Value: %s. '%s' does not match '^[^,/]*$'", t, t)
		}
	}
	if len(body.Tags) > maxTags {
		return badRequest("Invalid input for field/attribute tags. Value: %v. %v is too long", body.Tags, body.Tags)
	}
	slices.Sort(body.Tags)
	s.tags, s.updated = slices.Compact(body.Tags), k.now
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
	s.tags, s.updated = slices.Delete(slices.Clone(s.tags), i, i+1), k.now
	return reply{status: http.StatusNoContent}
}

func deleteTags(k *call) reply {
	s, no := k.taggable("delete tags")
	if no != nil {
		return *no
	}
	s.tags, s.updated = nil, k.now
	return reply{status: http.StatusNoContent}
}
