"""Fixtures for pytest: a mail service for the session, and an inbox for each test.

    def test_sign_up(app, inbox):
        app.sign_up(inbox.email)
        app.confirm(inbox.email, inbox.wait_for_code())

Each worker of pytest-xdist has a service of its own. The report of a test that fails has the messages that
came meanwhile.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any, Callable, Generator, Iterator

import pytest

from . import Inbox, MayflyError, Message, Service, _clean, _sender, start

_service = pytest.StashKey[Service]()
_began = pytest.StashKey[datetime]()  # when a test did

_SHOWN = 10  # messages in a report


@pytest.fixture(scope="session")
def mayfly(request: pytest.FixtureRequest) -> Iterator[Service]:
    """A mail service for the session. Point the application at smtp_host and smtp_port."""
    try:
        service = start()
    except MayflyError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    with service:
        request.config.stash[_service] = service
        yield service
        del request.config.stash[_service]


@pytest.fixture
def inbox(mayfly: Service) -> Inbox:
    """An inbox with an address of its own."""
    return mayfly.inbox()


@pytest.fixture
def mail_snapshot(request: pytest.FixtureRequest) -> Callable[[Inbox, str], None]:
    """Compare the next message of an inbox with mails/NAME.txt next to the test: mail_snapshot(inbox, "signup")."""
    directory = request.path.parent / "mails"

    def compare(inbox: Inbox, name: str, timeout: float = 10) -> None:
        __tracebackhide__ = True
        inbox.snapshot(name, str(directory), timeout)

    return compare


@pytest.hookimpl(hookwrapper=True)  # type: ignore[misc] # which runs before any hook that may fail
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, Any, None]:
    item.stash[_began] = datetime.now(timezone.utc) - timedelta(milliseconds=1)  # which times of messages leave out
    yield


@pytest.hookimpl(hookwrapper=True)  # type: ignore[misc]
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    report = (yield).get_result()
    service = item.config.stash.get(_service, None)
    if not report.failed or service is None:
        return
    try:
        mails = [m for i in service._inboxes() if i["message_count"] for m in service._messages(i["id"], item.stash[_began])]
    except MayflyError as error:
        report.sections.append(("Mails", f"cannot be read: {error}"))
        return
    mails.sort(key=lambda m: m.received_at)
    report.sections += [(f"Mail to {_clean(m.to)}", _shown(m)) for m in mails[-_SHOWN:]]


def _shown(m: Message) -> str:
    lines = [f"From:    {_sender(m)}", f"Subject: {_clean(m.subject)}"]
    if m.code is not None:
        lines.append(f"Code:    {_clean(m.code)}")
    if m.link is not None:
        lines.append(f"Link:    {_clean(m.link)}")
    return "\n".join(lines) + "\n\n" + m.rendered
