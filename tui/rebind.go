package tui

import (
	"fmt"
	"slices"
	"strings"
)

// reserved are the keys that terminals, multiplexers and shells use themselves, or that look like other keys.
var reserved = strings.Fields("ctrl+a ctrl+b ctrl+s ctrl+q ctrl+z ctrl+i ctrl+m ctrl+[ ctrl+h ctrl+j shift+enter")

// Rebind replaces the keys of actions, by ID; an empty list leaves an action to the palette. It fails on an unknown ID, on a
// reserved key, and where two actions of one scope would have the same key.
func Rebind(actions []Action, keys map[string][]string) ([]Action, error) {
	out := slices.Clone(actions)
	for id, own := range keys {
		i := slices.IndexFunc(out, func(a Action) bool { return a.ID == id })
		if i < 0 {
			return nil, fmt.Errorf("keys: there is no action %q", id)
		}
		for _, k := range own {
			if slices.Contains(reserved, k) {
				return nil, fmt.Errorf("keys: %s: %s is reserved: terminals use it themselves", id, k)
			}
		}
		out[i].Keys = slices.Clone(own)
	}
	type place struct {
		scope Scope
		key   string
	}
	taken := make(map[place]string)
	for _, a := range out {
		for _, k := range a.Keys {
			if other := taken[place{a.Scope, k}]; other != "" {
				return nil, fmt.Errorf("keys: %s: %s and %s have the same key %s", a.Scope, other, a.ID, k)
			}
			taken[place{a.Scope, k}] = a.ID
		}
	}
	return out, nil
}
