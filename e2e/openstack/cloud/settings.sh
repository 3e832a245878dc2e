# What up.sh and down.sh have in common: where things are. Sourced by both.

export LC_ALL=C.UTF-8
export PATH=/usr/sbin:/usr/bin:/sbin:/bin # Debian's Python, not another one
unset PYTHONPATH PYTHONHOME PYTHONDONTWRITEBYTECODE http_proxy https_proxy HTTP_PROXY HTTPS_PROXY OS_CLOUD OS_CLIENT_CONFIG_FILE

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
export LOCKSTEP_OPENSTACK=${LOCKSTEP_OPENSTACK:-${TMPDIR:-/tmp}/lockstep-openstack}
unpacked=$LOCKSTEP_OPENSTACK/unpacked # packages that are not installed
config=$LOCKSTEP_OPENSTACK/etc
state=$LOCKSTEP_OPENSTACK/state
logs=$LOCKSTEP_OPENSTACK/log
pids=$LOCKSTEP_OPENSTACK/pids
clouds=$LOCKSTEP_OPENSTACK/clouds.yaml
mysql_socket=$state/mysql.sock
stacks=$LOCKSTEP_OPENSTACK/stacks.so # of stacks.c
export PYTHONPYCACHEPREFIX=$LOCKSTEP_OPENSTACK/compiled # what Python compiles is kept there, and nothing is written beside its sources

nodes=${NODES:-kaas-node-001 kaas-node-002 kaas-node-003}
password=${PASSWORD:-only-on-loopback}

keystone_port=${KEYSTONE_PORT:-5000}
placement_port=${PLACEMENT_PORT:-8778}
nova_port=${NOVA_PORT:-8774}
nova_spare_port=${NOVA_SPARE_PORT:-8775}
glance_port=${GLANCE_PORT:-9292}
neutron_port=${NEUTRON_PORT:-9696}
mysql_port=${MYSQL_PORT:-13306}
rabbit_port=${RABBIT_PORT:-15673}
rabbit_dist_port=${RABBIT_DIST_PORT:-25673}
epmd_port=${EPMD_PORT:-14369}

# Nova's configuration needs absolute paths, and MariaDB's socket a short one.
case $LOCKSTEP_OPENSTACK in /*) ;; *) echo "LOCKSTEP_OPENSTACK must be an absolute path, not $LOCKSTEP_OPENSTACK" >&2; exit 1 ;; esac
