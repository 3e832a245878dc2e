#!/bin/bash
# process.sh kill|start|stop NAME: lets one process of the cloud that is up die as in a crash, starts it, or ends it politely.
# NAME is nova-api-spare, of which start waits until it answers, or nova-compute-HOST, of which Nova says when it is up.
set -euo pipefail
. "$(dirname "$(readlink -f "$0")")/settings.sh"
. "$here/processes.sh"
. "$here/nova.sh"

die() {
  echo "process.sh: $*" >&2
  exit 1
}
do=$1 name=$2
case $name in nova-api-spare | nova-compute-*) ;; *) die "$name is not one of those that the cloud can do without" ;; esac
case $do in
kill) crash "$name" ;;
stop) stop "$name" ;;
start)
  alive "$name" || start_nova "$name"
  [ "$name" = nova-api-spare ] || exit 0
  for _ in $(seq 600); do
    curl -sf -o /dev/null "http://127.0.0.1:$nova_spare_port" && exit 0
    alive "$name" || die "$name has ended: $(tail -n 3 "$logs/$name.log")"
    sleep 0.2
  done
  die "$name does not answer; its log is $logs/$name.log"
  ;;
*) die "what is $do?" ;;
esac
