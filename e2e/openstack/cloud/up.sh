#!/bin/bash
# Brings up a real OpenStack on 127.0.0.1, with empty databases; README.md says what is in it. Prints the path of its
# clouds.yaml last.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/settings.sh"
. "$here/processes.sh"
. "$here/packages.sh"
. "$here/configure.sh"
. "$here/nova.sh"

die() {
  echo "bring up OpenStack: $*" >&2
  exit 1
}
say() { printf '%4d s  %s\n' "$SECONDS" "$*"; }
listens() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
answers() { curl -sf -o /dev/null "http://127.0.0.1:$1"; }
sql() { mariadb --no-defaults --socket="$mysql_socket" -uroot "$@"; }

if alive nova-api; then
  echo "$clouds"
  exit 0
fi
"$here/down.sh" >/dev/null # what an earlier start may have left
for port in $keystone_port $placement_port $nova_port $nova_spare_port $glance_port $neutron_port $mysql_port $rabbit_port $rabbit_dist_port $epmd_port; do
  ! listens "$port" || die "something else listens on port $port; settings.sh says how to choose another"
done
mkdir -p "$LOCKSTEP_OPENSTACK"
chmod 700 "$LOCKSTEP_OPENSTACK"
rm -rf "$config" "$state" "$pids" "$logs"
mkdir -p "$config" "$state" "$pids" "$logs"

install_packages
unpack_packages
compile_stacks
for part in keystone placement glance neutron nova rabbitmq clients; do
  "configure_$part"
done
say "packages and configuration are there"

# MariaDB and RabbitMQ, as fast as what nobody will miss may be.
mkdir -p "$state/mysql" "$state/rabbitmq"
mariadb-install-db --no-defaults --user=root --datadir="$state/mysql" --auth-root-authentication-method=normal --skip-test-db \
  >"$logs/mariadb-install.log" 2>&1 || die "mariadb-install-db fails, see $logs/mariadb-install.log"
start mariadb mariadbd --no-defaults --user=root --datadir="$state/mysql" --socket="$mysql_socket" --pid-file="$state/mysql.pid" \
  --bind-address=127.0.0.1 --port="$mysql_port" --innodb-flush-log-at-trx-commit=0 --innodb-flush-method=nosync --innodb-doublewrite=0 \
  --innodb-buffer-pool-size=64M --performance-schema=0 --max-connections=500 --skip-name-resolve
start epmd env ERL_EPMD_ADDRESS=127.0.0.1 epmd -port "$epmd_port"
start rabbitmq env HOME="$state/rabbitmq" ERL_EPMD_ADDRESS=127.0.0.1 ERL_EPMD_PORT="$epmd_port" \
  RABBITMQ_NODENAME=lockstep@localhost RABBITMQ_MNESIA_BASE="$state/rabbitmq/mnesia" RABBITMQ_LOG_BASE="$state/rabbitmq/log" \
  RABBITMQ_PID_FILE="$state/rabbitmq/pid" RABBITMQ_CONFIG_FILE="$config/rabbitmq.conf" RABBITMQ_CONF_ENV_FILE=/dev/null \
  RABBITMQ_ENABLED_PLUGINS_FILE="$state/rabbitmq/plugins" RABBITMQ_DIST_PORT="$rabbit_dist_port" \
  RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="-kernel inet_dist_use_interface {127,0,0,1} +sbwt none +sbwtdcpu none +sbwtdio none +S 1:1" \
  /usr/lib/rabbitmq/lib/rabbitmq_server-*/sbin/rabbitmq-server
wait_for 600 MariaDB sql -e 'select 1'
for name in keystone placement glance neutron nova_api nova nova_cell0; do
  echo "create database $name character set utf8;"
done | sql
sql -e "create user openstack@'127.0.0.1' identified by '$password'; grant all on *.* to openstack@'127.0.0.1';"
wait_for 600 RabbitMQ listens "$rabbit_port"
say "MariaDB and RabbitMQ answer"

