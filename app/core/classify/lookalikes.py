"""Tables of characters that resemble Latin letters. Written from the Unicode charts (compare UTS 39)."""

_PAIRS = (
    # Cyrillic, after casefolding; some resemble Latin in their capital form only.
    "аa вb еe ёe ѐe нh іi їi јj кk мm оo рp сc тt уy ўy хx ѕs ԁd ԛq ԝw һh ӏl ѵv ԍg ґr гr пn єe ԑe "
    # Greek.
    "αa άa βb εe έe ηn ήn ιi ίi ϊi κk μm νv οo όo ρp τt υu ύu χx γy ωw ώw ϲc ϳj "
    # Armenian and Cherokee shapes seen in the wild.
    "օo սu հh ոn ցg զq ɡg "
    # Latin letters that NFKC keeps apart.
    "ıi łl øo đd ħh ŧt ɑa ɩi ƅb ƙk ɓb ɗd ƒf ǥg ɨi ɵo ʋv"
)

LOOKALIKES: dict[int, str] = {ord(pair[0]): pair[1] for pair in _PAIRS.split()}
"""Maps a code point to the Latin letter it resembles, for ``str.translate``. Always one character for one."""

_SMALL_CAPITALS = "ᴀa ʙb ᴄc ᴅd ᴇe ꜰf ɢg ʜh ɪi ᴊj ᴋk ʟl ᴍm ɴn ᴏo ᴘp ʀr ꜱs ᴛt ᴜu ᴠv ᴡw ʏy ᴢz"

# Small capitals, letters in filled circles or squares and those of flags are decorated Latin letters that NFKC does not
# change; letters in brackets it would change to three signs.
COSTUMES: dict[int, str] = {
    **{ord(pair[0]): pair[1] for pair in _SMALL_CAPITALS.split()},
    **{first + n: chr(ord("a") + n) for first in (0x1F150, 0x1F170, 0x249C, 0x1F1E6) for n in range(26)},
}

PUNCTUATION: dict[int, str] = {
    **dict.fromkeys(map(ord, "‘’‚‛′ʼ`´"), "'"),
    **dict.fromkeys(map(ord, "“”„‟″«»"), '"'),
    **dict.fromkeys(map(ord, "‐‑‒–—―−"), "-"),
    **dict.fromkeys(map(ord, "․‧。｡"), "."),
}

LEET: dict[str, str] = {
    "0": "o",
    "1": "il",
    "3": "e",
    "4": "a",
    "5": "s",
    "7": "t",
    "8": "b",
    "9": "g",
    "@": "a",
    "$": "s",
    "!": "i",
}
"""Digits and signs, with the letters that they replace, the more likely first."""
