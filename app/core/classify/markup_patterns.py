"""The patterns and names of elements by which `markup` recognises Markdown, BBCode, HTML and wiki text,
and the signs of emphasis, code and spoilers that come in pairs: ``**bold**``, `` `code` ``, ``||spoiler||``.
"""

import re
from collections.abc import Iterator

# Where there is none of these, a post is what it looks like.
ANY_MARKUP = re.compile(
    r"[<&\[\]*_~|`\\^]|''|!<"
    r"|(?m:^[ ]{0,3}(?:[>#+•‣◦-]|\d{1,2}[.)][ ]|={3})|^\t|^ {4}|^(?i:from|von):)"
    r"|(?i:forwarded message|original message|(?:wrote|schrieb)[^\n]{0,80}:[ ]*\n)"
)
# What a line begins with: a fence of code, a rule, signs of quotation, a title, an item of a list, a row of a table, or
# the heading of a forwarded or answered mail.
LINE_START = re.compile(
    r"[ \t]{0,8}(?:"
    r"(?P<fence>`{3,}|~{3,})[^\n`]*(?=\n|$)"
    r"|(?P<rule>(?:[-*_=][ ]?){3,}(?=\n|$)|\|?[ ]?:?-{2,}[ :|-]*(?=\n|$))"
    r"|(?P<quote>(?:(?:>(?!!)|&gt;(?!!))[ \t]?){1,50})"
    r"|(?P<title>\#{1,6}[ \t]+)"
    r"|(?P<item>(?:[-*+•‣◦]|\d{1,2}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?)"
    r"|(?P<row>\|(?!\|))"
    r"|(?P<mail>-{2,}[ ]*(?i:begin )?(?i:forwarded|original|weitergeleitete|ursprüngliche)"
    r"[ ](?i:message|nachricht)[ ]*-*"
    r"|(?i:begin forwarded message):"
    r"|(?i:on|am)[ ][^\n]{5,150}(?i:wrote|schrieb)[^\n]{0,80}:[ ]*(?=\n(?!\s*(?:>|&gt;)))"
    r"|(?i:from|von):[ ][^\n]{1,200}\n(?i:sent|date|to|subject|cc|reply-to|gesendet|datum|an|betreff):)"
    r")"
)
# A last, short paragraph that asks something, below a forwarded mail: its sender's own.
CLOSING_QUESTION = re.compile(r"(?<=\n\n)[^\n]{3,200}\?\s*$")
_BB_TAG = (
    r"\[/?(?i:b|i|u|s|strike|sub|sup|url|email|img|color|colour|size|font|face|style|left|right|center|justify|indent"
    r"|align|quote|code|pre|icode|spoiler|hide|list|ul|ol|li|table|tr|td|th|hr|br|h[1-6]|highlight|background|bg|glow"
    r"|shadow|noparse|nobr|small|big|tt|p|div|span|media|video|youtube|del|ins|em|strong|\*)"
    r"(?:[=\s][^\[\]\n]{0,500})?\](?!\()"
)
# One piece of markup within a line, or the end of the line.
MARKUP = re.compile(
    r"(?P<line>\n)|(?P<comment><!--)"
    r"|(?P<auto><(?:https?://|mailto:)[^\s<>|]{1,2000}(?:\|[^<>\n]{0,500})?>)"
    r"|(?P<tag></?[a-zA-Z][a-zA-Z0-9:-]{0,40}(?:[\s/][^<>]{0,2000})?>)"
    r"|(?P<mention><(?:@[!&]?\w{5,25}(?:\|[^<>\n|]{0,80})?|\#\w{5,25}(?:\|[^<>\n|]{0,80})?"
    r"|a?:\w{2,32}:\d{5,25}|t:-?\d{1,15}(?::[a-zA-Z])?|![a-z]{4,10})>)"
    r"|(?P<entity>&(?:\#\d{1,7}|\#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});"
    r"|&(?:nbsp|shy)|&(?:amp|lt|gt|quot)(?![\w=;]))"
    rf"|(?P<bb>{_BB_TAG})"
    r"|(?P<link>!?\[(?P<text>[^\[\]\n]{0,500})\]"
    r"(?:\((?P<to>[^()\s]{0,1000}(?:\([^()\s]{0,200}\)[^()\s]{0,500})?)(?:[ ]+[\"'(][^\"\n]{0,300}[\"')])?\)"
    r"|\[[^\[\]\n]{0,100}\]))"
    r"|(?P<wiki>\[\[(?:[^\[\]|\n]{0,200}\|)?|\]\])"
    r"|(?P<quotes>'{2,5})|(?P<clicked>>!|!<)"
    r"|\\(?P<escaped>[!-/:-@\[-`{-~])"
)


