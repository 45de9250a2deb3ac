"""What raters prefer to be asked: languages they read, categories they would rather not see, when to offer a break."""

from collections.abc import Sequence

from app.core import limits
from app.core.errors import Invalid
from app.core.models import Account


def choose(
    account: Account,
    *,
    languages: Sequence[str],
    avoided_categories: Sequence[str],
    break_after_severe: int | None,
) -> None:
    """Set what this account is asked in its run. ``break_after_severe`` None: the usual number; 0: no such break.

    Raises:
        Invalid: too many languages, or a number out of range.
    """
    if len(languages) > limits.LANGUAGES_MAX:
        raise Invalid.field("languages", f"must be at most {limits.LANGUAGES_MAX}")
    most = limits.BREAK_AFTER_SEVERE_MAX
    if break_after_severe is not None and not 0 <= break_after_severe <= most:
        raise Invalid.field(
            "break_after_severe", f"must be a whole number from 0 to {most}", break_after_severe
        )
    account.languages = list(dict.fromkeys(languages))
    account.avoided_categories = list(dict.fromkeys(avoided_categories))
    account.break_after_severe = break_after_severe
