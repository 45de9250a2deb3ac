"""Published lines for people in a crisis: who names one offers help, and advertises nothing.

Numbers as their operators publish them (findahelpline.com, befrienders.org). Short ones count only beside a word that
says what they are for.
"""

import re

_NAMES = (
    r"samaritans|befrienders|telefonseelsorge|childline|kids help phone|trevor project|trans lifeline"
    r"|crisis text line|nummer gegen kummer|suicide prevention|lifeline"
    r"|(?:suicide|crisis|mental health)(?: (?:&|and) crisis)?(?: prevention)? (?:life|hot|help|text )?line"
    r"|findahelpline\.com|befrienders\.org|samaritans\.org|988lifeline\.org|sos amiti[eé]|tel[eé]fono de la esperanza"
)
_LONG = (
    r"1[ .-]?800[ .-]?273[ .-]?(?:8255|talk)|116[ -]?123|116[ -]?111|0800[ /-]?111[ -]?0[ -]?(?:111|222|550)"
    r"|0800[ -]?1111|13[ -]?11[ -]?14|1?[ .-]?866[ .-]?488[ .-]?7386|1?[ .-]?877[ .-]?565[ .-]?8860"
    r"|1[ .-]?800[ .-]?668[ .-]?6868|1[ .-]?800[ .-]?799[ .-]?7233|1[ .-]?800[ .-]?656[ .-]?4673"
    r"|0508[ -]?828[ -]?865|1800[ -]?55[ -]?1800|0800[ -]?068[ -]?4141|9152987821"
)
_SHORT = r"988|741[ -]?741|85258|686[ -]?868|1737|3114|143|142|024"
_FOR = (
    r"suicid\w*|crisis|hotline|helpline|hilfe|in need|end(?:ing)? (?:your|my|their|it|his|her)|not alone"
    r"|hurt(?:ing)? yourself|self.?harm|struggling|distress|someone to talk|talk to someone|call or text|reach out"
    r"|kill(?:ing)? (?:yourself|myself)|feel(?:ing)? (?:hopeless|suicidal)"
)
_LINE = re.compile(rf"(?<!\w)(?:{_NAMES})(?!\w)|(?<![\d+])(?:{_LONG})(?!\d)")
_SHORT_LINE = re.compile(rf"(?<![\d.,:/$€£-])(?:{_SHORT})(?![\d:/%€$]|[.,]\d)")
_PURPOSE = re.compile(rf"(?<!\w)(?:{_FOR})(?!\w)")
# What offers of help do not say; an advertisement does not become one by a number beside it.
_SELLS = re.compile(
    r"(?<!\w)(?:bitcoin|crypto|casino|whats ?app|telegram|viagra|followers|discount|bonus|earn|profits?|buy|invest\w*)"
    r"(?!\w)"
)
_MYSELF = re.compile(r"(?<!\w)(?:i|i'm|im|i've|my|me|myself|ich|mich|mir)(?!\w)")
_PLEA = re.compile(
    r"(?<!\w)(?:i (?:really |just )?(?:want|wanna|am going|'m going|need|plan|tried)(?: to)? "
    r"(?:die|be dead|kill myself|end (?:it all|it|my life|everything)|disappear)"
    r"|i(?:'m| am| feel)(?: so| really)? suicidal|(?:don't|do not|dont) want to (?:live|be alive|be here|exist|wake up)"
    r"|(?:can't|cannot|cant) (?:go on|do this any ?more|take (?:it|this) any ?more)|kill(?:ing)? myself"
    r"|take my own life|end(?:ing)? my (?:own )?life|(?:hurt|cut|harm)(?:ing)? myself)(?!\w)"
)
_LONGEST = 600


def names_one(sentence: str) -> bool:
    """Whether a sentence, in small letters, tells others of a line that helps in a crisis."""
    if len(sentence) > _LONGEST or _SELLS.search(sentence):
        return False
    if _LINE.search(sentence):
        return True
    return _SHORT_LINE.search(sentence) is not None and _PURPOSE.search(sentence) is not None


def is_about_oneself(sentence: str) -> bool:
    """Whether a sentence speaks of its author."""
    return _MYSELF.search(sentence) is not None


def asks_for_help(text: str) -> bool:
    """Whether a text in small letters says that its author wants to end or harm themselves."""
    return _PLEA.search(text) is not None and not _SELLS.search(text)
