"""An application to test, on Flask: who signs up gets a link to confirm with, who logs in a code."""

from __future__ import annotations

import itertools
import smtplib
from email.message import EmailMessage
from typing import Iterator

from flask import Flask, request


def make_app(smtp_host: str, smtp_port: int) -> Flask:
    app = Flask(__name__)
    codes: Iterator[int] = itertools.count(482913)

    def send(to: str, subject: str, text: str) -> None:
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = "Shop <no-reply@shop.example>", to, subject
        mail.set_content(text)
        with smtplib.SMTP(smtp_host, smtp_port) as smtp:
            smtp.login("shop", "any password")
            smtp.send_message(mail)

    @app.post("/signup")
    def sign_up() -> str:
        email = request.form["email"]
        send(email, "Confirm your address", "Welcome!\n\nConfirm your address: http://localhost/confirm?token=t0k3n\n")
        send("owner@shop.example", "New customer", f"{email} has signed up.\n")
        return "We have sent you a link."

    @app.get("/confirm")
    def confirm() -> str:
        return request.args["token"]

    @app.post("/login")
    def log_in() -> str:
        send(request.form["email"], "Your login", f"Your login code is {next(codes)}.\n")
        return "We have sent you a code."

    return app
