"""nova-compute, as its package starts it, with the driver of steerable.py, for one host or several.

    nova-compute.py ETC LOG PIDS HOST...

Most of what a start takes is to load what nova-compute is made of. That is done once; then each host gets a process and a session of
its own, with its log in LOG, and in PIDS the file that processes.sh reads.

Nova loads drivers from nova.virt only (compute_driver = steerable.SteerableDriver): so the module is found under that name.
"""
import os
import sys

from nova.cmd.compute import main  # has to be first: it patches the standard library

import importlib.util

import eventlet.hubs

# What nova-compute loads when it starts.
import nova.compute.manager
import nova.image.glance
import nova.network.neutron
import nova.virt.fake
import oslo_messaging._drivers.impl_rabbit


class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == 'nova.virt.steerable':
            here = os.path.dirname(os.path.abspath(__file__))
            return importlib.util.spec_from_file_location(name, os.path.join(here, 'steerable.py'))


def run(host):
    os.setsid()
    log = os.open(os.path.join(logs, f'nova-compute-{host}.log'), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.dup2(log, 1)
    os.dup2(log, 2)
    eventlet.hubs.use_hub()  # not the one of the process that it was forked from
    sys.argv = ['nova-compute', '--config-file', os.path.join(etc, 'nova.conf'), '--config-file', os.path.join(etc, f'compute-{host}.conf')]
    sys.meta_path.append(Finder)
    sys.exit(main())


def started(pid):
    with open(f'/proc/{pid}/stat') as f:
        return f.read().rpartition(') ')[2].split()[19]


etc, logs, pids, *hosts = sys.argv[1:]
for host in hosts:
    child = os.fork()
    if not child:
        run(host)
    with open(os.path.join(pids, f'nova-compute-{host}'), 'w') as f:
        f.write(f'{child} {started(child)}\n')
