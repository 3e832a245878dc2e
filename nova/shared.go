package nova

import (
	"maps"
	"slices"
	"strings"

	"lockstep/core"
)

// mostShared is how many different texts are remembered, and lists of tags and extra specs as well. A cloud whose instances all have
// tags of their own begins anew after so many.
const mostShared = 1 << 15

// shared makes instances share what repeats among them. 100,000 instances are on some thousand hosts, in some hundred projects, and of
// some ten flavors; each page brings every word of them as a text of its own. The zero value is ready.
type shared struct {
	texts   map[string]string
	tags    map[string][]string
	flavors map[string]*core.Flavor // by name
}

// share replaces texts of an instance that nobody else has seen yet by equal ones. Its ID and name, which are its own, become one text:
// each text is an object that the garbage collector looks at.
func (s *shared) share(i *core.Instance) {
	own := i.ID + i.Name
	i.ID, i.Name = own[:len(i.ID)], own[len(i.ID):]
	for _, t := range []*string{
		&i.ProjectID, &i.UserID, &i.Host, &i.Status, &i.VMState, &i.TaskState, &i.Zone,
	} {
		*t = s.text(*t)
	}
	i.Tags = s.tagsOf(i.Tags)
	i.SharedFlavor = s.flavor(i.SharedFlavor)
}

// flavor is an equal flavor that is there already. An instance keeps the flavor with which it was made: two of one name can differ.
func (s *shared) flavor(f *core.Flavor) *core.Flavor {
	if f == nil {
		return nil
	}
	if known, ok := s.flavors[f.Name]; ok && sameFlavor(known, f) {
		return known
	}
	put(&s.flavors, f.Name, f)
	return f
}

func sameFlavor(a, b *core.Flavor) bool {
	return a.Name == b.Name && a.VCPUs == b.VCPUs && a.RAMMiB == b.RAMMiB && a.DiskGiB == b.DiskGiB && a.MoreGiB == b.MoreGiB &&
		(a.ExtraSpecs == nil) == (b.ExtraSpecs == nil) && maps.Equal(a.ExtraSpecs, b.ExtraSpecs)
}

func (s *shared) text(t string) string {
	if t == "" {
		return ""
	}
	if known, ok := s.texts[t]; ok {
		return known
	}
	put(&s.texts, t, t)
	return t
}

func (s *shared) tagsOf(tags []string) []string {
	if len(tags) == 0 {
		return tags
	}
	key := strings.Join(tags, "\x00")
	if known, ok := s.tags[key]; ok && slices.Equal(known, tags) {
		return known
	}
	tags = slices.Clip(tags)
	put(&s.tags, key, tags)
	return tags
}

func put[V any](m *map[string]V, key string, value V) {
	if *m == nil || len(*m) >= mostShared {
		*m = map[string]V{}
	}
	(*m)[key] = value
}
