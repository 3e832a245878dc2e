// Package openstack is a simulated OpenStack cloud: Keystone, Nova, Neutron and a little of Placement over real HTTP on
// loopback, with state in memory. It speaks well enough for gophercloud and python-openstackclient, and behaves as the
// real Nova does where an operator can see it: microversions, paging, task states, queued live migrations, conflicts and
// their texts, policy refusals, services that go down some time after their host.
//
// Everything that happens in the cloud (a migration's progress, a service's last report, the timestamps) is told by the
// virtual clock of lockstep/sim/clock and is a function of that clock and of the seed: the state is brought up to date
// whenever somebody looks. Tokens alone live by the wall's clock, because clients compare their expiry with it.
//
// A scenario seeds the cloud with AddProject, AddUser, AddFlavor, AddHost, AddGateway, AddController and AddServer; the
// simulated machines tell it of power with PowerOffHost and PowerOnHost; tests steer it with SetFault, Outage,
// ExpireTokens and SetBehaviour and read back what clients sent with Requests.
package openstack
