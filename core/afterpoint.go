package core

import "lockstep/core/wording"

// AfterPoint is one point of the checklist after an update. It is derived from what is known, and done when the cluster says so.
type AfterPoint struct {
	ID      string
	Title   string // a sentence that is true when nothing is left: "no node is cordoned"
	Why     string
	Open    []Left // what is left, by name; none when the point is done
	Note    string // worth knowing although nothing is left; may be empty
	Unknown string // why it is not known; empty when it is

	// Pods is the UID of the DaemonSet whose old pods the point is about; empty for other points.
	Pods string
}

// Left is one thing that is left of a point.
type Left struct {
	Of  string // the node, instance or object, by name
	How string // how it is left: "inactive"; empty: as the point says
	ID  string // what tells it from another of that name; empty: its name does
}

// Text is "cmp-01 (inactive)".
func (l Left) Text() string { return l.Of + wording.InBrackets(l.How) }

// Lefts are things that are left, by their names alone.
func Lefts(names []string) []Left {
	out := make([]Left, len(names))
	for i, name := range names {
		out[i].Of = name
	}
	return out
}

// OpenTexts are the texts of what is left.
func (p AfterPoint) OpenTexts() []string {
	out := make([]string, len(p.Open))
	for i, l := range p.Open {
		out[i] = l.Text()
	}
	return out
}

// Done tells whether nothing is left of the point.
func (p AfterPoint) Done() bool { return p.Unknown == "" && len(p.Open) == 0 }
