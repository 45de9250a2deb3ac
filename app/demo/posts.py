"""What is posted in the demonstration community, and the fate that its story has for each post."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from app.core.classify.samples import SAMPLES

HARD = (
    "Du bist so ein idiot! You are such an idiot, "
    + "Hafendampfschifffahrtsgesellschaftskapitänskajütenschlüsselanhänger" * 4,
    '<script>alert("harbour")</script><b>You are such an idiot</b>, nobody wants to read this. '
    "<img src=x onerror=alert(1)>",
    "&lt;script&gt;alert(2)&lt;/script&gt; &amp;amp; &#x3c;b&#62; Learn to read before you post, moron. "
    '"\' onfocus="alert(3)" autofocus=\' </textarea></title></style> {{ 7 * 7 }} ${7 * 7} <!-- ]]>',
    "🧜🏽‍♀️👩‍👩‍👧‍👦🏴‍☠️ You are such an idiot 🤦🏿‍♂️🤦🏿‍♂️🤦🏿‍♂️ nobody wants to read this ‼️ 🇩🇰⚓️ Z"
    + "\u0335\u0321\u034d\u0301" * 12
    + "algo",
    "מי כתב את זה? You are such an idiot, nobody wants to read this. هذا الكلام غير مقبول في الميناء.",
    "Are you stupid or just pretending? \u202egpj.tset \u2067\u202e and none of these marks is ever closed",
    '=HYPERLINK("https://example.org";"Prize")\n+1\n-1\n@you\tYou are such an idiot, nobody wants to read this.',
    "null None undefined NaN 0 false [object Object] Nobody likes you, find another group.",
    "Your stupid face makes everything worse.\n\n" + "And another thing about the quay wall. " * 120,
    "You're a complete waste of space and everyone here knows it." + "\n" * 300 + "The last line.",
    ("Learn to read before you post, moron.\n\n" + "Fifty thousand characters about the quay wall. " * 1_100)[
        :50_000
    ],
)
"""Posts that pages find hard to hold: very long words, markup, entities, emoji of several code points, right-to-left
with and without marks that are never closed, a spreadsheet formula, words that look like nothing, many lines, and as
many characters as there may be."""
NOTHINGS = ("null", "None", "undefined", "0")
"""Names that people do have, and that programs take for nothing."""


@dataclass(frozen=True)
class Post:
    """One submission: how long before now, and the fate that the story has for it."""

    text: str
    days_ago: float
    fate: str
    camps: str = ""
    """Votes in order, one letter each: upper case from the first camp, lower case from the second; h, s or n."""
    name: str = ""
    """The author's name and the channel's, where the story does not choose them."""
    note: str = ""
    """What a member writes about the post."""


_AGREE = ("HhHhH", "HhHsH", "hHhHh", "HhHhSh")
_REJECT = ("NnNnN", "nNnSn", "NnNnN", "nNnNnh")
_SPLIT = ("HnHnH", "HnHnHs", "nHnHn")
_FEW = ("", "H", "Hn", "hHn", "", "nH", "n", "HhH", "s", "hN")


def posts() -> Iterator[Post]:
    """The posts, in no order. Numbers of days are spread so that charts over 7, 30 and 90 days have a shape."""
    reviewed = [name for name in SAMPLES if name not in {"clean", "spam_certain"}]
    # Round robin over the categories, so that every fate meets every category sooner or later.
    texts = [
        text for row in itertools.zip_longest(*(SAMPLES[name] for name in reviewed)) for text in row if text
    ]
    fates = (
        *(("open", 0.05 + 0.25 * n, _FEW[n % len(_FEW)]) for n in range(10)),
        *(("review", 4.0 + 2.5 * n, _SPLIT[n % len(_SPLIT)]) for n in range(3)),
        *(("applied", 3.0 + 3.4 * n, _AGREE[n % len(_AGREE)]) for n in range(8)),
        *(("proposed", 0.3 + 0.4 * n, _AGREE[n]) for n in range(2)),
        *(("rejected", 2.0 + 3.8 * n, _REJECT[n % len(_REJECT)]) for n in range(7)),
        *(("forced", 5.0 + 8.0 * n, "Hn") for n in range(3)),
        *(("dismissed", 1.5 + 6.5 * n, "nH") for n in range(4)),
        *(("overturned", 9.0 + 6.0 * n, _AGREE[n]) for n in range(3)),
        *(("escalated", 0.8, "") for _ in range(1)),
    )
    for text, (fate, days_ago, camps) in zip(texts, fates, strict=False):
        yield Post(text, days_ago, fate, camps)
    for number, text in enumerate(HARD):
        name, note = (NOTHINGS[number % 4], text) if number < 8 else ("", "")
        yield Post(text, 0.4 + 0.3 * number, "open", _FEW[-1 - number % len(_FEW)], name, note)
    automatic = (
        ("auto", 0.02, ""),
        ("auto applied", 1.2, ""),
        ("auto applied", 6.0, "Hn"),
        ("auto applied", 13.0, "HhHhH"),
        ("auto applied", 20.0, "NnNnN"),
        ("auto restored", 26.0, "nNnNn"),
    )
    for text, (fate, days_ago, camps) in zip(SAMPLES["spam_certain"], automatic, strict=False):
        yield Post(text, days_ago, fate, camps)
    for number, text in enumerate(SAMPLES["clean"]):
        yield Post(text, 0.6 + 2.9 * number, "failed" if number == 3 else "clean")
