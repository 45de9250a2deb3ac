"""The mails of a service without a mail server: files in its data folder, read as their receivers read them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from email import message_from_bytes
from email.message import EmailMessage
from email.policy import default

from app.wiring import Wiring
from tests.inline_engine import InlineEngine


@dataclass
class Mailbox:
    """Everybody's mail. Reading it runs the jobs that are waiting first."""

    wiring: Wiring
    jobs: InlineEngine

    def all(self, to: str | None = None) -> Sequence[EmailMessage]:
        """Mails, oldest first; those to one address, when given."""
        self.jobs.run_all()
        folder = self.wiring.settings.data_dir.resolve() / "mail"
        files = sorted(folder.glob("*.eml"), key=lambda file: file.stat().st_mtime_ns)
        mails = [message_from_bytes(file.read_bytes(), policy=default) for file in files]
        return [mail for mail in mails if to is None or mail["To"] == to]

    def last(self, to: str) -> EmailMessage:
        return self.all(to)[-1]

    def link(self, to: str) -> str:
        """The path of the link in the last mail to this address."""
        found = re.search(
            r"http://127\.0\.0\.1:8000(/(?:confirm|reset|join)/\S+)", self.last(to).get_content()
        )
        assert found, self.last(to).get_content()
        return found.group(1)
