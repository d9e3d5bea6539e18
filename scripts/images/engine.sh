#!/usr/bin/env bash
# A real Docker engine for tests: `engine.sh start` installs and starts it, `engine.sh stop` ends it, and `engine.sh env`
# prints the variables with which programs find it (eval "$(bash scripts/images/engine.sh env)"); it prints nothing if it
# does not run; `engine.sh env ahead` prints them for one that will be started. It needs Debian and root. On other machines,
# `start` says what will be skipped and why, and succeeds, because these tests are optional. An engine that DOCKER_HOST names,
# or that answers at Docker's own socket, is used as it is.
set -euo pipefail

# The packages and the engine's data are kept between runs; the rest is deleted with the engine. All are outside the repository.
cache=${XDG_CACHE_HOME:-/var/tmp}/slipway-engine
run=/tmp/slipway-engine
root=$cache/root
socket=$run/docker.sock
# The engine and its parts. BuildKit of Debian 12's own docker.io does not know `COPY --link` and build contexts.
packages=(docker.io docker-cli containerd docker-buildx tini)
release=trixie

skip() {
  echo "tests with containers are skipped: $*"
  exit 0
}

# answers [socket]
answers() {
  local asked=${1:-$socket}
  [ -S "$asked" ] && curl --silent --fail --max-time 5 --unix-socket "$asked" http://engine/_ping > /dev/null
}

# Debian's programs from a list of their own, so that the machine's packages stay as they are.
unpack() {
  [ -e "$root/complete" ] && return
  local work=$cache/apt
  rm -rf "$root" "$work"
  mkdir -p "$root" "$work/lists/partial" "$work/archives/partial"
  local mirror
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | grep -m 1 '/debian/*$')
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $release main" > "$work/sources"
  local options=(-qq -o "Dir::Etc::SourceList=$work/sources" -o Dir::Etc::SourceParts=/dev/null
    -o "Dir::State::Lists=$work/lists" -o "Dir::Cache=$work" -o APT::Sandbox::User=root
    -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20)
  apt-get "${options[@]}" update
  (cd "$work/archives" && apt-get "${options[@]}" download "${packages[@]}")
  # Two at a time, because one takes 10 s to unpack all.
  printf '%s\0' "$work"/archives/*.deb | xargs -0 -P 2 -I {} dpkg-deb -x {} "$root"
  rm -rf "$work" "$root/usr/share"
  touch "$root/complete"
}

# runc and iptables of this Debian: those of a newer one need its libraries.
install_runtime() {
  local missing=()
  for program in runc iptables; do command -v "$program" > /dev/null || missing+=("$program"); done
  [ ${#missing[@]} -eq 0 ] && return
  export DEBIAN_FRONTEND=noninteractive
  apt-get -qq install -y --no-install-recommends "${missing[@]}" || { apt-get -qq update && apt-get -qq install -y --no-install-recommends "${missing[@]}"; }
}

start_engine() {
  mkdir -p "$run" "$cache/data" "$run/config"
  # The client looks for buildx in the machine's folders; this configuration names the unpacked one.
  printf '{"cliPluginsExtraDirs":["%s"]}' "$root/usr/libexec/docker/cli-plugins" > "$run/config/config.json"
  printf '{"features":{"containerd-snapshotter":true}}' > "$run/daemon.json"
  PATH=$root/usr/bin:$root/usr/sbin:$PATH:/usr/sbin:/sbin setsid nohup "$root/usr/sbin/dockerd" --config-file "$run/daemon.json" \
    --host "unix://$socket" --data-root "$cache/data" --exec-root "$run/exec" --pidfile "$run/docker.pid" \
    --exec-opt native.cgroupdriver=cgroupfs > "$run/dockerd.log" 2>&1 < /dev/null &
  local engine=$!
  for _ in $(seq 300); do
    answers && return
    kill -0 "$engine" 2> /dev/null || break
    sleep 0.2
  done
  tail -n 5 "$run/dockerd.log"
  kill "$engine" 2> /dev/null || true
  return 1
}

# The name of an engine that is there without this script; nothing if there is none.
other_engine() {
  if [ -n "${DOCKER_HOST:-}" ] && [ "$DOCKER_HOST" != "unix://$socket" ]; then
    echo "the engine of DOCKER_HOST"
  elif answers /var/run/docker.sock; then
    echo "the engine of this machine"
  fi
}

start() {
  local other
  other=$(other_engine)
  [ -z "$other" ] || { echo "tests with containers use $other"; return; }
  answers && { echo "the engine runs already: $socket"; return; }
  [ "$(uname -s)" = Linux ] || skip "the engine needs Linux"
  [ "$(id -u)" -eq 0 ] || skip "only root can start the engine"
  command -v apt-get > /dev/null && command -v dpkg-deb > /dev/null || skip "the engine comes from Debian's packages, and there is no apt-get"
  mkdir -p "$run" "$cache"
  exec 9> "$run/lock"
  flock 9
  answers && { echo "the engine runs already: $socket"; return; }
  # In a shell of their own: behind `||`, a function would go on after an error.
  bash "$0" unpack > "$run/install.log" 2>&1 || { tail -n 5 "$run/install.log"; skip "the engine's packages are not available"; }
  bash "$0" install-runtime > "$run/install.log" 2>&1 || { tail -n 5 "$run/install.log"; skip "runc and iptables cannot be installed"; }
  start_engine 9>&- || skip "the engine does not start"
  echo "the engine runs: $socket"
}

stop() {
  [ -f "$run/docker.pid" ] || { echo "no engine was started"; return; }
  local engine
  engine=$(cat "$run/docker.pid")
  # A process id may belong to another program by now.
  [ "$(readlink "/proc/$engine/exe" 2> /dev/null)" = "$(readlink -f "$root/usr/sbin/dockerd")" ] || { rm -rf "$run"; return; }
  kill "$engine"
  for _ in $(seq 150); do kill -0 "$engine" 2> /dev/null || break; sleep 0.2; done
  rm -rf "$run"
  echo "the engine was ended"
}

# env_lines [ahead]
env_lines() {
  answers || { [ "${1:-}" = ahead ] && [ -z "$(other_engine)" ]; } || return 0
  printf 'export DOCKER_HOST=%q DOCKER_CONFIG=%q PATH=%q:"$PATH"\n' "unix://$socket" "$run/config" "$root/usr/bin"
}

case ${1:-} in
  start) start ;;
  stop) stop ;;
  env) env_lines "${2:-}" ;;
  unpack) unpack ;;
  install-runtime) install_runtime ;;
  *) echo "Usage: bash scripts/images/engine.sh start|stop|env [ahead]" >&2; exit 2 ;;
esac
