"""Posts and names that can break pages. Only tests use them; the demo data has none."""

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
"""Posts that can break pages: very long words, markup, entities, emoji of several code points, right-to-left text with
and without unclosed marks, a spreadsheet formula, words that look like empty values, many lines, and the maximum
length."""
NOTHINGS = ("null", "None", "undefined", "0")
"""Real names that programs may take for an empty value."""
LETTERS = (
    "a" + "\u0301" * 900,
    "\u1112\u1161\u11ab" * 300,
    "\u1112" * 900,
    "\u0915\u094d" * 450 + "\u0915",
    "\U0001f468\u200d" * 450 + "\U0001f468",
)
"""One letter each, which no line can break: combining marks, Hangul jamo, an Indic conjunct, joined emoji."""
