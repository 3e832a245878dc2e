# The configuration files of the services. Sourced by up.sh.

# database NAME: its URL.
database() { echo "mysql+pymysql://openstack:$password@127.0.0.1:$mysql_port/$1?charset=utf8"; }

# login SECTION USER: how a service logs in at Keystone.
login() {
  cat <<EOF
[$1]
auth_type = password
auth_url = http://127.0.0.1:$keystone_port/v3
username = $2
password = $password
project_name = service
user_domain_name = Default
project_domain_name = Default
region_name = RegionOne
EOF
}

# verification USER: how a service verifies the tokens of its callers.
verification() {
  login keystone_authtoken "$1" | grep -v ^region_name
  echo "www_authenticate_uri = http://127.0.0.1:$keystone_port/v3"
  echo "service_token_roles_required = true"
}

# general: of every service.
general() {
  cat <<EOF
use_stderr = true
graceful_shutdown_timeout = 3
transport_url = rabbit://openstack:$password@127.0.0.1:$rabbit_port/
EOF
}

quiet='[oslo_messaging_notifications]
driver = noop'

configure_keystone() {
  mkdir -p "$config/keystone" "$state/keystone"
  cat >"$config/keystone/keystone.conf" <<EOF
[DEFAULT]
use_stderr = true
[database]
connection = $(database keystone)
max_pool_size = 5
[identity]
# Each command of the openstack client logs in, and a password's hash is made to take long.
password_hash_rounds = 4
[cache]
# As in a real cloud, where it is memcached. Without any, each login and each look at a token costs a tenth of a second of a processor.
backend = oslo_cache.dict
[token]
provider = fernet
expiration = 86400
[fernet_tokens]
key_repository = $state/keystone/fernet-keys
[credential]
key_repository = $state/keystone/credential-keys
$quiet
EOF
}

configure_placement() {
  mkdir -p "$config/placement"
  cat >"$config/placement/placement.conf" <<EOF
[DEFAULT]
use_stderr = true
[api]
auth_strategy = keystone
[placement_database]
connection = $(database placement)
max_pool_size = 5
$(verification placement)
EOF
}

configure_glance() {
  mkdir -p "$config/glance" "$state/glance/images"
  cat >"$config/glance/glance-api.conf" <<EOF
[DEFAULT]
$(general)
bind_host = 127.0.0.1
bind_port = $glance_port
workers = 0
enabled_backends = files:file
enabled_import_methods = []
image_cache_dir = $state/glance/cache
node_staging_uri = file://$state/glance/staging
[glance_store]
default_backend = files
[files]
filesystem_store_datadir = $state/glance/images
[os_glance_staging_store]
filesystem_store_datadir = $state/glance/staging
[os_glance_tasks_store]
filesystem_store_datadir = $state/glance/tasks
[database]
connection = $(database glance)
max_pool_size = 5
[paste_deploy]
flavor = keystone
config_file = $unpacked/usr/share/glance-common/glance-api-paste.ini
[oslo_concurrency]
lock_path = $state/glance
$quiet
$(verification glance)
EOF
}

# Nova asks Neutron even for servers without networks.
configure_neutron() {
  mkdir -p "$config/neutron" "$state/neutron"
  cat >"$config/neutron/neutron.conf" <<EOF
[DEFAULT]
$(general)
bind_host = 127.0.0.1
bind_port = $neutron_port
api_workers = 1
rpc_workers = 0
rpc_state_report_workers = 0
core_plugin = ml2
service_plugins =
api_paste_config = $(find "$unpacked" -name api-paste.ini -path '*neutron*' | head -1)
state_path = $state/neutron
auth_strategy = keystone
notify_nova_on_port_status_changes = false
notify_nova_on_port_data_changes = false
[database]
connection = $(database neutron)
max_pool_size = 5
[ml2]
type_drivers = local
tenant_network_types = local
mechanism_drivers =
[oslo_concurrency]
lock_path = $state/neutron
$quiet
$(verification neutron)
EOF
}

configure_nova() {
  local node
  mkdir -p "$config/nova" "$state/nova"
  cat >"$config/nova/nova.conf" <<EOF
[DEFAULT]
$(general)
my_ip = 127.0.0.1
state_path = $state/nova
enabled_apis = osapi_compute
osapi_compute_listen = 127.0.0.1
osapi_compute_listen_port = $nova_port
osapi_compute_workers = 1
compute_driver = steerable.SteerableDriver
# A service is down after 25 s without a report, of which each takes the conductor and the database as much as a request.
report_interval = 10
service_down_time = 25
rpc_response_timeout = 30
# The driver's guests do not know that they were stopped from elsewhere.
sync_power_state_interval = -1
# They have no networks whose addresses could change: Neutron is not asked for them once a minute.
heal_instance_info_cache_interval = -1
# What a host has is told to Placement when its service starts and when an instance comes or goes; Nova would tell it again once a minute,
# for each host.
update_resources_interval = 3600
reserved_host_memory_mb = 0
use_rootwrap_daemon = false
[api]
auth_strategy = keystone
[wsgi]
api_paste_config = $unpacked/usr/share/nova-common/api-paste.ini
[api_database]
connection = $(database nova_api)
max_pool_size = 5
[database]
connection = $(database nova)
max_pool_size = 5
[conductor]
workers = 1
[scheduler]
workers = 1
[quota]
instances = 1000
cores = -1
ram = -1
[vnc]
enabled = false
[spice]
enabled = false
[glance]
api_servers = http://127.0.0.1:$glance_port
[oslo_concurrency]
lock_path = $state/nova
$quiet
$(verification nova)
$(login placement nova)
$(login neutron nova)
$(login service_user nova)
send_service_user_token = true
EOF
  cat >"$config/nova/api-spare.conf" <<EOF
[DEFAULT]
osapi_compute_listen_port = $nova_spare_port
EOF
  for node in $nodes; do
    mkdir -p "$state/nova-$node"
    cat >"$config/nova/compute-$node.conf" <<EOF
[DEFAULT]
host = $node
state_path = $state/nova-$node
[oslo_concurrency]
lock_path = $state/nova-$node
EOF
  done
}

configure_rabbitmq() {
  cat >"$config/rabbitmq.conf" <<EOF
listeners.tcp.1 = 127.0.0.1:$rabbit_port
default_user = openstack
default_pass = $password
log.file.level = warning
vm_memory_high_watermark.absolute = 1GB
EOF
}

# cloud NAME USER PROJECT [INTERFACE]: an entry of clouds.yaml.
cloud() {
  cat <<EOF
  $1:
    region_name: RegionOne
    interface: ${4:-public}
    auth:
      auth_url: http://127.0.0.1:$keystone_port/v3
      username: $2
      password: $password
      project_name: $3
      user_domain_name: Default
      project_domain_name: Default
EOF
}

configure_clients() {
  (umask 077 && {
    echo "clouds:"
    cloud controllers admin admin
    cloud operator anna admin
    cloud operator-spare anna admin admin
    cloud member bert demo
  } >"$clouds")
}
