package core

// NamespaceRedis is where Redis runs for OpenStack (Rockoon's OSCTL_REDIS_NAMESPACE).
const NamespaceRedis = "openstack-redis"

// StatefulSet is what Lockstep keeps of a StatefulSet (apps/v1). Its ready pods are counted, because the
// count depends on the node in question.
type StatefulSet struct {
	Meta
	Replicas int    // spec.replicas
	Selector string // its pods' label selector, as the API writes it
}
