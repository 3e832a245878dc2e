package core

func phasesOf(s *Snapshot) []Phase        { return nil }
func nodeViewsOf(s *Snapshot) []NodeView  { return nil }
func attentionOf(s *Snapshot) []Attention { return nil }

// Update is the update that runs, or ran last, as a whole.
func (s *Snapshot) Update() Update { return Update{} }

// InstanceViews are the instances of the node, those that block its lock first, then by name.
func (s *Snapshot) InstanceViews(node string) []InstanceView { return nil }

// InstanceView is the view of one instance; false when it is not known.
func (s *Snapshot) InstanceView(id string) (InstanceView, bool) { return InstanceView{}, false }

// ReadLockMessage reads an errorMessage by the table of literals.
func ReadLockMessage(text string) LockMessage { return LockMessage{Raw: text} }

// Plan makes the step of an intent from what is known now: its guards evaluated, its commands written out, its basis
// taken down. It is pure, and total: an intent on something that is not there is a step with a guard that does not hold.
func Plan(s *Snapshot, i Intent) Step { return Step{Intent: i} }

// Procedure computes the procedure from what is known now; false when its subject is not known.
func (s *Snapshot) Procedure(key ProcedureKey) (Procedure, bool) { return Procedure{}, false }
