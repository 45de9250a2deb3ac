"""The patterns and names of elements by which `markup` recognises Markdown, BBCode, HTML and wiki text."""

import re

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
