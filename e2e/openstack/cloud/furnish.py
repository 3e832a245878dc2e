"""Furnishes the new cloud, in two parts.

    furnish.py identity CLOUDS SERVICE=PORT...   users, projects and endpoints; PORT,PORT when that of the interface admin is another
    furnish.py compute CLOUDS                    flavors and an image
"""
import os
import sys

part, clouds, *endpoints = sys.argv[1:]
os.environ['OS_CLIENT_CONFIG_FILE'] = clouds

import openstack  # reads the variable

cloud = openstack.connect(cloud='controllers')
password = cloud.config.config['auth']['password']
TYPES = {'nova': 'compute', 'placement': 'placement', 'glance': 'image', 'neutron': 'network'}


def identity():
    keystone = cloud.identity
    roles = {role.name: role for role in keystone.roles()}
    roles['service'] = roles.get('service') or keystone.create_role(name='service')
    projects = {name: keystone.create_project(name=name, domain_id='default') for name in ('service', 'demo')}
    projects['admin'] = keystone.find_project('admin', domain_id='default')

    def user(name, project, *names):
        made = keystone.create_user(name=name, domain_id='default', password=password, default_project_id=projects[project].id)
        for role in names:
            keystone.assign_project_role_to_user(projects[project], made, roles[role])

    for name in TYPES:
        user(name, 'service', 'admin', 'service')
    user('anna', 'admin', 'admin')
    user('bert', 'demo', 'member')
    for endpoint in endpoints:
        name, ports = endpoint.split('=')
        port, *admin = ports.split(',')
        service = keystone.create_service(type=TYPES[name], name=name)
        for interface, at in ('public', port), ('internal', port), ('admin', *(admin or [port])):
            keystone.create_endpoint(service_id=service.id, interface=interface, url='http://127.0.0.1:' + at, region_id='RegionOne')


def compute():
    # With a fresh worker, Neutron of Zed answers a first request for ports with a 500, and so it goes on for ever ("type object
    # 'Port' has no attribute 'port_forwardings'"), unless something else was asked for before: so ask for networks.
    list(cloud.network.networks())
    list(cloud.network.ports())
    # The fake driver's hosts have 800,000 MB, and Nova gives away half as much again: two of the huge ones are too many for one.
    for name, ram in (('m1.tiny', 1024), ('m1.huge', 700 << 10)):
        cloud.compute.create_flavor(name=name, vcpus=1, ram=ram, disk=1)
    cloud.image.create_image(name='tiny', disk_format='raw', container_format='bare', data=b'\0' * 4096,
                             visibility='public', validate_checksum=False)


{'identity': identity, 'compute': compute}[part]()
