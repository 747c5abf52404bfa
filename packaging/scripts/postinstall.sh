#!/bin/sh
# Runs after the files of a package are installed, for the first time or over an older version: deb
# passes "configure" and the older version, rpm how many versions are installed, apk and pacman the new
# version and then the older one. pacman makes a function of it, so nothing here may exit.
set -e

if ! getent passwd mayfly >/dev/null; then
  if command -v systemd-sysusers >/dev/null; then
    systemd-sysusers mayfly.conf
  elif command -v useradd >/dev/null; then
    useradd --system --user-group --home-dir /var/lib/mayfly --no-create-home --shell /usr/sbin/nologin mayfly
  else # BusyBox
    addgroup -S mayfly
    adduser -S -D -H -h /var/lib/mayfly -s /sbin/nologin -G mayfly mayfly
  fi
fi

# Also for an upgrade: all but deb give settings that nobody edited the owner in the package, which is root.
if [ -e /etc/mayfly/serve.toml ]; then
  chown root:mayfly /etc/mayfly/serve.toml
  chmod 0640 /etc/mayfly/serve.toml
fi
[ -d /var/lib/mayfly ] || install -d -m 0700 -o mayfly -g mayfly /var/lib/mayfly

if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  if [ "${1-}" = 2 ] || [ -n "${2-}" ]; then # else nothing is started: its settings come first
    systemctl try-restart mayfly.service
  fi
fi
