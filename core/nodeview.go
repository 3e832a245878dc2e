package core

// NodeView is a node with all that is derived for it.
type NodeView struct {
	Name   string    // the node's name
	Label  string    // the name people use
	Node   *Node     // nil when locks or requests name a node that the cluster does not have
	Group  RoleGroup // by its roles; GroupOthers without a node
	Stage  Stage
	Since  Since
	Reason string // why it is in this stage, in one line: the evidence
	What   string // what happens there now, short: "6 of 15 moved", "ovs agent down", "2 live, 1 notify"
	Open   bool   // what has been asked for and has not come yet can make it another stage: no transition is told by it

	Mode        MigrationMode // as set, ModeLive when not set; may be a value that Rockoon does not know
	ModeSet     bool          // the annotation is there
	ModeCounts  bool          // it is used: by the OpenStack controller on a compute, or by Lockstep in its place
	Attempts    int           // DefaultMigrationAttempts when not set or not a number
	AttemptsRaw string        // the annotation as it stands; empty when not set
	Request     *MaintenanceRequest
	Locks       []*WorkloadLock
	Instances   int // on the host; -1 when not known
	Blocking    int // instances that hold the lock; -1 when not known
	Moving      int // migrations under way from it
	MovedFrom   int // how many were on it when its maintenance began; 0 when not known
	Service     *ComputeService
	Round       Round    // its newest maintenance, by the History; zero when none was seen
	BadAttempts string   // what is wrong with its migration attempts, also in Problems; empty when nothing is
	Problems    []string // inconsistencies: no lock, a lock without a node, an unknown mode …
}

// Active tells whether something happens on the node now, or is held up.
func (v *NodeView) Active() bool {
	return v.Stage != StageIdle && v.Stage != StageDone
}
