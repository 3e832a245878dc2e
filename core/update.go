package core

// Update is the whole of a cluster update, for a header.
type Update struct {
	Known   bool // whether an update runs is known
	Running bool
	ByHand  bool   // a maintenance that an operator requested; not an LCM update
	Beside  string // what the request is for if not for an update: "maintenance mode", "a graceful reboot"; else empty
	From    string // release; empty when unknown
	To      string // release; empty when unknown
	Started Since
	EndSeen bool  // it has ended, and Lockstep saw its end
	Phase   Phase // the phase that runs; the last one when all are done
	Nodes   int   // nodes that the update goes through
	Done    int   // of them, those that are done; all of them once the update is over
	Moving  int   // nodes in maintenance now that go on by themselves
	Waiting int   // nodes in maintenance that wait for the operator
}
