# The processes of Nova, by name. Sourced.

# start_nova NAME: nova-compute-HOST, nova-api-spare, or one of which there is only one.
start_nova() {
  local extra=()
  case $1 in
  nova-compute-*)
    start_computes "${1#nova-compute-}"
    return
    ;;
  nova-api-spare) extra=(--config-file "$config/nova/api-spare.conf") ;;
  esac
  start_python "$1" "$unpacked/usr/bin/${1%-spare}" --config-file "$config/nova/nova.conf" "${extra[@]}"
}

# start_computes HOST...: their nova-compute, which are loaded once for all of them. Each is known as start would know it.
start_computes() {
  LD_PRELOAD="$stacks" /usr/bin/python3 "$here/nova-compute.py" "$config/nova" "$logs" "$pids" "$@" >>"$logs/nova-computes.log" 2>&1 \
    </dev/null || die "nova-compute does not start, see $logs/nova-computes.log"
}
