"""What no page may do: report errors, break the content security policy, ask other hosts."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

from playwright.sync_api import BrowserContext, ConsoleMessage, Request

_REPORT_VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`Content-Security-Policy: ${event.violatedDirective} forbids ${event.blockedURI} ${event.sample}`));
"""


@dataclass
class Watch:
    """Records forbidden behaviour: console errors, exceptions, violations of the CSP, requests to other hosts.

    The console also reports each response of 400 and above; a test declares which of those it expects.
    """

    origin: str
    wanted: set[int] = field(default_factory=set)
    faults: list[str] = field(default_factory=list)

    def over(self, context: BrowserContext) -> None:
        context.add_init_script(_REPORT_VIOLATIONS)
        context.on("console", self._said)
        context.on("weberror", lambda error: self.faults.append(f"thrown: {error.error}"))
        context.on("request", self._sent)

    def begin(self) -> None:
        """Forget what the visitor before expected and did."""
        self.wanted, self.faults = set(), []

    def _said(self, message: ConsoleMessage) -> None:
        if message.type not in {"error", "warning"}:
            return
        # The browser says so, and htmx once more.
        said = ("responded with a status of", "Response Status Error Code")
        if any(f"{words} {status} " in message.text for words in said for status in self.wanted):
            return
        self.faults.append(f"{message.type} in the console: {message.text}")

    def _sent(self, request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme != "data" and f"{address.scheme}://{address.netloc}" != self.origin:
            self.faults.append(f"a request to {request.url}")
