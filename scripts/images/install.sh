#!/usr/bin/env bash
# What the image tests need, on a Debian machine with root: buildah, mmdebstrap, jq and unzip. Elsewhere it says why they
# will be skipped, and succeeds: they are a check of the project, not a part of it.
set -euo pipefail
packages=(buildah mmdebstrap jq unzip)

skip() {
  echo "image tests are skipped: $1"
  exit 0
}

missing=()
for program in "${packages[@]}"; do
  command -v "$program" > /dev/null || missing+=("$program")
done
if [ ${#missing[@]} -eq 0 ]; then
  echo "image tests: everything is installed"
  exit 0
fi
[ "$(id -u)" -eq 0 ] || skip "${missing[*]} missing, and only root can install packages"
command -v apt-get > /dev/null || skip "${missing[*]} missing, and there is no apt-get"
echo "image tests: installing ${missing[*]}"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
export DEBIAN_FRONTEND=noninteractive
if ! { apt-get update && apt-get install -y --no-install-recommends "${missing[@]}"; } > "$log" 2>&1; then
  tail -n 5 "$log"
  skip "apt-get could not install ${missing[*]}"
fi
