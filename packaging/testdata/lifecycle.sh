# Installs a package of Debian, uses, upgrades, removes and purges it. It is for a root file system, a network and
# processes that it has to itself: see packaging_test.go.
set -euo pipefail
package=$1
export HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
unset "${!MAYFLY_@}" "${!XDG_@}"
[ "${2-}" = systemd-sysusers ] || rm -f "$(command -v systemd-sysusers)"
ip link set lo up

fail() {
  echo "lifecycle: $*" >&2
  exit 1
}

# mode WANT PATH checks owner, group and mode.
mode() {
  local got
  got=$(stat -c '%U:%G %a' "$2") || fail "$2 is missing"
  [ "$got" = "$1" ] || fail "$2 is $got, want $1"
}

# start runs the service as the unit says, and waits until it is ready.
start() {
  local unit=/usr/lib/systemd/system/mayfly.service command user
  command=$(sed -n 's/^ExecStart=//p' "$unit")
  user=$(sed -n 's/^User=//p' "$unit")
  # shellcheck disable=SC2086 # words, as for systemd
  setpriv --reuid "$user" --regid "$user" --init-groups --no-new-privs --inh-caps=-all,+net_bind_service \
    --ambient-caps=-all,+net_bind_service --bounding-set=-all,+net_bind_service env -i $command 2>/tmp/log &
  service=$!
  for _ in {1..100}; do
    mayfly health >/dev/null 2>&1 && return
    sleep 0.2
  done
  cat /tmp/log >&2
  fail "the service is not ready"
}

stop() {
  kill "$service"
  wait "$service" || { cat /tmp/log >&2; fail "the service failed"; }
}

# send ADDRESS CODE sends a mail by SMTP.
send() {
  local line answer
  exec 3<>/dev/tcp/127.0.0.1/25
  read -r answer <&3
  for line in "HELO test" "MAIL FROM:<app@app.example>" "RCPT TO:<$1>" DATA \
    "From: app@app.example"$'\r\n'"Subject: Your code"$'\r\n\r\n'"Your verification code is $2."$'\r\n.' QUIT; do
    printf '%s\r\n' "$line" >&3
    read -r answer <&3
    [[ $answer == [23]* ]] || fail "$line: $answer"
  done
  exec 3>&-
}

admin() { setpriv --reuid mayfly --regid mayfly --init-groups mayfly admin "$@" --store /var/lib/mayfly; }

# Installed, it is complete, and nothing runs.
dpkg -i "$package"
mode "root:mayfly 640" /etc/mayfly/serve.toml
mode "mayfly:mayfly 700" /var/lib/mayfly
mode "root:root 755" /usr/bin/mayfly
[ "$(getent passwd mayfly | cut -d: -f6)" = /var/lib/mayfly ] || fail "the user mayfly has another home"
systemd-analyze verify mayfly.service
systemd-analyze security --offline=yes --threshold=20 --no-pager mayfly.service > /tmp/exposure
! mayfly health 2>/dev/null || fail "a service was started"
zcat /usr/share/man/man1/mayfly-serve.1.gz | grep -q '^.TH "MAYFLY-SERVE"' || fail "there is no manual page"
bash -c '. /usr/share/bash-completion/completions/mayfly; complete -p mayfly' >/dev/null

# It takes mail on port 25 as its user.
cat >>/etc/mayfly/serve.toml <<'END'
smtp = ":25"
domains = ["inbox.example"]
END
cp /etc/mayfly/serve.toml /tmp/edited.toml
start
key=$(admin key create --plan dev --name test)
export MAYFLY_BASE_URL=http://127.0.0.1:8425 MAYFLY_API_KEY=$key
address=$(mayfly new --username first)
send "$address" 482913
[ "$(mayfly wait "$address" --code --timeout 30s)" = 482913 ] || fail "the code is another"

# An upgrade, with other defaults, keeps the edited settings, the store, and its mail.
stop
dpkg-deb -R "$package" /tmp/newer
sed -i 's/^Version: .*/Version: 999.0.0/' /tmp/newer/DEBIAN/control
echo '# A newer default.' >>/tmp/newer/etc/mayfly/serve.toml
dpkg-deb --build -Znone /tmp/newer /tmp/newer.deb >/dev/null
dpkg --force-confdef --force-confold -i /tmp/newer.deb
cmp /etc/mayfly/serve.toml /tmp/edited.toml
[ -e /etc/mayfly/serve.toml.dpkg-dist ] || fail "the newer settings are not there to compare"
mode "root:mayfly 640" /etc/mayfly/serve.toml
mode "mayfly:mayfly 700" /var/lib/mayfly
start
mayfly read "$address" | grep -q 482913 || fail "the mail is lost"
stop

# rpm, apk and pacman replace settings that nobody edited by root's, which the script gives to the service again.
chown root:root /etc/mayfly/serve.toml
sh /var/lib/dpkg/info/mayfly.postinst 2
mode "root:mayfly 640" /etc/mayfly/serve.toml
mv /etc/mayfly/serve.toml /tmp/moved.toml
sh /var/lib/dpkg/info/mayfly.postinst configure 1.0.0 # settings that were removed stay so
[ ! -e /etc/mayfly/serve.toml ] || fail "an upgrade brings settings back"
mv /tmp/moved.toml /etc/mayfly/serve.toml

# Removed, its settings and mail stay. Purged, they go.
dpkg -r mayfly
[ ! -e /usr/bin/mayfly ] || fail "the program is still there"
cmp /etc/mayfly/serve.toml /tmp/edited.toml
ls /var/lib/mayfly/LOCK >/dev/null
dpkg -P mayfly
[ ! -e /etc/mayfly ] || fail "purged, it leaves settings: $(ls /etc/mayfly)"
[ ! -e /var/lib/mayfly ] || fail "purged, it leaves mail"
getent passwd mayfly >/dev/null || fail "purged, its user is gone, whose number somebody else would get"
