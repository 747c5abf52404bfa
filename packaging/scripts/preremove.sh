#!/bin/sh
# Runs before the files of a package are removed. deb passes "remove" or "upgrade", rpm how many versions
# will be left; apk and pacman do not run it for an upgrade.
set -e

case ${1-} in
upgrade | failed-upgrade | deconfigure | 1) ;;
*)
  if [ -d /run/systemd/system ]; then
    systemctl disable --now mayfly.service
  fi
  ;;
esac
