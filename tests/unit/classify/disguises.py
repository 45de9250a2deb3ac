"""Ways in which people write a text so that it is read and not found, by family; each keeps what a reader sees."""

import random
from collections.abc import Callable, Mapping

Form = Callable[[str], str]
TALK = "Lovely weather at the harbour today. "


def _words(change: Form) -> Form:
    return lambda text: " ".join(
        change(word) if word.isalpha() and len(word) > 2 else word for word in text.split(" ")
    )


def _around(before: str, after: str) -> Form:
    """Something before and after every word."""
    return lambda text: " ".join(f"{before}{word}{after}" for word in text.split(" "))


def _inside(before: str, after: str = "") -> Form:
    """Something around the middle letter of every word."""

    def change(word: str) -> str:
        middle = len(word) // 2
        return f"{word[:middle]}{before}{word[middle]}{after}{word[middle + 1 :]}"

    return _words(change)


def _parted(sign: str) -> Form:
    return _words(sign.join)


def _mapped(*firsts: int) -> Form:
    """Letters of another alphabet: ``firsts`` are its small a and its capital A."""
    small, capital = firsts[0], firsts[-1]
    table = {97 + n: small + n for n in range(26)} | {65 + n: capital + n for n in range(26)}
    return lambda text: text.translate(table)


def _marked(mark: str) -> Form:
    return lambda text: "".join(letter + mark if letter.isalpha() else letter for letter in text)


def _long_enough(change: Callable[[str, random.Random], str], least: int) -> Form:
    def changed(word: str) -> str:
        return change(word, random.Random(word)) if len(word) >= least else word  # noqa: S311

    return _words(changed)


def _swapped(word: str, chance: random.Random) -> str:
    at = chance.randrange(1, len(word) - 1)
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]


def _replaced(word: str, chance: random.Random) -> str:
    at = chance.randrange(1, len(word))
    return f"{word[:at]}{chance.choice('xqz')}{word[at + 1 :]}"


def _doubled(word: str, chance: random.Random) -> str:
    at = chance.randrange(len(word))
    return word[:at] + word[at] + word[at:]


def _hashtag(text: str) -> str:
    return "#" + "".join(word[:1].upper() + word[1:] for word in text.split())


FAMILIES: Mapping[str, Mapping[str, Form]] = {
    "Markdown in words": {
        "bold": _inside("**", "**"),
        "italic": _inside("*", "*"),
        "underlined": _inside("__", "__"),
        "struck": _inside("~~", "~~"),
        "spoiler": _inside("||", "||"),
        "each letter": _words(lambda word: "".join(f"**{letter}**" for letter in word)),
    },
    "HTML in words": {
        "tag": _inside("<b>", "</b>"),
        "attributes": _inside('<span class="x">', "</span>"),
        "break": _inside("<wbr>"),
        "soft hyphen": _inside("&shy;"),
        "comment": _inside("<!-- -->"),
        "entities": lambda text: "".join(f"&#{ord(c)};" if c in "aeiou" else c for c in text),
        "hidden": _inside('<span style="display:none">z</span>'),
    },
    "BBCode": {
        "bold": _inside("[b]", "[/b]"),
        "colour": _inside("[color=#ff0000]", "[/color]"),
        "around": _around("[i]", "[/i]"),
    },
    "markup between words": {
        "code": _around("`", "`"),
        "strong": _around("**", "**"),
        "lines": lambda text: text.replace(" ", "<br />"),
        "paragraphs": lambda text: f"<p>{text.replace(' ', '</p><p>')}</p>",
        "spaces": lambda text: text.replace(" ", "&nbsp;"),
        "list": lambda text: "\n".join(f"- {word}" for word in text.split()),
        "table": lambda text: f"| {' | '.join(text.split())} |",
        "links": _around("[", "](/a)"),
    },
    "joined words": {
        "hashtag": _hashtag,
        "camel": lambda text: _hashtag(text)[1:],
        "hashtags": _around("#", ""),
    },
    "separators": {sign: _parted(sign) for sign in (".", "-", "_", "*", "🙂", "~", "|", ",", "·")},
    "repetition": {
        "all twice": _words(lambda word: "".join(letter * 2 for letter in word)),
        "vowels": _words(
            lambda word: "".join(letter * 4 if letter in "aeiou" else letter for letter in word)
        ),
        "one": _long_enough(_doubled, 4),
    },
    "spelling": {"swapped": _long_enough(_swapped, 5), "replaced": _long_enough(_replaced, 5)},
    "look-alikes": {"Cyrillic": lambda text: text.translate(str.maketrans("aceopxy", "асеорху"))},
    "marks": {"below": _marked("\u0332"), "through": _marked("\u0336"), "above": _marked("\u0308")},
    "invisible": {"space": _parted("\u200b"), "joiner": _parted("\u200d"), "hyphen": _parted("\u00ad")},
    "alphabets": {
        "bold": _mapped(0x1D41A, 0x1D400),
        "full width": _mapped(0xFF41, 0xFF21),
        "circled": _mapped(0x24D0, 0x24B6),
        "bracketed": lambda text: _mapped(0x249C)(text.lower()),
        "flags": lambda text: "".join(
            chr(0x1F1E6 + ord(c) - 97) + "\u200b" if "a" <= c <= "z" else c for c in text.lower()
        ),
    },
    "dilution": {
        "before": lambda text: TALK * 3 + text,
        "after": lambda text: f"{text} {TALK * 3}",
        "lines": lambda text: f"Hello everyone\n\n{text}\n\nSee you on Sunday at the boat house",
        "French": lambda text: (
            "Il fait très beau au port aujourd'hui et tout le monde se promène. " * 2 + text
        ),
        "Russian": lambda text: f"Сегодня очень хорошая погода в гавани, все довольны. {text}",
    },
}
