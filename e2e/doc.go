// Package e2e tests Lockstep from the outside: against a real kube-apiserver, in an emulated terminal, and by what the servers
// say they received. It is a module of its own, which keeps the dependencies of these tests out of the program's go.mod.
//
//	build          compiles the kube-apiserver, the program, kubectl, k9s and Alertmanager
//	programs       does so from the command line: go run ./programs
//	child          processes that die with the test
//	cluster        a kube-apiserver with etcd, its users, and its audit log; a pool of them, which lends each to one test at a time
//	contract       what real and simulated servers both have to do
//	kubeapiserver  the API server: one binary, in a module of its own; kubectl, too
//	k9s            the versions that k9s is compiled with
//	alertmanager   the version of Alertmanager, in a module of its own
//	stacklight     a real Alertmanager and what stands for the rest of StackLight
//	openstack      the tests with a real OpenStack, and the scripts that bring it up: openstack/run
//	operator       somebody at the program, by its keys, its screen and its journal
//	shells         completion in bash, zsh and fish
//	jobcontrol     the program suspended and continued by a shell
//	terminal       a pseudo-terminal and its emulated screen
//	picture        a screen as an image
//	tools          kubectl and k9s on the simulated cloud
//	shots          takes pictures: go run ./shots -help
//	bench          measures what an operator feels: go run ./bench -help
//
// The stories of this package drive the real binary against an API server of their own, from the pool, and a simulated OpenStack
// (world_test.go, program_test.go), and judge it by its screen, by what both servers received, and by its journal. With
// LOCKSTEP_RACE=1 the binary is built with the race detector.
//
// The first run compiles Kubernetes, which takes about 3 minutes on two cores and 2 GB of memory. After that a cluster is ready
// in 2 seconds and takes 300 MB.
package e2e
