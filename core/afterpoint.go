package core

// AfterPoint is one point of the checklist after an update. It is derived from what is known, and done when the cluster says so.
type AfterPoint struct {
	ID      string
	Title   string // a sentence that is true when nothing is left: "no node is cordoned"
	Why     string
	Open    []string // what is left, by name; none when the point is done
	Note    string   // worth knowing although nothing is left; may be empty
	Unknown string   // why it is not known; empty when it is

	// Pods is the UID of the DaemonSet whose old pods the point is about; empty for other points.
	Pods string
}

// Done tells whether nothing is left of the point.
func (p AfterPoint) Done() bool { return p.Unknown == "" && len(p.Open) == 0 }
