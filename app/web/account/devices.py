"""What a browser calls itself, in words that its owner knows it by."""

import re

_BROWSERS = (
    ("Edge", r"\bEdgA?/|\bEdgiOS/"),
    ("Opera", r"\bOPR/|\bOpera\b"),
    ("Samsung Internet", r"\bSamsungBrowser/"),
    ("Firefox", r"\bFirefox/|\bFxiOS/"),
    ("Chrome", r"\bChrome/|\bCriOS/|\bChromium/"),
    ("Safari", r"\bSafari/"),
)
_SYSTEMS = (
    ("iPhone", r"\biPhone\b"),
    ("iPad", r"\biPad\b"),
    ("Android", r"\bAndroid\b"),
    ("Windows", r"\bWindows\b"),
    ("macOS", r"\bMacintosh\b|\bMac OS X\b"),
    ("ChromeOS", r"\bCrOS\b"),
    ("Linux", r"\bLinux\b"),
)
"""In this order: each names itself as some that stand below it, too."""


def device(user_agent: str) -> str:
    """“Firefox on Linux”; what is not known is named by its first word."""
    browser, system = _first(_BROWSERS, user_agent), _first(_SYSTEMS, user_agent)
    if browser and system:
        return f"{browser} on {system}"
    return browser or system or user_agent.split("/")[0].strip()[:40] or "Unknown device"


def _first(names: tuple[tuple[str, str], ...], user_agent: str) -> str:
    return next((name for name, pattern in names if re.search(pattern, user_agent)), "")
