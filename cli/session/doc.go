// Package session runs Lockstep on a cluster, without its screen: it loads the logins, opens the journal and the log, puts the adapters,
// the engine and the operator Lease together, and lets them work until the run is over. What the flags and the configuration say comes as a
// Place; what shows the session takes its Engine.
package session
