"""Reads what guard models write: words, codes and JSON, with the probabilities of the deciding word if given."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from app.adapters.services.http import read_object
from app.core.services.kinds import Answer, CategoryMap, Failure

UNSAFE = "unsafe"
"""The vendor category for the whole verdict; which harm it is, the codes say."""
VIOLATION = "violation"
"""The one category of a yes-or-no question."""

LLAMA_GUARD_MAP: CategoryMap = {
    "S1": "threat",  # violent crimes
    "S2": None,  # non-violent crimes
    "S3": "sexual",  # sex-related crimes
    "S4": "sexual",  # child sexual exploitation
    "S5": None,  # defamation
    "S6": None,  # specialised advice
    "S7": "pii",  # privacy
    "S8": None,  # intellectual property
    "S9": None,  # indiscriminate weapons
    "S10": "hate",
    "S11": "self_harm",
    "S12": "sexual",
    "S13": None,  # elections
    "S14": None,  # code interpreter abuse
    UNSAFE: None,
}
QWEN3_GUARD_MAP: CategoryMap = {
    "Violent": "threat",
    "Non-violent Illegal Acts": None,
    "Sexual Content or Sexual Acts": "sexual",
    "PII": "pii",
    "Suicide & Self-Harm": "self_harm",
    "Unethical Acts": "toxicity",
    "Politically Sensitive Topics": None,
    "Copyright Violation": None,
    "Jailbreak": None,
    UNSAFE: None,
}
_CODE = re.compile(r"S\d{1,2}", re.ASCII)
_SAFETY = re.compile(r"Safety:\s*(Safe|Unsafe|Controversial)\b", re.IGNORECASE)
_CATEGORIES = re.compile(r"Categories:\s*([^\n]*)", re.IGNORECASE)
_HALF = 0.5
"""What "controversial" counts, between safe and unsafe."""


@dataclass(frozen=True)
class Reply:
    """A model's answer: its text without spaces around it, the log probabilities as given, the model's name."""

    text: str
    logprobs: Any = None
    model: str = ""


def llama_guard(reply: Reply, categories: Sequence[str]) -> Answer:
    """``safe``, or ``unsafe`` and on the next line the codes of the harms, separated by commas."""
    first, _, rest = reply.text.partition("\n")
    verdict = first.strip().lower()
    if verdict not in ("safe", "unsafe"):
        raise Failure("broken answer: neither safe nor unsafe")
    found = _CODE.findall(rest.upper()) if verdict == "unsafe" else []
    return _verdict(reply, {"unsafe": 1.0, "safe": 0.0}, verdict, found, categories)


def qwen3_guard(reply: Reply, categories: Sequence[str]) -> Answer:
    """``Safety: Unsafe`` (or Safe, Controversial) and ``Categories:`` with names separated by commas."""
    safety = _SAFETY.search(reply.text)
    if safety is None:
        raise Failure("broken answer: no Safety line")
    verdict = safety[1].lower()
    listed = _CATEGORIES.search(reply.text)
    names = [name.strip() for name in listed[1].split(",")] if listed and verdict != "safe" else []
    found = [name for name in names if name and name.lower() != "none"]
    return _verdict(reply, {"unsafe": 1.0, "safe": 0.0, "controversial": _HALF}, verdict, found, categories)


def yes_no(reply: Reply, _categories: Sequence[str]) -> Answer:
    """``Yes``: the policy is violated; ``No``: it is not."""
    word = re.match(r"\W*(yes|no)\b", reply.text, re.IGNORECASE)
    if word is None:
        raise Failure("broken answer: neither Yes nor No")
    weights = {"yes": 1.0, "no": 0.0}
    likely = probability(reply.logprobs, weights)
    score = weights[word[1].lower()] if likely is None else likely
    return Answer({VIOLATION: score}, reply.model, calibrated=likely is not None)


def scores_json(reply: Reply, categories: Sequence[str]) -> Answer:
    """A JSON object with a number for each category. A model's own figures are no probabilities: uncalibrated."""
    given = read_object(reply.text)
    unknown = given.keys() - set(categories)
    if unknown:
        raise Failure("broken answer: categories that it was not asked for")
    missing = set(categories) - given.keys()
    if missing:
        raise Failure(f"broken answer: {len(missing)} of {len(categories)} categories are missing")
    return Answer(given, reply.model, calibrated=False)


def _verdict(
    reply: Reply,
    weights: Mapping[str, float],
    verdict: str,
    found: Collection[str],
    categories: Sequence[str],
) -> Answer:
    likely = probability(reply.logprobs, weights)
    unsafe = weights[verdict] if likely is None else likely
    # Every known category was looked for, so one that is not named was scored 0. The model names categories only
    # for its own verdict: a post that it calls safe has them all at 0, and the doubt is in the verdict's score.
    scores = {name: 0.0 for name in categories if name != UNSAFE}
    if weights[verdict] > 0 and not found:
        # Unsafe, without saying why: it may be any of them, so people must look, whatever category they see.
        return Answer(dict.fromkeys([*scores, UNSAFE], max(unsafe, _HALF)), reply.model, calibrated=False)
    scores |= dict.fromkeys(found, unsafe)
    return Answer({**scores, UNSAFE: unsafe}, reply.model, calibrated=likely is not None)


def probability(logprobs: Any, weights: Mapping[str, float]) -> float | None:
    """The weighted probability at the first token that begins one of these words, None without log probabilities.

    ``weights`` maps each word, in lower case, to what it counts: 1.0 for the harmful one, 0.0 for the harmless.
    """
    tokens = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    for token in tokens if isinstance(tokens, list) else ():
        if not isinstance(token, Mapping) or _word(token.get("token"), weights) is None:
            continue
        alternatives = token.get("top_logprobs")
        found = alternatives if isinstance(alternatives, list) and alternatives else [token]
        shares: dict[str, float] = {}
        for alternative in found:
            word = _word(alternative.get("token"), weights) if isinstance(alternative, Mapping) else None
            value = alternative.get("logprob") if word is not None else None
            if word is None or isinstance(value, bool) or not isinstance(value, int | float):
                continue
            if not math.isfinite(value) or value > 0.001:
                return None
            shares[word] = shares.get(word, 0.0) + math.exp(value)
        total = sum(shares.values())
        if total <= 0:
            return None
        return min(1.0, sum(weights[word] * share for word, share in shares.items()) / total)
    return None


def _word(token: Any, words: Mapping[str, float]) -> str | None:
    """Which of the words a token begins: " Unsafe", "un" and "unsafe" begin "unsafe"; None for any other token."""
    if not isinstance(token, str):
        return None
    text = token.strip().lower()
    if text in words:
        return text
    return next((word for word in words if len(text) >= 2 and word.startswith(text)), None)
