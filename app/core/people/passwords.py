"""Passwords that are tried first, refused when somebody chooses one (NIST SP 800-63B, 5.1.1.2; ASVS 6.2.4).

They are written as people make them: a word, a name or a walk over the keyboard, said twice or with an ending that
meets a rule. That gives some thousands of them, and they are compared without case and with the usual signs for letters
undone, so "P@ssw0rd1" is "password1".
"""

from collections.abc import Iterator
from functools import cache

_WORDS = """
password passwort passphrase secret letmein welcome whatever iloveyou iloveu loveyou lovely sunshine princess
dragon monkey football baseball basketball soccer hockey superman batman spiderman pokemon starwars master
shadow michael jennifer jessica jordan hunter killer trustno ashley bailey charlie daniel andrew joshua matthew
thomas robert anthony william george richard samantha amanda nicole hannah summer winter spring autumn monday
friday january february march april june july august september october november december flower butterfly
chocolate cookie banana cherry orange purple yellow silver golden diamond freedom forever friends family angel
computer internet samsung google facebook instagram twitter youtube linkedin microsoft windows apple iphone
android minecraft fortnite nintendo playstation xbox mustang corvette ferrari porsche mercedes yamaha harley
admin administrator root user username login guest test testing tester temp temporary default changeme change
access system server database oracle mysql security qwerty qwertz azerty asdfgh zxcvbn hello goodbye tigger
ginger pepper maggie buster lovers tennis golfer ranger cowboy chelsea arsenal liverpool barcelona madrid london
paris berlin america england canada mexico brazil india china japan russia jesus christ blessed heaven faith
phoenix merlin gandalf matrix nirvana metallica eminem rockstar hottie sweet sweetie babygirl babyboy mother
father brother sister money business company office work school student teacher college university dallas austin
boston chicago houston denver bridgenote moderator rater abc abcd
"""
_ENDINGS = (
    "",
    *("1", "2", "3", "7", "12", "13", "21", "22", "23", "69", "77", "88", "99", "00", "01", "10", "11"),
    *(
        "111",
        "123",
        "321",
        "666",
        "777",
        "1234",
        "4321",
        "12345",
        "123456",
        "!",
        "!!",
        "1!",
        "12!",
        "123!",
        "1234!",
    ),
    *(f"{year}{sign}" for year in range(1980, 2031) for sign in ("", "!")),
)
_WALKS = (
    "01234567890123456789",
    "09876543210987654321",
    "qwertyuiopasdfghjklzxcvbnm",
    "qwertzuiopasdfghjklyxcvbnm",
    "azertyuiopqsdfghjklmwxcvbn",
    "poiuytrewqlkjhgfdsamnbvcxz",
    "asdfghjklqwertyuiopzxcvbnm",
    "abcdefghijklmnopqrstuvwxyz",
    "zyxwvutsrqponmlkjihgfedcba",
    "1qaz2wsx3edc4rfv5tgb6yhn7ujm",
    "1q2w3e4r5t6y7u8i9o0p",
    "q1w2e3r4t5y6u7i8o9p0",
    "qazwsxedcrfvtgbyhnujm",
    "zaq1xsw2cde3vfr4bgt5",
    "147258369147258369",
    "123qweasdzxc",
    "qweasdzxc123",
    "asdfasdfasdf",
    "abc123abc123",
    "123abc123abc",
)
_SIGNS = str.maketrans({"@": "a", "4": "a", "3": "e", "1": "i", "0": "o", "$": "s", "5": "s", "7": "t"})


def is_common(password: str) -> bool:
    """Whether it is among those that are tried first, in whatever case and with signs for letters."""
    folded = password.casefold()
    known = _known()
    stem = folded.rstrip("0123456789!")
    return (
        len(set(folded)) <= 2
        or folded in known
        or folded.translate(_SIGNS) in known
        or stem.translate(_SIGNS) + folded[len(stem) :] in known
    )


@cache
def _known() -> frozenset[str]:
    return frozenset(_all())


def _all() -> Iterator[str]:
    for word in _WORDS.split():
        for ending in _ENDINGS:
            yield word + ending
        yield word * 2
        yield "123" + word
    for walk in _WALKS:
        for begin in range(len(walk)):
            for end in range(begin + 8, len(walk) + 1):
                yield walk[begin:end]
                yield walk[begin:end] + "1"
                yield walk[begin:end] + "!"
