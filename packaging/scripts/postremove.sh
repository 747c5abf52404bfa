#!/bin/sh
# Runs after the files of a package are removed. The mail in /var/lib/mayfly stays unless a deb is purged, which
# removes everything but the backups and the user: the number of a removed user could go to another.
set -e

if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
fi
if [ "${1-}" = purge ]; then
  rm -rf /var/lib/mayfly
fi
