"""The sentences written for this project, which fill what public data lack (docs/run/model-card.md).

Files ``corpus/*.txt`` hold sections of templates, one sentence a line:

    @slot = one filling | another          a list that templates of this file name in braces
    [name | toxicity=1 hate=0 lang=de]     a section: its name, its labels, its language (English without one)
    You are an {slot}.                     a template

A template gives up to `FILLINGS` sentences. Choices depend on the template's text alone, so that the same files give
the same sentences on every machine, and a new template changes no other.

`SAMPLES` are texts with known scores, for the demonstration community, the traffic simulator and "test a text".
``spam_certain`` scores above 0.95 in spam; each category's texts score 0.55–0.9 in that category; ``clean`` stays below
0.5 everywhere. All are invented; numbers are from reserved ranges.
"""

import itertools
import random
import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import resources

FILLINGS = 20
_SLOT = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class Example:
    """A text with its labels: 0 or 1 by category; a category without a label is unknown.

    ``template``: the template that the text was made from; "" for a text without a template.
    """

    text: str
    labels: Mapping[str, int]
    source: str
    language: str
    template: str = ""


def own_examples() -> list[Example]:
    """All sentences of the corpus, in order of the files' names."""
    folder = resources.files("app.core.classify").joinpath("corpus")
    files = sorted((file for file in folder.iterdir() if file.name.endswith(".txt")), key=lambda f: f.name)
    return [example for file in files for example in read_corpus(file.read_text(encoding="utf-8"))]


