# Debian's packages of OpenStack. Sourced by up.sh.

installed="mariadb-server-core mariadb-client-core rabbitmq-server
 python3-nova python3-keystone python3-glance python3-placement python3-neutron
 uwsgi-plugin-python3 python3-openstackclient curl procps gcc libc6-dev"
# Of these only scripts and paste files are wanted. They are unpacked, not installed: nova-compute would bring libvirt and QEMU
# along, and the others ask questions.
wanted="nova-common nova-api nova-conductor nova-scheduler nova-compute glance-common glance-api neutron-common neutron-server"

# update_lists brings the lists of packages up to date, once.
update_lists() {
  [ -z "${updated:-}" ] || return 0
  apt-get update -q >"$logs/apt-update.log" 2>&1 || die "apt-get update fails, see $logs/apt-update.log"
  updated=yes
}

# install_packages installs what is missing. No service of theirs is started: policy-rc.d forbids it meanwhile.
install_packages() {
  local package missing=() policy=/usr/sbin/policy-rc.d
  for package in $installed; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  echo "installing ${missing[*]}"
  if [ ! -e $policy ]; then
    printf '#!/bin/sh\nexit 101\n' >$policy
    chmod 755 $policy
    trap 'rm -f /usr/sbin/policy-rc.d' EXIT
  fi
  update_lists
  # Each package of Python would compile all that it has, in a process of its own: two thirds of the installation. Python itself compiles
  # what it imports, less than half of that, and keeps it (settings.sh).
  mkdir -p "$config/without"
  ln -sf /bin/true "$config/without/py3compile"
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends -o DPkg::Lock::Timeout=300 -o DPkg::Path="$config/without:$PATH" \
    -o Dpkg::Options::=--force-confdef -o Dpkg::Options::=--force-confold -o Dpkg::Options::=--force-unsafe-io "${missing[@]}" >"$logs/apt.log" 2>&1 ||
    die "apt-get install fails, see $logs/apt.log"
}

# unpack_packages unpacks the others, once.
unpack_packages() {
  [ ! -e "$unpacked/.complete" ] || return 0
  local downloads=$LOCKSTEP_OPENSTACK/downloads file
  echo "unpacking $wanted"
  update_lists
  rm -rf "$unpacked" "$downloads"
  mkdir -p "$unpacked" "$downloads"
  # shellcheck disable=SC2086
  (cd "$downloads" && apt-get download -q $wanted >"$logs/apt-download.log" 2>&1) || die "apt-get download fails, see $logs/apt-download.log"
  for file in "$downloads"/*.deb; do
    dpkg -x "$file" "$unpacked"
  done
  rm -rf "$downloads"
  touch "$unpacked/.complete"
}

# compile_stacks makes the library with which Python's programs start.
compile_stacks() {
  gcc -O2 -Wall -shared -fPIC -o "$stacks" "$here/stacks.c" || die "stacks.c cannot be compiled"
}
