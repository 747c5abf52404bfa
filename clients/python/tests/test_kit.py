"""What users see when something goes wrong, and what is left behind."""

from __future__ import annotations

import smtplib
import subprocess
import sys
from pathlib import Path

import mayfly as kit
import pytest

pytest_plugins = ["pytester"]

FAILING = """
    import smtplib

    def test_fails(mayfly, inbox):
        with smtplib.SMTP(mayfly.smtp_host, mayfly.smtp_port) as smtp:
            for to, code in ((inbox.email, 482913), ("bob@shop.example", 482914)):
                smtp.sendmail("shop@shop.example", to, f"From: Shop <shop@shop.example>\\nSubject: Your login \\x1b[31m\\n\\nYour login code is {code}.\\n")
        assert inbox.wait_for_code() == "482913"
        inbox.wait_for_code(timeout=0.1)

    def test_comes_after(inbox):
        assert False
"""


def test_a_failure_shows_the_mails(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(FAILING)
    result = pytester.runpytest_subprocess()
    result.stdout.fnmatch_lines(
        [
            'E *NoMail: no * to *@mayfly.test with a code within 100ms; mail * another inbox: bob@shop.example; returned before was "Your login*',
            "E *Your login *",
            "E * from Shop <shop@shop.example>, *",
            "E * code 482913 (was returned before)",
            "E * | Your login code is 482913.",
        ]
    )
    for to, code in (("*@mayfly.test", 482913), ("bob@shop.example", 482914)):  # both may have come in one millisecond
        result.stdout.fnmatch_lines([f"*- Mail to {to} -*", "From:    Shop <shop@shop.example>", f"Code:    {code}"])
    assert str(result.stdout).count("- Mail to ") == 2, "a test shows the mails of the one before"
    assert "\x1b[31m" not in str(result.stdout)


def test_a_setup_that_fails_first_is_reported(pytester: pytest.Pytester) -> None:
    pytester.makeconftest(
        """
        import pytest

        def pytest_runtest_setup(item):
            assert item.name != "test_unlucky"
        """
    )
    pytester.makepyfile(FAILING + "\n    def test_unlucky(inbox):\n        pass\n")
    pytester.runpytest_subprocess().assert_outcomes(failed=2, errors=1)


def test_without_the_program_a_test_says_what_to_do(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MAYFLY_BIN", "/nowhere/mayfly")
    pytester.makepyfile("def test_it(inbox): pass")
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["MAYFLY_BIN is /nowhere/mayfly, which cannot be run"])
    result.stdout.no_fnmatch_line("*another exception*")


def test_a_wait_names_the_service_if_no_mail_came_at_all() -> None:
    with kit.start() as service:
        with pytest.raises(kit.NoMail, match=f"nothing has connected to SMTP {service.smtp_host}:{service.smtp_port} in the last 1 s"):
            service.inbox().wait_for_link(timeout=0.1)


def _send(service: kit.Service, to: str, text: str) -> None:
    with smtplib.SMTP(service.smtp_host, service.smtp_port) as smtp:
        smtp.sendmail("shop@shop.example", to, f"From: shop@shop.example\nSubject: Hello\n\n{text}\n")


def test_none_and_exactly_so_many() -> None:
    with kit.start() as service:
        inbox = service.inbox()
        inbox.expect_none(timeout=0.1)
        _send(service, inbox.email, "One")
        assert [m.text.strip() for m in inbox.messages(1)] == ["One"]
        _send(service, inbox.email, "Two")
        with pytest.raises(kit.UnexpectedMail, match="(?s)none was expected.*Hello"):
            inbox.expect_none(timeout=0.1)


def test_waits_for_mail_of_a_subject_and_a_sender() -> None:
    with kit.start() as service:
        inbox = service.inbox()
        for subject in ("Receipt", "Welcome"):
            with smtplib.SMTP(service.smtp_host, service.smtp_port) as smtp:
                smtp.sendmail("shop@shop.example", inbox.email, f"From: Shop <shop@shop.example>\nSubject: {subject}\n\nHello\n")
        inbox.expect_none(timeout=0.1, sender="bank")
        assert inbox.wait_for_message(subject="welcome", sender="shop@").subject == "Welcome"
        with pytest.raises(kit.NoMail, match='(?s)subject "welcome".*Receipt'):
            inbox.wait_for_message(timeout=0.1, subject="welcome")


def test_a_snapshot_differs_by_words(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    pytester.makepyfile(
        """
        import smtplib

        def send(mayfly, to, text):
            with smtplib.SMTP(mayfly.smtp_host, mayfly.smtp_port) as smtp:
                smtp.sendmail("shop@shop.example", to, f"From: shop@shop.example\\nSubject: Hello\\n\\n{text}\\n")

        def test_it(mayfly, inbox, mail_snapshot):
            send(mayfly, inbox.email, "Hello Ada, your code is 111111.")
            mail_snapshot(inbox, "login")
            send(mayfly, inbox.email, "Hello Ada, your code is 222222.")
            mail_snapshot(inbox, "login")
            send(mayfly, inbox.email, "Dear Ada, your code is 222222.")
            mail_snapshot(inbox, "login")
        """
    )
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        ["E *SnapshotDiffers: *login.txt; MAYFLY_UPDATE=1 accepts it", "E *- [[]-Hello-] Ada, *", "E *+ {+Dear+} Ada, *"]
    )


@pytest.mark.parametrize(
    "environ, said",
    [
        ({"MAYFLY_BIN": "/nowhere/mayfly"}, "MAYFLY_BIN is /nowhere/mayfly, which cannot be run"),
        ({"MAYFLY_BIN": sys.executable}, f"`{sys.executable} exec` ended at once, with exit status 2"),
        ({"MAYFLY_BIN": "/bin/echo"}, "`/bin/echo exec` started no service: is that Mayfly?"),
    ],
)
def test_the_program_is_missing(monkeypatch: pytest.MonkeyPatch, environ: "dict[str, str]", said: str) -> None:
    monkeypatch.delenv("MAYFLY_BIN", raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(kit.MayflyError) as error:
        kit.start()
    assert said in str(error.value)


def test_each_worker_has_a_service(pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist", reason="needs the package python3-pytest-xdist")
    pytester.makepyfile(
        """
        import pathlib
        import pytest

        @pytest.mark.parametrize("n", range(8))
        def test_it(mayfly, inbox, worker_id, n):
            pathlib.Path(f"{worker_id} {mayfly.smtp_port}").touch()
        """
    )
    pytester.runpytest_subprocess("-n2").assert_outcomes(passed=8)
    names = [p.name.split() for p in pytester.path.glob("gw*")]
    assert len(names) == len({port for _, port in names}) == len({worker for worker, _ in names})


def test_nothing_is_left_when_pytest_is_killed(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
        import signal

        def test_it(mayfly, inbox):
            print("state", mayfly._environ["MAYFLY_STATE_DIR"], flush=True)
            signal.pause()
        """
    )
    running = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-s", "-q"], cwd=pytester.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert running.stdout is not None
    state = Path(next(line for line in running.stdout if line.startswith("state ")).split()[1])
    assert state.exists()
    running.kill()
    running.stdout.read()  # until all that have inherited it have ended
    running.wait()
    assert not state.exists()