def _name_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


TAG_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9:-]*")
# Elements that begin a line, and those that do not.
BLOCKS = _name_set(
    "address article aside blockquote body br center caption dd details div dl dt fieldset figcaption figure footer"
    " form h1 h2 h3 h4 h5 h6 head header hr html legend li main nav ol optgroup option p pre section summary table"
    " tbody td tfoot th thead title tr ul"
)
INLINE = _name_set(
    "a abbr acronym audio b bdi bdo big button cite code data del dfn em embed font i iframe img input ins kbd label"
    " map mark marquee math meta link meter nobr noscript object output picture param progress q rb rp rt ruby s"
    " samp script select small source span strike strong style sub sup svg template textarea time track tt u var"
    " video wbr base blink"
)
# Elements whose content browsers do not show.
NEVER_SHOWN = frozenset({"script", "style", "template"})
HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
QUOTING = frozenset({"blockquote", "q", "pre", "code", "samp"})
# Elements without content and without an end tag.
VOID = _name_set("area base br col embed hr img input link meta param source track wbr")
HIDING_ATTRIBUTE = re.compile(
    r"(?i)\shidden(?=[\s=/>])|(?:display\s*:\s*none|visibility\s*:\s*hidden"
    r"|font-size\s*:\s*0(?![.\d])|opacity\s*:\s*0(?![.\d]))"
)
LINK_TARGET = re.compile(
    r"(?i)\s(?:href|src)\s*=\s*(?:\"([^\"<>]{1,2000})\"|'([^'<>]{1,2000})'|([^\s\"'<>]{1,2000}))"
)
BB_BLOCKS = _name_set(
    "quote code pre spoiler hide list ul ol li * center justify indent table tr td th hr br h1 h2 h3 h4 h5 h6 p div"
)
BB_QUOTING = frozenset({"quote", "code", "pre", "icode"})


_URL = r"(?:https?://|www\.)[^\s<>\"'|\[\]()`]+"
# A run of signs that may open or close emphasis, code or a spoiler; those within addresses and between single letters
# do not, nor across paragraphs.
_SIGNS = re.compile(
    rf"{_URL}|(?<![^\W_])[^\W_](?P<sign>[*_~|])[^\W_](?:(?P=sign)[^\W_])+(?![^\W_])"
    r"|<[^<>\n]{0,500}>|\\[*_~|`]|(?P<run>\*+|_+|~+|\|\|+|`+)|(?P<gap>\n[ \t]*\n)"
)


def paired_signs(source: str) -> Iterator[tuple[int, int, int]]:
    """The opening and closing signs, in order of their places; a sign without its partner is text.

    Of each: start, end, and 1 where code begins, -1 where it ends, else 0.
    """
    paired: list[tuple[int, int, int]] = []
    # By the signs: start, end, and whether they stand directly after a letter, as in "w**ill**".
    opened: dict[str, tuple[int, int, bool]] = {}
    for match in _SIGNS.finditer(source):
        if match["gap"]:
            opened.clear()
        if not match["run"]:
            continue
        run, (start, end) = match["run"], match.span()
        before, after = source[start - 1 : start], source[end : end + 1]
        half = run[: len(run) // 2]
        if run not in opened and len(run) % 2 == 0 and half in opened and not before.isspace():
            paired.append((start, end, 0))  # One pair ends and the next begins: **a****b**.
            continue
        if run in opened and not before.isspace():
            first, last, inside_word = opened[run]
            if not inside_word or (start - last <= 40 and not any(map(str.isspace, source[last:start]))):
                del opened[run]
                code = run[0] == "`"
                paired += [(first, last, int(code)), (start, end, -int(code))]
                continue
        if (
            len(run) > 3
            or not after
            or after.isspace()
            or (run[0] == "_" and len(run) == 1 and before.isalnum())
        ):
            continue
        opened[run] = (start, end, before.isalnum() and run[0] in "*_~")
    return iter(sorted(paired))
