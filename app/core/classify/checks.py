"""Checksums that tell a real number from digits that look like one. Each gets the text that a rule matched.

A check returns how many characters from the start of the text are the number; 0 when the check fails.
"""

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


def luhn(text: str) -> int:
    """A payment card number: 13 to 19 digits, first digit 3 to 6, check digit by ISO/IEC 7812-1."""
    digits = _digits(text)
    if not 13 <= len(digits) <= 19 or digits[0] not in (3, 4, 5, 6) or len(set(digits)) == 1:
        return 0
    doubled = (2 * digit - 9 * (digit > 4) for digit in digits[-2::-2])
    return len(text) if (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 else 0


def iban(text: str) -> int:
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


def ssn(text: str) -> int:
    """A United States social security number as it can be issued: no area 000, 666 or 9xx."""
    digits = _digits(text)
    if len(digits) != 9:
        return 0
    number = "".join(map(str, digits))
    area, group, serial = number[:3], number[3:5], number[5:]
    issued = area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"
    return len(text) if issued else 0


CHECKS: Mapping[str, Callable[[str], int]] = {"luhn": luhn, "iban": iban, "ssn": ssn}
