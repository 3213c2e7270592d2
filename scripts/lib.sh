# shellcheck shell=bash
# What the scripts share: where the project is, how they speak, and how a Redis master is started and ended.
# Sourced, never run.

# shellcheck disable=SC2034  # for those who source this
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
me=${0##*/}

say() { printf '%s\n' "$*"; }
die() {
  printf '%s: %s\n' "$me" "$*" >&2
  exit 1
}

# cmake and make count processors the same way
cores() { nproc 2>/dev/null || echo 2; }

# True when nothing listens there. A port may still be taken before it is used; whoever starts a server looks again.
port_is_free() { ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# True while PID is the redis-server of PORT that we started: pids come back in other programs' hands.
is_our_redis() { # PID PORT
  [[ -n ${1:-} && -r /proc/$1/cmdline ]] && tr '\0' ' ' 2>/dev/null <"/proc/$1/cmdline" | grep -q "redis-server.*:$2"
}

# Waits until `command...` succeeds, looking every 20 ms, at most SECONDS.
wait_for() { # SECONDS COMMAND...
  local looks=$(($1 * 50))
  shift
  while ((looks-- > 0)); do
    "$@" && return 0
    sleep 0.02
  done
  return 1
}

redis_answers() { [[ $(redis-cli -h 127.0.0.1 -p "$1" PING 2>/dev/null) == PONG ]]; }
