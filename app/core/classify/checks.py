"""Checks that tell a real number or address from one that looks like it.

Each gets the text that a rule matched, as the rules read it and in its own spelling, and returns how many characters
from the start of the former are the number; 0 when the check fails.
"""

import ipaddress
import re
import unicodedata
from collections.abc import Callable, Mapping

# Lengths from the SWIFT IBAN registry, for the countries with the most accounts; others are refused.
_IBAN_LENGTHS = {
    **dict.fromkeys(("NO",), 15),
    **dict.fromkeys(("BE",), 16),
    **dict.fromkeys(("DK", "FI", "NL"), 18),
    **dict.fromkeys(("SI",), 19),
    **dict.fromkeys(("AT", "EE", "LT", "LU"), 20),
    **dict.fromkeys(("CH", "HR", "LI", "LV"), 21),
    **dict.fromkeys(("BG", "DE", "GB", "GE", "IE", "ME", "RS"), 22),
    **dict.fromkeys(("AE", "GI", "IL"), 23),
    **dict.fromkeys(("CZ", "ES", "MD", "PK", "RO", "SA", "SE", "SK", "TN"), 24),
    **dict.fromkeys(("PT",), 25),
    **dict.fromkeys(("IS", "TR"), 26),
    **dict.fromkeys(("FR", "GR", "IT", "MC", "SM"), 27),
    **dict.fromkeys(("AL", "CY", "DO", "HU", "LB", "PL"), 28),
    **dict.fromkeys(("BR", "QA", "UA"), 29),
    **dict.fromkeys(("KW", "MU"), 30),
    **dict.fromkeys(("MT", "SC"), 31),
}


def _digits(text: str) -> list[int]:
    """Decimal digits of any script, in order; other characters are skipped."""
    values = (unicodedata.decimal(character, None) for character in text)
    return [int(value) for value in values if value is not None]


