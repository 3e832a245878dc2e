package controller

import "time"

// Timing holds every duration of the controllers, in virtual time. A zero field takes its default: what a real cluster
// needs or, if docs/mosk.md#timers names one, the controller's own constant. A negative field means none.
type Timing struct {
	Backoff time.Duration // after a failed API call without a retry rule of its own; default 5 s

	// LCM
	StartDelay     time.Duration // from start to the ClusterMaintenanceRequest; default 30 s
	RockoonRollout time.Duration // from the request to the new OpenStack controller, which LCM's Helm brings; default 2 min
	Drain          time.Duration // between two looks at the pods left on a node; default 10 s
	PodGrace       time.Duration // an evicted pod's time to end; default 20 s
	Update         time.Duration // LCM agent and its states on a node; default 10 min
	Reboot         time.Duration // machine off until its kubelet posts again; default 6 min
	Finalize       time.Duration // the last phase, all other applications; default 15 min

	AgentUpgrade time.Duration // of the LCM agent of a machine; default 30 s
	ItemRetry    time.Duration // from the failure of a state item until its retry; default 1 min
	StuckAfter   time.Duration // until LCM reports that a node does not return; default 10 min
	PlanLook     time.Duration // between two looks at the update plan when nothing changes; default 30 s

	// kubelet
	Heartbeat time.Duration // between two posts of an unchanged node status; default 5 min
	NodeGrace time.Duration // from the last post until the node is Unknown; default 40 s
	PodStart  time.Duration // from a pod's creation, or its node's return, until the pod is ready; default 45 s

	// OpenStack controller
	Retry          time.Duration // kopf's TemporaryError; default 60 s
	MigrateStart   time.Duration // after each call of live migration; default 5 s
	MigrateWait    time.Duration // while the maximum number of instances migrates; default 30 s
	MigrateLoop    time.Duration // after each round of the migration loop; default 5 s
	ReturnPoll     time.Duration // between two looks at node, pods and services on return; default 10 s
	ServicesUp     time.Duration // wait for compute services and for agents at most; default 300 s
	ServiceHealthy time.Duration // wait for one OpenStack service to be healthy at most; default 1200 s
	ServiceUpdate  time.Duration // apply one OpenStack service; default 100 s
	RockoonStart   time.Duration // from the start of a new pod until it begins to apply the deployment; default 75 s
	HealthPeriod   time.Duration // between two looks at the health of all workloads; default 60 s
	CleanupPoll    time.Duration // between two looks at the services of a host that is gone; default 30 s
	Tempest        time.Duration // a run of Tempest's tests; default 40 min

	// Ceph and Tungsten Fabric
	CephUpdate  time.Duration // cluster-wide update of the daemons; default 7 min, within the 8 m 30 s of a plan's step
	CephNode    time.Duration // set or unset noout and wait for placement groups; default 20 s
	FabricReact time.Duration // look at the vRouter of a node; default 10 s
}

// withDefaults fills the zero fields and turns negative ones into none.
func (t Timing) withDefaults() Timing {
	set := func(field *time.Duration, value time.Duration) {
		switch {
		case *field == 0:
			*field = value
		case *field < 0:
			*field = 0
		}
	}
	set(&t.Backoff, 5*time.Second)
	set(&t.StartDelay, 30*time.Second)
	set(&t.RockoonRollout, 2*time.Minute)
	set(&t.Drain, 10*time.Second)
	set(&t.PodGrace, 20*time.Second)
	set(&t.Update, 10*time.Minute)
	set(&t.Reboot, 6*time.Minute)
	set(&t.Finalize, 15*time.Minute)
	set(&t.AgentUpgrade, 30*time.Second)
	set(&t.ItemRetry, time.Minute)
	set(&t.StuckAfter, 10*time.Minute)
	set(&t.PlanLook, 30*time.Second)
	set(&t.Heartbeat, 5*time.Minute)
	set(&t.NodeGrace, 40*time.Second)
	set(&t.PodStart, 45*time.Second)
	set(&t.Retry, time.Minute)
	set(&t.MigrateStart, 5*time.Second)
	set(&t.MigrateWait, 30*time.Second)
	set(&t.MigrateLoop, 5*time.Second)
	set(&t.ReturnPoll, 10*time.Second)
	set(&t.ServicesUp, 300*time.Second)
	set(&t.ServiceHealthy, 1200*time.Second)
	set(&t.ServiceUpdate, 100*time.Second)
	set(&t.RockoonStart, 75*time.Second)
	set(&t.HealthPeriod, time.Minute)
	set(&t.CleanupPoll, 30*time.Second)
	set(&t.Tempest, 40*time.Minute)
	set(&t.CephUpdate, 7*time.Minute)
	set(&t.CephNode, 20*time.Second)
	set(&t.FabricReact, 10*time.Second)
	return t
}
