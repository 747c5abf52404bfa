"""A signup, as users of the package test it."""

from __future__ import annotations

from typing import Any

import mayfly as kit
import pytest

from shop import make_app


@pytest.fixture
def app(mayfly: kit.Service) -> Any:
    return make_app(mayfly.smtp_host, mayfly.smtp_port).test_client()


def test_sign_up(app: Any, inbox: kit.Inbox, mayfly: kit.Service) -> None:
    app.post("/signup", data={"email": inbox.email})
    assert app.get(inbox.wait_for_link()).text == "t0k3n"
    app.post("/login", data={"email": inbox.email})
    app.post("/login", data={"email": inbox.email})
    assert [inbox.wait_for_code(), inbox.wait_for_code()] == ["482913", "482914"]
    note = mayfly.inbox_for("owner@shop.example").wait_for_message()
    assert (note.subject, note.text.strip()) == ("New customer", f"{inbox.email} has signed up.")
    assert mayfly.inbox_for("Owner@shop.example") is mayfly.inbox_for("owner@shop.example"), "it would begin again"


def test_each_mail_is_returned_once_for_each_thing(app: Any, inbox: kit.Inbox) -> None:
    for action in ("/signup", "/login", "/login"):
        app.post(action, data={"email": inbox.email})
    assert inbox.wait_for_message().subject == "Confirm your address"
    assert inbox.wait_for_code() == "482913"
    second = inbox.wait_for_message()
    assert (second.code, second.sender_name) == ("482913", "Shop")
    assert inbox.wait_for_code() == "482914"
    with pytest.raises(kit.NoMail):
        inbox.wait_for_code(timeout=0.1)
    assert [m.code for m in inbox.messages()] == [None, "482913", "482914"]
