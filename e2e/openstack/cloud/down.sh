#!/bin/bash
# Stops what up.sh started, and nothing else: first what talks, then what it talks to.
. "$(dirname "$(readlink -f "$0")")/settings.sh"
. "$here/processes.sh"
shopt -s nullglob

for file in "$pids"/nova-compute-*; do
  stop "${file##*/}" &
done
wait
for name in nova-api nova-api-spare nova-scheduler nova-conductor neutron glance placement keystone; do
  stop "$name" &
done
wait
for name in rabbitmq epmd mariadb; do
  stop "$name"
done
echo "the OpenStack in $LOCKSTEP_OPENSTACK is down"
