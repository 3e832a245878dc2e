package core

// AfterPoint is one point of the list of what there is to see to once an update is over: derived from what is known, and
// done when the cluster says so.
type AfterPoint struct {
	ID      string
	Title   string // as a sentence that is true when nothing is left: "no node is cordoned"
	Why     string
	Open    []string // what is left, by name; none when the point is done
	Note    string   // what is worth knowing though nothing is left; may be empty
	Unknown string   // why it cannot be told; empty when it can

	// Pods is the DaemonSet's UID of a point about old pods.
	Pods string
}

// Done tells whether nothing is left of the point.
func (p AfterPoint) Done() bool { return p.Unknown == "" && len(p.Open) == 0 }
