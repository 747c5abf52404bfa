"""A mail service for tests.

    with mayfly.start() as service:
        app = make_app(service.smtp_host, service.smtp_port)
        ada = service.inbox()
        app.sign_up(ada.email)
        app.confirm(ada.email, ada.wait_for_code())

With pytest, the fixtures ``mayfly`` and ``inbox`` do this: see ``mayfly.pytest_plugin``.

The service is the program ``mayfly``: the one that MAYFLY_BIN names, else the one installed with this
package, else the one on the PATH.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, Dict, List, Optional, Set, Tuple

__all__ = ["Inbox", "MayflyError", "Message", "NoMail", "Service", "SnapshotDiffers", "UnexpectedMail", "start"]


class MayflyError(Exception):
    """The service could not be started, or a request to it failed."""


class NoMail(MayflyError):
    """No mail arrived in time. The text shows what arrived instead."""


class UnexpectedMail(MayflyError, AssertionError):
    """A message arrived where none was expected."""


class SnapshotDiffers(MayflyError, AssertionError):
    """A message differs from its snapshot. The text shows the words."""


@dataclass(frozen=True)
class Message:
    """A message that has arrived."""

    id: str
    sender: str  #: address
    sender_name: str  #: empty when there is none
    to: str
    subject: str
    text: str  #: plain-text body, empty when there is none
    html: str  #: HTML body, empty when there is none
    received_at: datetime
    code: Optional[str]  #: one-time code
    link: Optional[str]  #: the link that the message asks to follow
    rendered: str  #: the message as a terminal shows it, safe to print
    json: Dict[str, Any] = field(repr=False)  #: the object of the REST API, with the attachments


def start() -> Service:
    """Start a mail service."""
    return Service()


# The command that `mayfly exec` runs: it says where the service is and lasts until its input ends. That
# happens even when the process at the other end is killed, so that nothing is left running.
_HOLD = """
import json, os, sys
print(json.dumps({k: v for k, v in os.environ.items() if k.startswith("MAYFLY_")}), flush=True)
sys.stdin.read()
"""

_TIMED_OUT = 5  # exit status of `mayfly wait`

_direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # no proxy reaches this machine


class Service:
    """A running mail service.

    It accepts mail to any address, with any login or none, and stores it in memory. It stops when it is
    closed, and with this process at the latest.
    """

    smtp_host: str  #: where it accepts mail
    smtp_port: int
    base_url: str  #: of its REST API
    api_key: str

    def __init__(self) -> None:
        self._program = _program()
        self._process = subprocess.Popen(
            [self._program, "exec", "--", sys.executable, "-c", _HOLD],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            # A ctrl+c is for the tests, which may still want to show their mail.
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
        )
        assert self._process.stdout is not None
        environ = self._process.stdout.readline()
        if not environ:
            raise MayflyError(f"`{self._program} exec` ended at once, with exit status {self._process.wait()}")
        try:
            self._environ: Dict[str, str] = json.loads(environ)
        except ValueError:
            self._process.kill()
            self._process.communicate()
            raise MayflyError(f"`{self._program} exec` started no service: is that Mayfly?") from None
        self.smtp_host = self._environ["MAYFLY_SMTP_HOST"]
        self.smtp_port = int(self._environ["MAYFLY_SMTP_PORT"])
        self.base_url = self._environ["MAYFLY_BASE_URL"]
        self.api_key = self._environ["MAYFLY_API_KEY"]
        self._asked_for: Dict[str, Inbox] = {}  # by address

    def inbox(self) -> Inbox:
        """Make an inbox with an address of its own."""
        return Inbox(self, self._request("/v1/inboxes", {"ttl": 24 * 60 * 60})["email"])

    def inbox_for(self, address: str) -> Inbox:
        """Return the inbox of an address that the application knows, such as its administrator's.

        The address can have any domain. The same address gives the same Inbox.
        """
        return self._asked_for.setdefault(address.lower(), Inbox(self, address))

    def close(self) -> None:
        """End the service."""
        self._process.communicate()

    def __enter__(self) -> Service:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, *args: str) -> subprocess.CompletedProcess[str]:
        """Run a command of mayfly."""
        return subprocess.run(
            [self._program, *args],
            env={**os.environ, **self._environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def _request(self, path: str, body: Optional[Dict[str, Any]] = None) -> Any:
        """Make a request to the REST API: a GET, or with a body a POST."""
        request = urllib.request.Request(
            self.base_url + path,
            data=None if body is None else json.dumps(body).encode(),
            headers={"X-API-Key": self.api_key, "Content-Type": "application/json"},
        )
        try:
            with _direct.open(request, timeout=30) as answer:
                return json.load(answer)
        except OSError as error:
            raise MayflyError(f"{self.base_url}{path}: {error}") from error

    def _inboxes(self) -> List[Dict[str, Any]]:
        """Return all inboxes, as the REST API has them."""
        page = self._request("/v1/inboxes")
        listed: List[Dict[str, Any]] = page["inboxes"]
        while page["inboxes"] and len(listed) < page["total"]:
            page = self._request(f"/v1/inboxes?after={listed[-1]['id']}")
            listed += page["inboxes"]
        return listed

    def _inbox_at(self, address: str) -> Optional[str]:
        """Return the ID of the inbox that mail to an address goes to, if there is one."""
        try:
            inbox_id: str = self._request("/v1/inboxes?" + urllib.parse.urlencode({"address": address}))["id"]
        except MayflyError as error:
            if isinstance(error.__cause__, urllib.error.HTTPError) and error.__cause__.code == 404:
                return None
            raise
        return inbox_id

    def _messages(self, inbox_id: str, since: Optional[datetime] = None) -> List[Message]:
        """Return the messages of an inbox, or those that arrived since then, the oldest first."""
        listed = self._request(f"/v1/inboxes/{inbox_id}/messages")["messages"]
        chosen = [s["id"] for s in reversed(listed) if since is None or _time(s["received_at"]) >= since]
        return [_message(self._read(inbox_id, chosen_id)) for chosen_id in chosen]

    def _read(self, inbox_id: str, message_id: str) -> str:
        done = self._run("read", inbox_id, message_id, "--json")
        if done.returncode != 0:
            raise MayflyError(done.stderr.strip())
        return done.stdout


class Inbox:
    """Where the mail to an address arrives.

    Each message, each code and each link is returned once. A wait
    returns the oldest that was not, starting at the message returned last. So a second wait_for_code
    returns the next code, and wait_for_link after it the link of the same mail.

    Only messages count whose subject and sender, by name or address, have the parts given as subject and
    sender, in any case.
    """

    email: str  #: the address

    def __init__(self, service: Service, email: str) -> None:
        self.email = email
        self._service = service
        self._returned: Set[Tuple[str, str]] = set()  # what was asked, and the message's ID

    def wait_for_code(self, timeout: float = 10, *, subject: str = "", sender: str = "") -> str:
        """Return the one-time code of the next message that has one. The timeout is in seconds."""
        __tracebackhide__ = True
        message = self._wait("code", timeout, subject, sender)
        assert message.code is not None
        return message.code

    def wait_for_link(self, timeout: float = 10, *, subject: str = "", sender: str = "") -> str:
        """Return the confirmation link of the next message that has one. The timeout is in seconds."""
        __tracebackhide__ = True
        message = self._wait("link", timeout, subject, sender)
        assert message.link is not None
        return message.link

    def wait_for_message(self, timeout: float = 10, *, subject: str = "", sender: str = "") -> Message:
        """Return the next mail. The timeout is in seconds."""
        __tracebackhide__ = True
        return self._wait("message", timeout, subject, sender)

    def messages(self, n: Optional[int] = None, timeout: float = 10, *, subject: str = "", sender: str = "") -> List[Message]:
        """Return the messages that are there now, the oldest first; with n, the next n, of which there must be no more.

        With n it waits for them, and then for two seconds. The timeout is in seconds.
        """
        __tracebackhide__ = True
        if n is None:
            inbox_id = self._service._inbox_at(self.email)
            return self._service._messages(inbox_id) if inbox_id else []
        return self._wait_for("message", timeout, f"--exactly={n}", *_filters(subject, sender))

    def expect_none(self, timeout: float = 5, *, subject: str = "", sender: str = "") -> None:
        """Raise UnexpectedMail if a message arrives that was not returned before. The timeout is in seconds."""
        __tracebackhide__ = True
        self._wait_for("message", timeout, "--none", *_filters(subject, sender))

    def snapshot(self, name: str, dir: str = "mails", timeout: float = 10) -> None:
        """Compare the next message with the file NAME.txt in a directory.

        A snapshot that does not exist is written, which fails where the variable CI is set. With the variable
        MAYFLY_UPDATE it is replaced.
        """
        __tracebackhide__ = True
        message = self._wait("message", timeout)
        update = ["--update"] if os.environ.get("MAYFLY_UPDATE") else []
        done = self._service._run("snap", name, self.email, message.id, f"--dir={dir}", *update)
        if done.returncode != 0:
            said = done.stderr.strip().replace("`mayfly snap --update` accepts it", "MAYFLY_UPDATE=1 accepts it")
            raise SnapshotDiffers(_said(said) + "\n" + done.stdout.rstrip())

    def __repr__(self) -> str:
        return f"Inbox({self.email!r})"

    def _wait(self, what: str, timeout: float, subject: str = "", sender: str = "") -> Message:
        __tracebackhide__ = True
        return self._wait_for(what, timeout, *_filters(subject, sender))[0]

    def _wait_for(self, what: str, timeout: float, *more: str) -> List[Message]:
        __tracebackhide__ = True
        args = ["wait", self.email, "--json", f"--timeout={max(timeout, 0.001):.3f}s", *more]
        if what != "message":
            args.append("--" + what)
        if not self._returned:  # else the first wait leaves out all but the newest
            args.append("--since=24h")
        done = self._service._run(*args)
        if done.returncode == _TIMED_OUT:
            raise NoMail(self._missing(done.stderr))
        messages = [_message(line) for line in done.stdout.splitlines()]
        if done.returncode == 1 and more and messages:
            raise UnexpectedMail(_said(done.stderr) + "".join("\n" + self._brief(m) for m in messages[-1:]))
        if done.returncode != 0:
            raise MayflyError(done.stderr.strip())
        self._returned.update((what, m.id) for m in messages)
        return messages

    def _missing(self, stderr: str) -> str:
        came = self.messages()
        return _said(stderr) + "".join("\n" + self._brief(m) for m in came[-5:])

    def _brief(self, m: Message) -> str:
        age = datetime.now(timezone.utc) - m.received_at
        lines = [f"  {_clean(m.subject)}", f"    from {_sender(m)}, {age.total_seconds():.1f} s ago"]
        for what, value in (("code", m.code), ("link", m.link)):
            if value is not None:
                lines.append(f"    {what} {_clean(value)}" + " (was returned before)" * ((what, m.id) in self._returned))
        text = [line.strip() for line in m.rendered.splitlines() if line.strip()]
        return "\n".join(lines + ["    | " + line for line in text[:3] + ["…"] * (len(text) > 3)])


def _filters(subject: str, sender: str) -> List[str]:
    """Return the flags of a wait for messages with parts of a subject and of a sender, in any case."""
    return [f"{flag}={part}" for flag, part in (("--subject", subject), ("--from", sender)) if part]


def _sender(m: Message) -> str:
    return _clean(f"{m.sender_name} <{m.sender}>" if m.sender_name else m.sender)


def _said(stderr: str) -> str:
    """Return what a command has said last."""
    lines = stderr.strip().splitlines()
    return lines[-1].replace("mayfly: ", "", 1) if lines else ""


def _message(line: str) -> Message:
    """Return the message that a command has printed."""
    printed = json.loads(line)
    m = printed["message"]
    return Message(
        id=m["id"],
        sender=m["from"],
        sender_name=m.get("from_name", ""),
        to=m["to"],
        subject=m["subject"],
        text=m["text"],
        html=m["html"],
        received_at=_time(m["received_at"]),
        code=printed["code"],
        link=printed["link"],
        rendered=printed["rendered"],
        json=m,
    )


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text.replace("Z", "+00:00"))  # Python 3.9 knows no Z


def _clean(text: str) -> str:
    """Make text from a message safe for a terminal."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _program() -> str:
    named = os.environ.get("MAYFLY_BIN")
    if named:
        found = shutil.which(named)
        if found is None:
            raise MayflyError(f"MAYFLY_BIN is {named}, which cannot be run")
        return found
    # Where pip installs it: for all, for a user, or into a directory with --target.
    directories = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", os.name + "_user"), str(Path(__file__).parents[1] / "bin")]
    found = shutil.which("mayfly", path=os.pathsep.join([*directories, os.environ.get("PATH", os.defpath)]))
    if found is None:
        raise MayflyError(
            f"the package for {sysconfig.get_platform()} has no program: put mayfly on the PATH, or set MAYFLY_BIN to its path"
        )
    return found
