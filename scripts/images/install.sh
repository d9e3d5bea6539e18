#!/usr/bin/env bash
# Installs the programs of the image tests (mmdebstrap, jq and unzip; engine.sh installs the engine) and the packages that the Python example
# deployments pack into wheels (FastAPI, uvicorn, Django and gunicorn for Debian's Python). It needs Debian and root. On
# other machines it prints which tests will be skipped and why, and succeeds, because these tests are optional.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT

# Each program is in a package with the same name.
missing_programs() {
  local program
  for program in mmdebstrap jq unzip; do
    command -v "$program" > /dev/null || echo "$program"
  done
}

# Uses the path of Debian's Python, because PATH may find another one first.
missing_modules() {
  local module
  for module in fastapi uvicorn django gunicorn; do
    /usr/bin/python3 -c "import $module" 2> /dev/null || echo "python3-$module"
  done
  /usr/bin/python3 -c "import ensurepip" 2> /dev/null || echo "python3-venv"
}

# install <tests> <package>...
install() {
  local tests=$1
  shift
  if [ $# -eq 0 ]; then
    echo "$tests: everything is installed"
  elif [ "$(id -u)" -ne 0 ]; then
    echo "$tests are skipped: $* missing, and only root can install packages"
  elif ! command -v apt-get > /dev/null; then
    echo "$tests are skipped: $* missing, and there is no apt-get"
  else
    echo "$tests: installing $*"
    local options=(-o Acquire::Retries=1 -o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20)
    if ! { apt-get "${options[@]}" update && apt-get "${options[@]}" install -y --no-install-recommends "$@"; } > "$log" 2>&1; then
      tail -n 5 "$log"
      echo "$tests are skipped: apt-get could not install $*"
    fi
  fi
}

mapfile -t programs < <(missing_programs)
mapfile -t modules < <(missing_modules)
install "image tests" "${programs[@]}"
install "Python example deployments" "${modules[@]}"
