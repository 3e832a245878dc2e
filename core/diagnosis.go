package core

// DiagnosisID names a row of the table of causes. It is written into documents that scripts read, and never changes.
type DiagnosisID string

// Diagnosis is what is known of why something does not go on: the row of the table of causes that fits an entry, as it was read.
type Diagnosis struct {
	ID        DiagnosisID
	Cause     string // why it does not go on, in one or two sentences
	Remedy    string // what to do
	Forbidden string // what must not be done, and why; empty: nothing is known to be forbidden
	At        string // the sections of the document on MOSK that it is from: "#trouble, #finalizers"
	Issue     string // the numbers of the known issue in the release notes; empty: it is none
	// Scenarios are those of the simulated cloud that have it, its own first.
	Scenarios []string
}
