"""The words of posts and claims, in the form in which they are compared.

Posts bring what no claim has: links, names of accounts, hashtags written in one word, emoji, the signature of an
embedded post. Their words are taken apart or left out here, so that both sides are spelled alike.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

TEXT_MAX = 4_000
"""The most characters of a text that are compared: a claim is made early, and the time to match stays bounded."""
WORD_MAX = 40

_LINK = re.compile(r"(?:https?://|www\.|pic\.twitter\.com/|\bt\.co/|\bbit\.ly/)\S*", re.IGNORECASE)
_SIGNATURE = re.compile(
    r"[—–-]\s?(?P<name>[^—–\n]{1,80}?)\s?\((?P<handle>@\w{1,30})\)\s?(?:\w{3,9}\.? \d{1,2}, \d{4})?\s*$"
)
"""What embedding adds below a post: "— Name (@handle) January 6, 2020"."""
_REPOSTED = re.compile(r"^\s*RT\b(?:\s*@\w+:?)?")
_TAG = re.compile(r"[#@](\w+)")
_HUMPS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\WA-Za-z\d_]+")
_GROUPED = re.compile(r"(?<=\d)[,.](?=\d{3}\b)")
_APOSTROPHE = re.compile(r"['’ʼ`´]")
_OWNED = re.compile(r"['’ʼ]s\b")
_WORD = re.compile(r"[^\W_]+(?:\.\d+)?")
_YEAR = re.compile(r"(?:19|20)\d\d")
_ENDS = frozenset('.!?:\n“"')
"""Characters after which a capital says nothing about a word."""
_VOWEL = re.compile(r"[aeiouy]")


def _listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


COMMON = _listed(
    "a about after all also am an and any are as at be because been before being but by can could did do does doing "
    "done for from get gets getting got had has have having he her here hers him his how i if in into is it its just "
    "let may me might more most much my of off on one only or other our out over own said same say saying says she "
    "should so some such than that the their them then there these they this those through to too under up us very "
    "was we were what when where which while who whom whose why will with would you your yours im ive id youre hes "
    "shes theyre theyve weve thats theres whats amp via rt"
)
"""English words that say nothing about what a text claims."""
NEGATIONS = _listed(
    "no not never none nobody nothing neither nor cannot cant dont doesnt didnt isnt arent wasnt werent wont wouldnt "
    "couldnt shouldnt hasnt havent hadnt aint without "
    "nicht kein keine keinen keinem keiner keines niemals pas jamais aucun aucune nunca ningún ninguna não niet geen"
)
"""English ones, and those of some languages that many fact-checks are written in."""
DENIALS = _listed(
    "false fake hoax myth debunk untrue wrong incorrect lie rumor rumour misinformation bogus photoshop "
    "falsch lüge gelogen gefälscht faux fauss falso bulo mentira"
)
"""Words, as stems, by which a post says that something is not so."""
TRUE = _listed("true real correct accurat")
"""With a negation before them they are a denial: "not true"."""


@lru_cache(maxsize=32_768)
def stem(word: str) -> str:
    """A word without its English endings, so that "vaccines" meets "vaccine" and "arrested" meets "arrest"."""
    if len(word) < 4 or not word.isascii() or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed", "ly", "ion", "er", "or"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 4 and _VOWEL.search(rest):
            if ending == "ion" and rest[-1] not in "st":
                continue
            word = rest
            if word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


@dataclass(frozen=True)
class Terms:
    """One text as stems, in order, without common words.

    ``entities`` are stems of words written like a name inside a sentence, or with digits. ``signed`` are stems from
    the signature of an embedded post: who wrote it, not what it says. ``negated_at`` and ``denied_at`` are the places
    in ``words`` before which a negation ("not") stands, and at which a denial ("hoax") stands. ``forms`` has for each
    stem the word as it was written, in small letters: the database's search has a stemmer of its own.
    """

    words: tuple[str, ...]
    entities: frozenset[str] = frozenset()
    signed: frozenset[str] = frozenset()
    negated_at: tuple[int, ...] = ()
    denied_at: tuple[int, ...] = ()
    forms: Mapping[str, str] = field(default_factory=dict, compare=False)

    def part(self, start: int, end: int) -> "Terms":
        """The words from ``start`` up to ``end``, as if they were the whole text."""
        start = max(0, start)
        words = self.words[start:end]
        return Terms(
            words,
            self.entities & frozenset(words),
            self.signed,
            tuple(place - start for place in self.negated_at if start <= place < end),
            tuple(place - start for place in self.denied_at if start <= place < end),
        )

    @cached_property
    def distinct(self) -> frozenset[str]:
        return frozenset(self.words)

    @cached_property
    def numbers(self) -> frozenset[str]:
        return frozenset(word for word in self.distinct if word[0].isdigit())

    @cached_property
    def amounts(self) -> frozenset[str]:
        """Numbers that are no years."""
        return frozenset(number for number in self.numbers if not _YEAR.fullmatch(number))

    @cached_property
    def pairs(self) -> frozenset[str]:
        """Neighbouring words, with a space between them."""
        return frozenset([f"{word} {other}" for word, other in zip(self.words, self.words[1:], strict=False)])

    @cached_property
    def near(self) -> frozenset[str]:
        """Words that stand within three places of each other, in the order of the alphabet."""
        words, found = self.words, set[str]()
        for away in (1, 2, 3):
            found.update(
                [
                    f"{word} {other}" if word < other else f"{other} {word}"
                    for word, other in zip(words, words[away:], strict=False)
                    if word != other
                ]
            )
        return frozenset(found)

    @cached_property
    def grams(self) -> frozenset[str]:
        """Runs of four letters inside the words: they still meet where an ending or a letter differs."""
        return frozenset().union(*map(_grams, self.distinct))


@lru_cache(maxsize=16_384)
def _grams(word: str) -> frozenset[str]:
    padded = f"<{word}>"
    return frozenset(padded[start : start + 4] for start in range(max(1, len(padded) - 3)))


def read(text: str) -> Terms:
    """The terms of a post, a claim or a title."""
    text = unicodedata.normalize("NFKC", text[:TEXT_MAX])
    # Most texts have none of these; looking for a few characters is much quicker than the expressions.
    if "/" in text or "www." in text.lower():
        text = _LINK.sub(" ", text)
    text = _REPOSTED.sub(" ", text)
    signature = _SIGNATURE.search(text) if "(@" in text else None
    signed: frozenset[str] = frozenset()
    forms: dict[str, str] = {}
    if signature:
        text = text[: signature.start()]
        by = list(_words(f"{signature['name']} {signature['handle']}"))
        signed, forms = frozenset(word for word, _, _ in by), {word: form for word, _, form in by}
    words: list[str] = []
    entities, negated_at, denied_at = set(), [], []
    for word, is_entity, form in _words(text):
        if word in NEGATIONS:
            negated_at.append(len(words))
            continue
        if word in DENIALS or (word in TRUE and negated_at and negated_at[-1] == len(words)):
            denied_at.append(len(words))
        words.append(word)
        forms[word] = form
        if is_entity:
            entities.add(word)
    return Terms(tuple(words), frozenset(entities), signed, tuple(negated_at), tuple(denied_at), forms)


def _words(text: str) -> Iterator[tuple[str, bool, str]]:
    """Each content word as a stem, whether it is written like a name or number, and the word in small letters."""
    if "#" in text or "@" in text:
        text = _TAG.sub(_apart, text)
    text = _GROUPED.sub("", text)
    if _APOSTROPHE.search(text):
        text = _APOSTROPHE.sub("", _OWNED.sub(" ", text))
    is_shouted = sum(map(str.isupper, text)) > 0.6 * sum(map(str.isalpha, text))
    end = 0
    for found in _WORD.finditer(text):
        written, before, end = found[0], end, found.end()
        word, is_alphabetic = _content(written)
        if not word:
            continue
        if word in NEGATIONS or (is_alphabetic and (is_shouted or not written[0].isupper())):
            yield word, False, written.casefold()[:WORD_MAX]
        else:
            between = text[before : found.start()]
            starts = before == 0 or not _ENDS.isdisjoint(between)
            yield word, not starts or not is_alphabetic, written.casefold()[:WORD_MAX]


@lru_cache(maxsize=16_384)
def _content(written: str) -> tuple[str, bool]:
    """A word as a stem, or as it is if it is a negation, with whether it has only letters; "" for a common word."""
    plain = written.casefold()[:WORD_MAX]
    if plain in NEGATIONS:
        return plain, True
    if plain in COMMON or (len(plain) == 1 and not plain.isdigit()):
        return "", True
    return stem(plain), written.isalpha()


def _apart(tag: re.Match[str]) -> str:
    """A hashtag or the name of an account as separate words: "#VoteByMail" is "Vote By Mail"."""
    return f" {' '.join(_HUMPS.findall(tag[1]))} "