def luhn(text: str, spelt: str = "") -> int:
    """A payment card number: 13 to 19 digits, first digit 3 to 6, check digit by ISO/IEC 7812-1."""
    digits = _digits(text)
    if not 13 <= len(digits) <= 19 or digits[0] not in (3, 4, 5, 6) or len(set(digits)) == 1:
        return 0
    doubled = (2 * digit - 9 * (digit > 4) for digit in digits[-2::-2])
    return len(text) if (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 else 0


_ISSUERS = (
    (16, range(4000, 5000)),  # Visa
    (16, range(5100, 5600)),  # Mastercard
    (16, range(2221, 2721)),
    (15, (*range(3400, 3500), *range(3700, 3800))),  # American Express
    (14, (*range(3000, 3060), *range(3600, 3700), *range(3800, 4000))),  # Diners Club
    (16, (6011, *range(6440, 6600))),  # Discover
    (16, range(3528, 3590)),  # JCB
    (16, range(6200, 6300)),  # UnionPay
    (16, (5018, 5020, 5038, 5893, 6304, 6759, 6761, 6762, 6763)),  # Maestro
)
_ISSUED = frozenset((length, prefix) for length, prefixes in _ISSUERS for prefix in prefixes)
"""Lengths and first four digits of cards. Longer numbers exist, and are mostly ids of posts and accounts."""


def card(text: str, spelt: str = "") -> int:
    """A payment card number at the start of the text: an issuer's first digits at its length, and the check digit."""
    digits = [(at, int(unicodedata.decimal(sign))) for at, sign in enumerate(text) if sign.isdecimal()]
    prefix = int("".join(str(digit) for _, digit in digits[:4]) or "0")
    start = digits[0][0] if digits else 0
    for length in (16, 15, 14):
        if len(digits) < length or (length, prefix) not in _ISSUED:
            continue
        end = digits[length - 1][0] + 1
        # More digits without a gap make it another number.
        if not text[end : end + 1].isdecimal() and luhn(text[start:end]):
            return end
    return 0


def iban(text: str, spelt: str = "") -> int:
    """An account number by ISO 13616. Text after the number, for example words, is not counted."""
    compact: list[str] = []
    ends: list[int] = []
    for at, character in enumerate(text):
        for letter in unicodedata.normalize("NFKC", character).upper():
            if letter.isascii() and letter.isalnum():
                compact.append(letter)
                ends.append(at + 1)
    length = _IBAN_LENGTHS.get("".join(compact[:2]), 0)
    if not length or len(compact) < length:
        return 0
    number = "".join(compact[4:length] + compact[:4])
    return ends[length - 1] if int("".join(str(int(letter, 36)) for letter in number)) % 97 == 1 else 0


def ssn(text: str, spelt: str = "") -> int:
    """A United States social security number as it can be issued: no area 000, 666 or 9xx."""
    digits = _digits(text)
    if len(digits) != 9:
        return 0
    number = "".join(map(str, digits))
    area, group, serial = number[:3], number[3:5], number[5:]
    issued = area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"
    return len(text) if issued else 0


_DATED = re.compile(r"(?:19|20)\d\d[-./ ](?:0?\d|1[0-2])[-./ ]\d")
_FREE = re.compile(
    r"1?8(?:00|33|44|55|66|77|88)\d{7}|1?900\d{7}|(?:44)?0?80[08]\d{3,7}|(?:49)?0?[89]00\d{5,}|0800\d+"
)


def phone(text: str, spelt: str = "") -> int:
    """A telephone number of 7 to 15 digits that may be a person's: no free number, no date, no book or article."""
    digits = "".join(map(str, _digits(text)))
    if not 7 <= len(digits) <= 15 or len(set(digits)) <= 2 or _DATED.search(text):
        return 0
    if _FREE.fullmatch(digits.removeprefix("00")) or (len(digits) == 13 and digits[:3] in ("978", "979")):
        return 0
    return len(text)


def ip(text: str, spelt: str = "") -> int:
    """An IP address on the internet: none of a local network, and no time or version."""
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return 0
    local = address.is_loopback or address.is_link_local or address.is_multicast or address.is_unspecified
    if isinstance(address, ipaddress.IPv6Address):
        return (
            0 if local or address.exploded[:2] in ("fc", "fd") or address.packed[:2] == b"\0\0" else len(text)
        )
    inside = any(address in network for network in _LOCAL)
    return 0 if local or inside or address.packed[0] < 5 or address.packed[0] >= 224 else len(text)


_LOCAL = tuple(map(ipaddress.IPv4Network, ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")))


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Words in the names of streets, and between the parts of an address, that are written small.
_SMALL = _names(
    "de del della dei degli des du da do dos das la le les los las el l d van der den het am an im in auf of the von"
    " zum zur y e et and rue impasse chemin allée allee quai avenue boulevard place calle c avenida avda av plaza paseo"
    " rua travessa praça ul ulica aleja viale piazza bis ter n nº apt apartment unit suite flat floor near at"
)
_MONTHS = _names(
    "january february march april may june july august september october november december jan feb mar apr jun jul"
    " aug sep sept oct nov dec januar februar märz mai juni juli oktober dezember enero febrero marzo abril mayo junio"
    " julio agosto septiembre octubre noviembre diciembre janvier février mars avril juin juillet août septembre"
    " octobre novembre décembre gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre"
)
_HEADLINES = _names(
    "to ways way reasons things best top tips tricks steps signs facts questions people days weeks months years hours"
    " minutes times points percent"
)
_WORDS = re.compile(r"[^\W_]+")


def address(text: str, spelt: str = "") -> int:
    """A postal address: a number beside a capitalised word that is no month; other words are capitalised too."""
    words = _WORDS.findall(spelt or text)
    if sum(word.lower() in _HEADLINES for word in words) >= 2:
        return 0
    named = [word[0].isupper() and word.lower() not in _MONTHS for word in words]
    if not all(word[0].isupper() or word[0].isdecimal() or word.lower() in _SMALL for word in words):
        return 0
    for at, word in enumerate(words):
        if word[0].isdecimal():
            beside = [*range(max(0, at - 1), at), *range(at + 1, min(at + 2, len(words)))]
            if any(named[other] for other in beside) or any(
                words[other].lower() in _SMALL for other in beside
            ):
                return len(text) if any(named) else 0
    return 0


def apart(text: str, spelt: str = "") -> int:
    """Anything, as long as it is no part of the address of a page (`in_link`)."""
    return len(text)


_LINK = re.compile(
    r"(?:https?://|www\.|\b[\w-]+(?:\.[\w-]+)*\.[a-zA-Z]{2,}/)[^\s<>\"'|\[\]()`]*"
    r"|<(?:@[!&]?|#|a?:\w{1,40}:|t:)\w{1,40}[^<>\s]{0,100}>|:\w{2,32}:\d{5,25}"
)
_REACH = 400


def in_link(source: str, start: int, end: int) -> bool:
    """Whether ``source[start:end]`` is within the address of a page, a mention or an emoji: such numbers are ids."""
    return any(
        found.start() <= start < found.end()
        for found in _LINK.finditer(source, max(0, start - _REACH), end + 1)
    )


CHECKS: Mapping[str, Callable[[str, str], int]] = {
    "luhn": luhn,
    "card": card,
    "iban": iban,
    "ssn": ssn,
    "phone": phone,
    "ip": ip,
    "address": address,
    "apart": apart,
}
