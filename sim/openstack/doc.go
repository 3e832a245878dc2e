// Package openstack is a simulated OpenStack cloud: Keystone, Nova, Neutron and a little of Placement over real HTTP on
// loopback, with state in memory. It works with gophercloud and python-openstackclient, and behaves like the real Nova
// wherever an operator can see it: microversions, paging, task states, queued live migrations, conflicts and their
// texts, policy refusals, services that go down some time after their host.
//
// Everything in the cloud (a migration's progress, a service's last report, the timestamps) is a function of the
// virtual clock of lockstep/sim/clock and of the seed: the state is updated with every access. Only tokens use real
// time, because clients compare their expiry with it.
//
// A scenario seeds the cloud with AddProject, AddUser, AddFlavor, AddHost, AddGateway, AddController and AddServer; the
// simulated machines report power with PowerOffHost and PowerOnHost; tests control it with SetFault, Outage,
// ExpireTokens and SetBehaviour and read back what clients sent with Requests.
package openstack
