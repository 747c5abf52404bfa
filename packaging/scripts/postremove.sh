#!/bin/sh
# Runs after the files of a package are removed. The mail in /var/lib/mayfly stays, unless a deb is purged:
# that removes all that the package made, but backups, and the user, so that nobody else gets its number.
set -e

if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
fi
if [ "${1-}" = purge ]; then
  rm -rf /var/lib/mayfly
fi
