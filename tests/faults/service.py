"""A real server in a process group of its own."""

import os
import random
import signal
import socket
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from app.settings import Settings
from tests.browser.live import answers, forget_counts
from tests.faults.waiting import eventually
from tests.warm import Process


def free_port() -> int:
    """A free port below those that outgoing connections get: nothing takes it while a killed server starts again."""
    while True:
        port = random.SystemRandom().randrange(15_000, 30_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port


@dataclass
class Service:
    """A server in a process group of its own, that can be killed whole and started again."""

    settings: Settings
    log: Path
    allow_hosts: str = "127.0.0.1"
    environment: Mapping[str, str] = field(default_factory=dict)
    """More settings, by their names in the environment."""
    process: Process | None = None
    command: str = "serve"

    def start(self) -> None:
        self.launch()
        try:
            eventually(self.answers, "the server answers")
        except AssertionError as error:
            error.add_note(self.log.read_text(errors="replace")[-4_000:])
            raise

    def launch(self) -> None:
        """Start it and return at once."""
        environment = {
            **os.environ,
            "BRIDGENOTE_DATA_DIR": str(self.settings.data_dir),
            "BRIDGENOTE_DATABASE_URL": self.settings.database_url,
            "BRIDGENOTE_PORT": str(self.settings.port),
            "BRIDGENOTE_WEBHOOK_ALLOW_HOSTS": self.allow_hosts,
            "BRIDGENOTE_RATE_LIMIT_ENABLED": "false",
            "BRIDGENOTE_ENCRYPTION_KEY": self.settings.encryption_key.get_secret_value(),
            **self.environment,
        }
        with self.log.open("ab") as log:
            self.process = Process(
                "app",
                self.command,
                env=environment,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def answers(self) -> bool:
        # The port is open before the first worker can answer, so only an answer counts.
        return answers(self.settings.port)

    def kill(self) -> None:
        assert self.process is not None
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def end(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
        forget_counts(self.settings.port)
