"""Runs the commands ``serve`` and ``worker``, from reading the settings to the exit of the process."""

import gc
import math
import signal
import sys
import threading
import uuid
from types import FrameType

from sqlalchemy.orm import Session

from app import __version__
from app.adapters.media import pictures
from app.core.attachments import fetching, files
from app.core.communities import founding
from app.core.people import providers
from app.demo import seed
from app.demo.pictures import KeepPicture
from app.demo.sign_ins import Demo
from app.process import logs, runtime, starting
from app.process.serve import serve as serve_http
from app.process.worker import WSGIApp
from app.settings import Settings
from app.wiring import Wiring, server_provider, wire

SIMULATOR = "127.0.0.1:8999"
"""Host and port where ``simulate`` listens for webhooks by default."""


def serve(settings: Settings, *, demo: bool = False) -> None:
    """Serve until a signal stops the process. Raises ``SystemExit``."""
    _configure_logs(settings)
    if demo and settings.is_demo_allowed and not settings.webhook_allow_hosts:
        # The demo's integration, `simulate`, listens there. Webhooks can reach nothing else on this machine.
        settings = settings.model_copy(update={"webhook_allow_hosts": SIMULATOR})
    with starting.answering(settings.host, settings.port):
        runtime.await_database(settings)
        runtime.migrate(settings)
        runtime.prepare_counts(settings)
        shown = _demonstration(settings) if demo else None
        token = _first_admin_token(settings)
        set_provider(settings)
    running: list[runtime.Process] = []

    def load(slot: int) -> WSGIApp:
        # Without a limit: if the worker that replaces a dead one failed, the server would end. It is replaced again
        # after a minute.
        runtime.await_database(settings, math.inf)
        process = runtime.Process(
            settings,
            name=f"web-{slot}:{settings.port}",
            runs_jobs=settings.jobs_in_process,
            version=__version__,
        )
        process.wiring.first_admin_token = token
        running.append(process)
        process.start()
        return create_app(process.wiring, __version__)

    def stop() -> None:
        for process in running:
            process.stop()

    def announce(url: str) -> None:
        print(f"\nBridgenote is at {url}   (Ctrl-C ends it)", flush=True)
        if shown is not None:
            print(demo_lines(shown, url), flush=True)
        if token is not None:
            # A service manager writes this output to a log, and a log must not contain a token.
            may_show = settings.environment != "production" or sys.stdout.isatty()
            print(first_admin_lines(settings.public_url or url, token if may_show else None), flush=True)

    # Imported before the fork, so that the forked processes share the memory of the modules.
    gc.disable()
    from app.application import create_app
    from app.jobs import dispatcher, registry  # noqa: F401 - each process needs them
    from app.web import import_pages

    import_pages()
    # All connections opened above are closed. Collect their objects before the fork, not after it.
    gc.collect()
    gc.freeze()
    gc.enable()
    serve_http(
        host=settings.host,
        port=settings.port,
        processes=settings.web_processes,
        threads=settings.web_threads,
        load_app=load,
        stop_app=stop,
        trusted_proxies=settings.trusted_proxies,
        announce=announce,
    )


def work(settings: Settings) -> None:
    """Run jobs and webhook deliveries until SIGTERM or Ctrl-C."""
    _configure_logs(settings)
    runtime.await_database(settings)
    runtime.migrate(settings)
    ended = threading.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        ended.set()

    with runtime.slot(settings.data_dir, "worker") as name:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, end)
        process = runtime.Process(settings, name=name, runs_jobs=True, version=__version__)
        process.start()
        print(f"{name} is at work.   (Ctrl-C ends it)", flush=True)
        ended.wait()
        process.stop()
    print(f"{name} has ended.", flush=True)


def _configure_logs(settings: Settings) -> None:
    logs.configure(settings.log_level, as_json=settings.logs_as_json)


def _demonstration(settings: Settings) -> Demo | None:
    """Return the sign-ins of the demo community, created now if the database is empty; None if there is no demo."""
    if not settings.is_demo_allowed:
        return None
    wiring = wire(settings)
    try:
        created = seed.seed(
            wiring.database, wiring.classifiers, wiring.sealer, settings.data_dir, keep_picture(wiring)
        )
        if created is not None:
            return created
        with wiring.database.reading() as session:
            return seed.load_demo(session, settings.data_dir)
    finally:
        wiring.database.dispose()


def keep_picture(wiring: Wiring) -> KeepPicture:
    """Return what stores the demo's pictures, checked and re-encoded like fetched ones."""

    def keep(session: Session, attachment_id: uuid.UUID, content: bytes) -> None:
        with pictures.rewrite(content) as obtained:
            files.announce(session, obtained)
            for file in obtained.files:
                wiring.media.put(file.sha256, file.content, file.size)
            fetching.keep(session, attachment_id, obtained)

    return keep


def _first_admin_token(settings: Settings) -> str | None:
    """Return the token of a new link for the first admin, or None if there is an admin. Earlier links expire."""
    wiring = wire(settings)
    try:
        with wiring.database.writing() as session:
            return founding.begin(session)
    finally:
        wiring.database.dispose()


def set_provider(settings: Settings) -> None:
    """Make the sign-in provider of the settings one that people can use, and end that of earlier settings."""
    wiring = wire(settings)
    try:
        with wiring.database.writing() as session:
            providers.set_by_server(session, wiring.sealer, server_provider(settings))
    finally:
        wiring.database.dispose()


def first_admin_lines(url: str, token: str | None) -> str:
    """Explain how to create the first admin: with the link, or without ``token`` with a command."""
    if token is None:
        return (
            "\nThere is no admin yet. Create one with `python -m app create-account --role admin`,\n"
            "or start the service in a terminal, which shows a link.\n"
        )
    return (
        "\nThere is no admin yet. Open this link to create the first one:\n"
        f"  {url}/first-admin/{token}\n"
        "It works once, for an hour. The next start prints a new one.\n"
    )


def demo_lines(demo: Demo, url: str | None = None) -> str:
    """Return the text for a visitor of the demo: sign-ins, API key and a first request."""
    rows = [f"  {sign_in.role:<10} {sign_in.email:<24} {sign_in.password}" for sign_in in demo.sign_ins]
    lines = ["", "Demo sign-ins", *rows, "", f"Demo API key\n  {demo.api_key}"]
    if url is not None:
        query = f"platform={demo.platform}&platform_community_server_id={demo.community}"
        lines += [
            "",
            "Try it",
            f"  curl -H 'Authorization: Bearer {demo.api_key}' \\",
            f"    '{url}/api/public/v1/community-servers/lookup?{query}'",
        ]
    return "\n".join(lines) + "\n"