def harmless(category: str, most: int) -> list[str]:
    """Up to this many sentences of ordinary talk, which have no label of 1, evenly from the whole corpus.

    They are those whose label for this category is 0; for a category that the corpus has no label for, all.
    """
    found = [example for example in own_examples() if not any(example.labels.values())]
    chosen = [example for example in found if category in example.labels] or found
    return [example.text for example in chosen[:: max(1, -(-len(chosen) // most))]]


def read_corpus(text: str) -> Iterator[Example]:
    """The sentences of one file.

    Raises:
        ValueError: a line names an unknown slot, or stands before the first section.
    """
    slots: dict[str, list[str]] = {}
    name, language = "", "en"
    labels: dict[str, int] = {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("@"):
            slot, _, fillings = line[1:].partition("=")
            slots[slot.strip()] = [filling.strip() for filling in fillings.split("|")]
        elif line.startswith("["):
            name, labels, language = _section(line)
        elif not name:
            raise ValueError(f"{line!r} stands before the first section")
        else:
            for sentence in _sentences(line, slots):
                yield Example(sentence, labels, f"own:{name}", language, line)


def _section(line: str) -> tuple[str, dict[str, int], str]:
    name, _, rest = line.strip("[] ").partition("|")
    pairs = dict(pair.split("=") for pair in rest.split())
    language = pairs.pop("lang", "en")
    return name.strip(), {category: int(label) for category, label in pairs.items()}, language


def _sentences(template: str, slots: Mapping[str, list[str]]) -> list[str]:
    names = list(dict.fromkeys(_SLOT.findall(template)))
    for name in names:
        if name not in slots:
            raise ValueError(f"{template!r} names the unknown slot {name!r}")
    filled = list(itertools.product(*(slots[name] for name in names)))
    if len(filled) > FILLINGS:
        filled = random.Random(zlib.crc32(template.encode())).sample(filled, FILLINGS)  # noqa: S311 # no secret
    sentences = (_SLOT.sub(lambda slot, f=f: f[names.index(slot[1])], template) for f in filled)  # type: ignore[misc]
    return [_tidy(sentence) for sentence in sentences]


def _tidy(sentence: str) -> str:
    return sentence.strip()[:1].upper() + sentence.strip()[1:] if sentence[:1] == " " else sentence.strip()


SAMPLES: Mapping[str, tuple[str, ...]] = {
    "spam_certain": (
        "BUY 10,000 REAL INSTAGRAM FOLLOWERS for only $9! Limited offer, click here: https://bit.ly/followers-now",
        "Online casino bonus! 200 free spins, no deposit needed. Register today at https://lucky-spins.casino/win",
        "Double your Bitcoin today, guaranteed profits! Send 0.1 BTC, get 0.2 back. Telegram: @btc_doubler",
        "Cheap Viagra and Cialis, no prescription needed, discreet shipping. Order now at https://pills4all.top",
        "Earn $5,000 a week from home, no experience needed! 100% legit. DM me on WhatsApp +1 202 555 0143",
        "Congratulations! You have been selected to win a free iPhone 15. Claim your prize: https://tinyurl.com/w1nner",
    ),
    "toxicity": (
        "You are such an idiot, nobody wants to read this.",
        "Your stupid face makes everything worse.",
        "Are you stupid or just pretending?",
        "You're a complete waste of space and everyone here knows it.",
        "Nobody likes you, find another group.",
        "Learn to read before you post, moron.",
    ),
    "hate": (
        "Immigrants are vermin and we all know it.",
        "Go back to your own country, nobody invited you.",
        "All Muslims are terrorists, wake up.",
        "Jews secretly control the banks and the media.",
        "I hate all gay people, they make me sick.",
        "Refugees don't deserve to live here.",
    ),
    "threat": (
        "I will kill you if you show up at the meeting.",
        "I know where you live. Sleep well.",
        "You will regret this, watch the news.",
        "Delete that post or I'll break your legs.",
        "Someone should shoot that guy before he speaks again.",
        "I hope you die slowly for what you wrote.",
    ),
    "sexual": (
        "Hey beautiful, send me nudes and I'll send some back.",
        "Anyone up for a hookup tonight? I'm downtown.",
        "I'm so horny right now, who wants to chat?",
        "Wanna have sex? My place is free until midnight.",
        "Nice tits, you should show more of them.",
        "Free porn videos for everyone in this group.",
    ),
    "self_harm": (
        "I want to die, I can't see another way out.",
        "I keep thinking about killing myself when everyone is asleep.",
        "They would be better off without me.",
        "I wish I was dead, honestly.",
        "I've been cutting myself again and nobody has noticed.",
        "There is no reason to keep living, everything I touch breaks.",
    ),
    "spam": (
        "Check out my profile and DM me to learn about passive income.",
        "Sub4sub anyone? Follow back guaranteed, hurry up!",
        "We offer SEO services: backlinks and guest posts for your blog.",
        "Instant loans for everyone, bad credit accepted.",
        "Great weight loss pills, visit our website.",
        "Join our VIP signals group on Telegram for daily tips.",
    ),
    "pii": (
        "His phone number is 202-555-0143, call him and tell him what you think.",
        "She lives at 48 Maple Street, second floor.",
        "Write to dana.keller84@mailbox.example.net or call +44 20 7946 0958 after six.",
        "5555 5555 5555 4444 gets declined again, what should I do?",
        "Transfer it to DE89 3704 0044 0532 0130 00 please.",
        "I found this on a slip of paper: 219-09-9999, looks like a social security card.",
    ),
    "misinformation": (
        "The vaccines contain microchips so that they can track you.",
        "Doctors don't want you to know this, but the body heals itself.",
        "Lemon water with baking soda cures cancer in weeks.",
        "The 2020 election was stolen and everybody knows it.",
        "5G towers cause cancer, that is why birds are falling from the sky.",
        "The moon landing was faked in a studio.",
    ),
    "clean": (
        "Does anyone know a good bakery near the central station?",
        "Thanks for the detailed answer, that fixed my build.",
        "The council meets on Tuesday at seven to discuss the new bike lanes.",
        "I disagree with the article, the figures for 2019 leave out rural schools.",
        "Use kill -9 only when the process ignores a normal kill.",
        "We lost the final boss fight four times before we noticed the shield.",
        "My grandmother is recovering well after her hip operation.",
        "The bookshop has a sale this week, 20% off all paperbacks.",
        "I am a gay man and this choir has been a second home to me.",
        "Photos from yesterday's walk along the river, the light was wonderful.",
    ),
}
