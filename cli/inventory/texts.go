package inventory

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"lockstep/cli/pseudonym"
	"lockstep/core/progress"
	"lockstep/sim/scenario"
)

// maintenance renames locks, requests and notices, and replaces names in their texts.
func (p *pseudonyms) maintenance(s *scenario.Scenario, machines map[string]string) {
	f := s.Found
	node := func(name string) string {
		if machine, ok := machines[name]; ok || name == "" {
			return machine
		}
		return p.object("node", name) // a node that is gone, which the texts name as well
	}
	for _, list := range [][]scenario.FoundLock{f.ClusterLocks, f.NodeLocks} {
		for i := range list {
			l := &list[i]
			l.Controller, l.Node = p.controller(l.Controller), node(l.Node)
			l.Name, l.Created = p.composed("lock", l.Name), dayOf(s, l.Created)
		}
	}
	for _, list := range [][]scenario.FoundRequest{f.ClusterRequests, f.NodeRequests} {
		for i := range list {
			r := &list[i]
			r.Node, r.Name = node(r.Node), p.composed("request", r.Name)
			r.Finalizers = slices.DeleteFunc(r.Finalizers, func(name string) bool { return !strings.HasPrefix(name, "lcm.mirantis.com/rockoon.") })
		}
	}
	for _, list := range [][]scenario.FoundNotice{f.Deletions, f.Disablings} {
		for i := range list {
			list[i].Node, list[i].Name = node(list[i].Node), p.composed("notice", list[i].Name)
		}
	}
	for _, list := range [][]scenario.FoundLock{f.ClusterLocks, f.NodeLocks} {
		for i := range list {
			list[i].Message = p.message(list[i].Message)
			if !progressForm.MatchString(list[i].Progress) && list[i].Progress != "" {
				list[i].Progress = pseudonym.LeftOut
			}
		}
	}
	for i := range f.Missing {
		f.Missing[i].Why = kindOf(f.Missing[i].Why)
	}
	for i := range f.Assumed {
		a := &f.Assumed[i]
		a.Why, a.Names = strings.TrimSuffix(a.Why, a.Names), ""
	}
}

// progressForm is the one description of progress that is documented (docs/mosk.md#tungsten-fabric).
var progressForm = regexp.MustCompile(`^\d+ out of \d+ nodes updated$`)

// composed is the pseudonym of an object's name: MOSK's prefix and the pseudonym of what it is about, else a pseudonym of its own.
func (p *pseudonyms) composed(kind, name string) string {
	if made, ok := p.objects[name]; ok {
		return made
	}
	for _, prefix := range []string{"openstack-", "ceph-", "tf-"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			if made, ok := p.objects[rest]; ok {
				return prefix + made
			}
		}
	}
	if name == "ceph-clusterworkloadlock" {
		return name
	}
	return p.Name(kind, name)
}

// message is a lock's text without names. In the known texts of the OpenStack controller, names and IDs are replaced and other
// servers' words are left out. Any other text may say anything, and is replaced.
func (p *pseudonyms) message(text string) string {
	if text == "" {
		return ""
	}
	m := progress.ReadLockMessage(text)
	if m.Class == progress.MessageUnknown || m.ID == "" {
		return pseudonym.LeftOut
	}
	for _, foreign := range []string{"error: ", "migrate server "} {
		head, tail, found := strings.Cut(text, foreign)
		if !found {
			continue
		}
		if foreign == "migrate server " {
			id, _, said := strings.Cut(tail, ": ")
			if said {
				text = head + foreign + id + ": " + pseudonym.LeftOut
			}
			continue
		}
		text = head + foreign + pseudonym.LeftOut
	}
	return p.inText(text)
}

// uuids are IDs within texts; those of nodes called kaas-node-<uuid> among them.
var uuids = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// inText replaces the IDs within a text, and the names of nodes, the only names that the OpenStack controller writes.
func (p *pseudonyms) inText(text string) string {
	words := uuids.Split(text, -1)
	ids := uuids.FindAllString(text, -1)
	var out strings.Builder
	for i, word := range words {
		for _, name := range slices.SortedFunc(maps.Keys(p.objects), longestFirst) {
			word = withName(word, name, p.objects[name])
		}
		out.WriteString(word)
		if i < len(ids) {
			out.WriteString(p.ID(ids[i]))
		}
	}
	return out.String()
}

// withName is a text with another name. A short name counts only where it is a whole word: it can be a part of any other.
func withName(text, name, made string) string {
	if len(name) > 3 {
		return strings.ReplaceAll(text, name, made)
	}
	inWord := func(r rune, size int) bool { return size > 0 && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
	var out strings.Builder
	for done := 0; ; {
		at := strings.Index(text[done:], name)
		if name == "" || at < 0 {
			out.WriteString(text[done:])
			return out.String()
		}
		from, to := done+at, done+at+len(name)
		out.WriteString(text[done:from])
		if inWord(utf8.DecodeLastRuneInString(text[:from])) || inWord(utf8.DecodeRuneInString(text[to:])) {
			out.WriteString(name)
		} else {
			out.WriteString(made)
		}
		done = to
	}
}

func longestFirst(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }

// kindOf is the kind in an error's text, the part without names. The texts are "call: kind: the server's words".
func kindOf(why string) string {
	parts := strings.SplitN(why, ": ", 3)
	if len(parts) < 2 {
		return pseudonym.LeftOut
	}
	return parts[1]
}
