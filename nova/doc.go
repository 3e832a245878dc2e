// Package nova stands between OpenStack and core: gophercloud on one side, core's types on the other.
//
// Load finds the credentials, Connect makes a Client that logs in at its first call and again when it has to, a Poller turns what
// the cloud says into Deltas of core (Nova has no watch), and a Writer carries out what the operator confirmed. The package decides
// nothing: it translates, and a core.APIError says what failed, where, and what helps.
//
// The name of a nova-compute host equals the name of its Kubernetes node: MOSK registers each compute service under the
// node's name, so core joins instances to nodes by Instance.Host.
//
// No password, application credential secret or token is ever part of an error, a log line or a printed value.
package nova
