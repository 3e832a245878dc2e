# The processes of Nova, by name. Sourced.

# start_nova NAME: nova-compute-HOST, nova-api-spare, or one of which there is only one.
start_nova() {
  local extra=()
  case $1 in
  nova-compute-*)
    start_python "$1" /usr/bin/python3 "$here/nova-compute.py" --config-file "$config/nova/nova.conf" --config-file "$config/nova/${1#nova-}.conf"
    return
    ;;
  nova-api-spare) extra=(--config-file "$config/nova/api-spare.conf") ;;
  esac
  start_python "$1" "$unpacked/usr/bin/${1%-spare}" --config-file "$config/nova/nova.conf" "${extra[@]}"
}
