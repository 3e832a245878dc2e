# Background processes that are known by name. Sourced. A process is known by its number and the time at which it started, so
# that a number that was given away again is never taken for it.

# look_at PID: puts the time at which the process has started, the 22nd field of /proc/PID/stat, into $since; fails for one that is gone or a
# zombie. It starts no process: who waits looks at all of them again and again.
look_at() {
  local stat
  { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
  stat=${stat##*) } # the name before it may hold blanks
  # shellcheck disable=SC2086
  set -- $stat
  since=${20:-}
  [ "$1" != Z ] && [ -n "$since" ]
}

# alive NAME
alive() {
  local pid started since
  [ -f "$pids/$1" ] || return 1
  read -r pid started <"$pids/$1" || return 1
  [ -n "$pid" ] && [ -n "$started" ] && look_at "$pid" && [ "$since" = "$started" ]
}

# start NAME COMMAND...: in a session of its own, so that stop finds what it has started in its turn.
start() {
  local name=$1 pid since=
  shift
  setsid nohup "$@" >>"$logs/$name.log" 2>&1 </dev/null &
  pid=$!
  look_at "$pid" || true # what has ended already is not alive
  echo "$pid $since" >"$pids/$name"
}

# start_python NAME COMMAND...: start, for a program in Python.
start_python() {
  local name=$1
  shift
  start "$name" env LD_PRELOAD="$stacks" "$@"
}

# stop NAME: politely; after 15 seconds it is killed.
stop() {
  local name=$1 pid started child
  if alive "$name"; then
    read -r pid started <"$pids/$name"
    kill -TERM "$pid" 2>/dev/null
    for _ in $(seq 150); do
      alive "$name" || break
      sleep 0.1
    done
    if alive "$name"; then
      echo "$name ($pid) does not end; it is killed" >&2
      kill -KILL "$pid"
    fi
    for child in $(ps -o pid= -s "$pid" 2>/dev/null); do
      kill -KILL "$child" 2>/dev/null
    done
  fi
  rm -f "$pids/$name"
}

# crash NAME: it and what it has started are gone at once.
crash() {
  local pid started child
  alive "$1" || return 0
  read -r pid started <"$pids/$1"
  rm -f "$pids/$1" # who waits for others meanwhile must not take its end for theirs
  for child in "$pid" $(ps -o pid= -s "$pid"); do
    kill -KILL "$child" 2>/dev/null || true
  done
}

# wait_for SECONDS WHAT COMMAND...: until the command succeeds. When one of the processes ends meanwhile that is said at once; when
# none does, what each has said last.
wait_for() {
  local seconds=$1 what=$2 file name end
  end=$((SECONDS + seconds))
  shift 2
  while [ "$SECONDS" -lt "$end" ]; do
    "$@" >/dev/null 2>&1 && return 0
    for file in "$pids"/*; do
      name=${file##*/}
      alive "$name" || die "$name has ended: $(tail -n 3 "$logs/$name.log")"
    done
    sleep 0.5
  done
  tail -n 3 "$logs"/*.log | cut -c 1-300 >&2
  die "$what is not there after $seconds s; the logs are in $logs"
}
