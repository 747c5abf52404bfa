#!/bin/sh
# Installs Mayfly @VERSION@ into the directory it is given; else into /usr/local/bin, or without the right to do so ~/.local/bin.
set -eu

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

main() {
  dir=/usr/local/bin
  [ -w "$dir" ] || dir=${HOME:+$HOME/.local/bin}
  dir=${1-$dir}
  [ -n "$dir" ] || fail "/usr/local/bin cannot be written and HOME is not set: name a directory, as in sh -s -- DIR"
  case $(uname -sm) in
    "Linux x86_64") system=linux_amd64 sum=@SHA256 linux_amd64@ ;;
    "Linux aarch64" | "Linux arm64") system=linux_arm64 sum=@SHA256 linux_arm64@ ;;
    "Darwin x86_64") system=darwin_amd64 sum=@SHA256 darwin_amd64@ ;;
    "Darwin arm64") system=darwin_arm64 sum=@SHA256 darwin_arm64@ ;;
    *) fail "there is no Mayfly for $(uname -sm)" ;;
  esac
  url=@RELEASES@/download/v@VERSION@/mayfly_$system.tar.gz
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  curl -fsSL --retry 3 -o "$work/archive" "$url" || fail "cannot download $url"
  tool="shasum -a 256"
  ! command -v sha256sum >/dev/null || tool=sha256sum
  echo "$sum  $work/archive" | $tool -c - >/dev/null 2>&1 || fail "$url is not what was released: its SHA-256 is not $sum"
  tar -xzf "$work/archive" -C "$work"
  mkdir -p "$dir"
  install -m 755 "$work/mayfly_$system/mayfly" "$dir/mayfly"
  echo "Mayfly @VERSION@ is in $dir"
}

main "$@" # the last line: of a script that came in part, nothing is run
