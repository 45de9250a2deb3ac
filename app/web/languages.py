"""Names of languages on pages, by their BCP 47 tags."""

from app.core.classify.language import UNKNOWN
from app.core.texts import gettext as _
from app.web import reader_language

# fmt: off
OFFERED = (
    "af", "ar", "be", "bg", "bn", "bs", "ca", "cs", "cy", "da", "de", "el", "en", "eo", "es", "et", "eu", "fa",
    "fi", "fr", "ga", "gl", "he", "hi", "hr", "hu", "hy", "id", "is", "it", "ja", "ka", "kk", "ko", "la", "lb",
    "lt", "lv", "mk", "ml", "mr", "ms", "nds", "nl", "no", "pl", "pt", "ro", "ru", "sh", "sk", "sl", "sq", "sr",
    "sv", "sw", "ta", "te", "th", "tl", "tr", "uk", "ur", "vi", "zh",
)
"""What people can say they read."""
# fmt: on


def language_name(tag: str) -> str:
    """Return the name of a language: "German"; the tag itself where there is no name for it."""
    if tag == UNKNOWN:
        return _("Not known")
    return str(reader_language.locale().languages.get(tag.replace("-", "_"), tag))
