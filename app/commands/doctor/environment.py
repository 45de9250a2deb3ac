"""Checks on the environment: settings, secrets, data folder, port, proxies, rate limits, mail server."""

import http.client
import ipaddress
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import closing
from urllib.parse import urlsplit

from app.adapters.mail import SmtpMailer
from app.commands.doctor.findings import Result, fail, ok, warn
from app.process.serve import parse_networks
from app.wiring import Wiring

LEAST_FREE_BYTES = 200 * 1024 * 1024
LITTLE_FREE_BYTES = 5 * LEAST_FREE_BYTES
LEAST_LETTERS = 32
LEAST_DIFFERENT = 10
"""Least number of characters in a secret, and of different ones: a secret below was typed, not generated randomly."""
MAIL_SECONDS = 5.0
_MAKE = "make one with `openssl rand -base64 32`"


def settings(wiring: Wiring) -> Iterator[Result]:
    chosen = wiring.settings
    if chosen.environment == "production":
        if not chosen.public_url:
            yield warn("BRIDGENOTE_PUBLIC_URL is not set", "set it to the https address that people use")
        elif not chosen.public_url.startswith("https://") and _is_loopback(
            urlsplit(chosen.public_url).hostname or ""
        ):
            yield warn(
                "BRIDGENOTE_PUBLIC_URL is this machine: from another one nobody can sign in",
                "set it to the https address that people use",
            )
        elif not chosen.public_url.startswith("https://"):
            yield fail(
                "BRIDGENOTE_PUBLIC_URL is not https", "sign-in cookies need https: put a proxy before it"
            )
        if not chosen.smtp_host:
            yield warn("no mail server is set: mails are written to a folder", "set BRIDGENOTE_SMTP_HOST")
        if chosen.webhook_allow_hosts:
            yield warn(
                "BRIDGENOTE_WEBHOOK_ALLOW_HOSTS lets webhooks reach hosts over plain http",
                "leave it empty in production",
            )
    elif not _is_loopback(chosen.host):
        yield fail(
            f"development settings on {chosen.host}, where others reach them",
            "set BRIDGENOTE_ENVIRONMENT=production, or BRIDGENOTE_HOST=127.0.0.1",
        )
    if not chosen.rate_limit_enabled:
        yield warn("rate limits are off", "set BRIDGENOTE_RATE_LIMIT_ENABLED=true")
    yield ok(f"{chosen.environment}, read without error")


def secrets(wiring: Wiring) -> Iterator[Result]:
    chosen = wiring.settings
    values = {
        name: getattr(chosen, name.lower()).get_secret_value() for name in ("SECRET_KEY", "ENCRYPTION_KEY")
    }
    for name, value in values.items():
        if len(value) < LEAST_LETTERS or len(set(value)) < LEAST_DIFFERENT:
            how = f"{_MAKE}, and change it by `rotate-encryption-key`" if name == "ENCRYPTION_KEY" else _MAKE
            yield fail(f"BRIDGENOTE_{name} is short or monotonous", how)
    if len(set(values.values())) < len(values):
        yield warn("both keys are the same", f"give each its own: {_MAKE}")
    yield ok("two keys, not shown")


def data_folder(wiring: Wiring) -> Iterator[Result]:
    folder = wiring.settings.data_dir.resolve()
    if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
        yield fail(f"{folder} cannot be written to", "give it to the user that runs the service")
    if folder.stat().st_mode & 0o077:
        yield warn(f"others on this machine may look into {folder}", f"run `chmod 700 {folder}`")
    free = shutil.disk_usage(folder).free
    space = f"{free // 1024**2} MB free"
    if free < LEAST_FREE_BYTES:
        yield fail(f"{folder}: only {space}", "make room before writes begin to fail")
    elif free < LITTLE_FREE_BYTES:
        yield warn(f"{folder}: only {space}", "make room soon")
    yield ok(f"{folder}, {space}")


def port(wiring: Wiring) -> Iterator[Result]:
    host, number = wiring.settings.host, wiring.settings.port
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, number), family=family).close()
    except OSError as error:
        if _is_ours(host, number):
            yield ok(f"a server of this service answers at {host}:{number}")
            return
        reason = os.strerror(error.errno) if error.errno and error.errno > 0 else error
        yield fail(f"{host}:{number}: {reason}", "end what uses it, or set BRIDGENOTE_PORT")
        return
    yield ok(f"{host}:{number} is free")


def proxies(wiring: Wiring) -> Iterator[Result]:
    trusted = wiring.settings.trusted_proxies
    networks = parse_networks(trusted)
    if any(network.num_addresses > 2**16 for network in networks):
        yield warn(
            f"BRIDGENOTE_TRUSTED_PROXIES believes very many addresses ({trusted})",
            "name your proxies alone: whoever is believed can pass for any address",
        )
    if wiring.settings.environment == "production" and not networks:
        yield warn(
            "no proxy is trusted: behind one, everybody has its address and shares its limits",
            "set BRIDGENOTE_TRUSTED_PROXIES to the proxy's address",
        )
    yield ok(trusted or "none is trusted")


def rate_limits(wiring: Wiring) -> Iterator[Result]:
    where = wiring.settings.rate_limit_storage
    if not wiring.throttle.reachable():
        if where:
            yield fail(
                "the storage in BRIDGENOTE_RATE_LIMIT_STORAGE does not answer", "start it, or name another"
            )
        else:
            file = wiring.settings.data_dir.resolve() / "limits.db"
            yield fail(f"{file} cannot be written", "give it, and room, to the user of the service")
        return
    yield ok("shared by the machines" if where else "shared by the processes of this machine")


def mail_server(wiring: Wiring) -> Iterator[Result]:
    if not isinstance(wiring.mailer, SmtpMailer):
        yield ok(f"none; mails are written to {wiring.settings.data_dir.resolve() / 'mail'}")
        return
    where = f"{wiring.mailer.host}:{wiring.mailer.port}"
    try:
        wiring.mailer.check(MAIL_SECONDS)
    except Exception as error:
        yield fail(f"{where}: {error}", "check the BRIDGENOTE_SMTP settings; mails wait meanwhile")
        return
    yield ok(f"{where} takes our mail")


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_ours(host: str, number: int) -> bool:
    target = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - what it means to connect there
    with closing(http.client.HTTPConnection(target, number, timeout=2)) as connection:
        try:
            connection.request("GET", "/healthz")
            return b"bridgenote" in connection.getresponse().read(200)
        except (OSError, http.client.HTTPException):
            return False