# The tables of the services, all at the same time.
commands() { /usr/bin/python3 "$here/commands.py" "$@"; }
nova_manage() { "$unpacked/usr/bin/nova-manage" --config-file "$config/nova/nova.conf" "$@"; }
tables_of_keystone() {
  local with="--config-file $config/keystone/keystone.conf" by="--keystone-user root --keystone-group root" url="http://127.0.0.1:$keystone_port/v3"
  mkdir -p "$state/keystone/fernet-keys" "$state/keystone/credential-keys"
  commands keystone.cmd.manage <<EOF
$with db_sync
$with fernet_setup $by
$with credential_setup $by
$with bootstrap --bootstrap-password $password --bootstrap-region-id RegionOne --bootstrap-admin-url $url --bootstrap-internal-url $url --bootstrap-public-url $url
EOF
}
tables_of_placement() { OS_PLACEMENT_CONFIG_DIR="$config/placement" placement-manage --config-file "$config/placement/placement.conf" db sync; }
tables_of_glance() { "$unpacked/usr/bin/glance-manage" --config-file "$config/glance/glance-api.conf" db_sync; }
tables_of_neutron() { "$unpacked/usr/bin/neutron-db-manage" --config-file "$config/neutron/neutron.conf" upgrade heads; }
tables_of_nova() {
  local with="--config-file $config/nova/nova.conf"
  commands nova.cmd.manage <<EOF
$with api_db sync
$with cell_v2 map_cell0 --database_connection $(database nova_cell0)
$with cell_v2 create_cell --name=cell1
$with db sync
EOF
}
declare -A making=()
for name in keystone placement glance neutron nova; do
  (set -e; export LD_PRELOAD="$stacks"; "tables_of_$name") >"$logs/tables-$name.log" 2>&1 &
  making[$name]=$!
done
for name in "${!making[@]}"; do
  wait "${making[$name]}" || die "the tables of $name cannot be made, see $logs/tables-$name.log"
done
say "the databases have their tables"

# Keystone and Placement, which are WSGI applications, and the services.
wsgi() {
  local port=$1 file=$2
  uwsgi=(env APPLICATION="$file" uwsgi --plugins python3 --master --lazy-apps --enable-threads --processes 1 --threads 4 --die-on-term --no-orphans
    --thunder-lock --buffer-size 65535 --listen 64 --disable-logging --need-app --http-socket "127.0.0.1:$port" --wsgi-file "$here/threaded.py")
}
wsgi "$keystone_port" /usr/bin/keystone-wsgi-public
start_python keystone env OS_KEYSTONE_CONFIG_FILES="$config/keystone/keystone.conf" "${uwsgi[@]}" --add-header "Connection: close"
wsgi "$placement_port" /usr/bin/placement-api
start_python placement env OS_PLACEMENT_CONFIG_DIR="$config/placement" "${uwsgi[@]}"
wait_for 600 Keystone answers "$keystone_port/v3"
/usr/bin/python3 "$here/furnish.py" identity "$clouds" "nova=$nova_port/v2.1,$nova_spare_port/v2.1" "placement=$placement_port" "glance=$glance_port" "neutron=$neutron_port" ||
  die "Keystone takes no users"
say "Keystone has its users"
start_python glance "$unpacked/usr/bin/glance-api" --config-file "$config/glance/glance-api.conf"
start_python neutron "$unpacked/usr/bin/neutron-server" --config-file "$config/neutron/neutron.conf"
wait_for 600 Placement answers "$placement_port/"
for name in api conductor scheduler; do
  start_nova "nova-$name"
done
wait_for 600 Nova answers "$nova_port/"
wait_for 600 Glance listens "$glance_port"
wait_for 600 Neutron answers "$neutron_port/"
say "the services answer"

# shellcheck disable=SC2086
start_computes $nodes
count=$(wc -w <<<"$nodes")
all_computes() {
  [ "$(sql -N nova -e "select least((select count(*) from compute_nodes),
    (select count(*) from services where \`binary\` = 'nova-compute' and last_seen_up is not null))")" -ge "$count" ]
}
wait_for 600 "a compute service" all_computes
nova_manage cell_v2 discover_hosts >"$logs/discover-hosts.log" 2>&1 || die "Nova does not find its hosts, see $logs/discover-hosts.log"
/usr/bin/python3 "$here/furnish.py" compute "$clouds" || die "Nova takes no flavors"
say "$count compute hosts are up"
echo "$clouds"
