"""Reading a post as its readers see it: markup, disguises, quotations, and the way back to the source."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core.classify import Context
from app.core.classify.corpus import SAMPLES
from app.core.classify.language import language_of
from app.core.classify.markup import Voice
from app.core.classify.reading import see
from app.core.classify.rulepack import RulePackClassifier, shared_vocabulary
from app.core.classify.seed import SeedClassifier
from app.core.requests.scorings import combined, score_text
from tests.examples import examples
from tests.unit.classify.disguises import FAMILIES

SHIPPED = (RulePackClassifier(), SeedClassifier())
PLAIN = [
    *(("spam", text) for text in SAMPLES["spam_certain"][2:4]),
    *(
        (category, text)
        for category in ("toxicity", "hate", "threat", "sexual", "self_harm", "spam", "pii")
        for text in SAMPLES[category][:4]
    ),
]
FORMS = [(family, name) for family, forms in FAMILIES.items() for name in forms]


def scores(text: str) -> dict[str, float]:
    about = Context(language=language_of(text))
    return {name: scored.score for name, scored in combined(score_text(SHIPPED, text, about)).items()}


def undisguised(text: str) -> str:
    return see(text).undisguised(shared_vocabulary()).text


@pytest.fixture(scope="module")
def held() -> dict[tuple[str, str], float]:
    """By form, the share of texts that score as their plain text does, less 0.05 at most."""
    plain = [(category, text, scores(text)[category]) for category, text in PLAIN]
    assert all(score > 0.5 for _, _, score in plain)
    return {
        (family, name): sum(
            scores(FAMILIES[family][name](text)).get(category, 0.0) >= score - 0.05
            for category, text, score in plain
        )
        / len(plain)
        for family, name in FORMS
    }


def test_nearly_every_disguise_scores_as_its_plain_text(held: dict[tuple[str, str], float]) -> None:
    assert sum(held.values()) / len(held) >= 0.93, held


@pytest.mark.parametrize(("family", "name"), FORMS)
def test_a_form_of_disguise_is_read(family: str, name: str, held: dict[tuple[str, str], float]) -> None:
    least = {"dilution": 0.7, "joined words": 0.75, "repetition": 0.75, "spelling": 0.8}.get(family, 0.9)
    assert held[family, name] >= least


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("**I** will *find* __you__", "I will find you"),
        ("`one` ~~two~~ ||three||", "one two three"),
        ("f*ck 2 * 3 * 4 snake_case_name", "f*ck 2 * 3 * 4 snake_case_name"),
        ("see [the *page*](https://a.example/x_y_z) now", "see the page now\nhttps://a.example/x_y_z"),
        ("<b>bo</b>ld a < b and c > d <3", "bold a < b and c > d <3"),
        ("one<br>two<p>three</p>", "one\ntwo\nthree\n"),
        ("Tom &amp; &lt;b&gt; &amp;lt;", "Tom & <b> &lt;"),
        ("k<!-- never -->ill<script>x()</script>", "kill\n never "),
        ("a<span hidden>b <i>c</i></span>d", "ad\nb \nc"),
        ("[b]bo[/b]ld [url=https://a.example]x[/url] [sic]", "bold x [sic]\nhttps://a.example"),
        ("# Title\n- one\n1. two\n---\nend", "Title\none\ntwo\n\nend"),
        ("hi <@429334691257594485> <#123456> <:boat:1044402791860548573>", "hi @user   :boat:"),
        (r"\*not bold\*", "*not bold*"),
        ("<script>alert(1)", "alert(1)"),
        ("an <unknown> word", "an <unknown> word"),
    ],
)
def test_markup_is_read_as_it_is_seen(source: str, shown: str) -> None:
    assert see(source).shown.text == shown


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("k.i.l.l y-o-u", "kill you"),
        ("k🙂i🙂l🙂l", "kill"),
        ("kkiillll yyoouu", "kill you"),
        ("tonihgt", "tonight"),
        ("#KillAllJews", "kill all jews"),
        ("iwillkillyoutonight", "i will kill you tonight"),
        ("ki ll st.up.id", "kill stupid"),
        ("cömplete wästé", "complete waste"),
        ("🇰 🇮 🇱 🇱", "kill"),
    ],
)
def test_a_disguised_word_is_read_as_meant(written: str, meant: str) -> None:
    assert undisguised(written) == meant


@pytest.mark.parametrize(
    "text",
    [
        "the therapist works in Scunthorpe",
        "imposter villains budgets folded",
        "let's hit the road, b and c",
        "https://example.org/killyou/kkiill",
        "C++ and C# in 2024, v1.2.3",
    ],
)
def test_ordinary_words_are_no_disguise(text: str) -> None:
    assert undisguised(text).replace("#", "") == text.lower().replace("#", "")


@pytest.mark.parametrize(
    ("source", "marked"),
    [
        ("hello **y**ou are an **i**diot", "**y**ou are an **i**diot"),
        ("x &amp; you are an &#105;d&#105;ot", "you are an &#105;d&#105;ot"),
        ("so you are an i.d.i.o.t then", "you are an i.d.i.o.t"),
    ],
)
def test_marks_show_the_letters_of_the_source(source: str, marked: str) -> None:
    (result,) = SHIPPED[0].score([source], Context())
    passages = [source[match.start : match.end] for match in result.matches if match.category == "toxicity"]
    assert any(marked.lstrip("*") in passage or passage in marked for passage in passages), passages


SPAM = SAMPLES["spam_certain"][2]
QUOTATIONS = [
    "Look what came:\n> {}\n\nIs that a scam?",
    "Look what came:\n&gt; {}\n\nIs that a scam?",
    "Look [quote]{}[/quote] Is that a scam?",
    "Look [quote=Bob]{}[/quote] Is that a scam?",
    "Look [code]{}[/code] Is that a scam?",
    "<p>Look</p><blockquote>{}</blockquote><p>Is that a scam?</p>",
    "<p>Look</p><pre><code>{}</code></pre>",
    "This is the mail I got:\n```\n{}\n```\nIs that a scam?",
    "This is the mail I got:\n\n    {}\n\nIs that a scam?",
    "Is `{}` a scam?",
    'He wrote: "{}" Is that a scam?',
    "He wrote “{}” to all of us",
    "Is this real?\n\n---------- Forwarded message ---------\nFrom: x@bank.example\nSubject: hi\n\n{}",
    "See below\n\nOn Mon, 3 Nov 2025 at 10:00, Bob wrote:\n> {}\n\nIs that a scam?",
]


@pytest.mark.parametrize("form", QUOTATIONS)
def test_what_a_post_quotes_never_acts_alone_and_is_still_reviewed(form: str) -> None:
    text = form.format(SPAM)
    scorings = score_text(SHIPPED, text, Context(language="en"))
    spam = combined(scorings)["spam"]
    assert spam.score > 0.95
    assert (spam.acting or 0.0) < 0.55
    matches = [
        m for scoring in scorings for m in scoring.result.matches if m.category == "spam" and m.weight > 0.5
    ]
    assert matches
    assert all(match.quoted for match in matches)


@pytest.mark.parametrize(
    "form", ["{}", "> {}", "`{}`", "```\n{}\n```", "<blockquote>{}</blockquote>", "[quote]{}[/quote]"]
)
def test_a_post_that_is_nothing_but_a_quotation_is_its_authors_own(form: str) -> None:
    spam = combined(score_text(SHIPPED, form.format(SPAM), Context(language="en")))["spam"]
    assert spam.calibrated or spam.acting is not None
    assert (spam.acting or 0.0) > 0.95


def test_own_spam_acts_beside_a_quotation_of_more_spam() -> None:
    text = f"> {SAMPLES['spam_certain'][0]} {SAMPLES['spam_certain'][1]}\n\n{SPAM}"
    assert (combined(score_text(SHIPPED, text, Context(language="en")))["spam"].acting or 0.0) > 0.95


def test_the_parts_of_a_post_name_who_says_them() -> None:
    seen = see("# News\n> they say\nI answer")
    voices = [(seen.shown.text[part.start : part.end], part.voice) for part in seen.segments]
    assert voices == [("News\n", Voice.TITLE), ("they say\n", Voice.QUOTED), ("I answer", Voice.OWN)]


@pytest.mark.parametrize(
    "text",
    [
        "If you feel like ending your life, please call 116 123",
        "988 Suicide & Crisis Lifeline, call or text 988",
        "If you are in crisis please call or text 988, or 1-800-273-8255. You are not alone.",
        "Text HOME to 741741 to reach the Crisis Text Line",
        "Samaritans can be called free on 116 123",
        "Telefonseelsorge: 0800 111 0 111, rund um die Uhr",
    ],
)
def test_who_names_a_line_for_people_in_a_crisis_is_left_alone(text: str) -> None:
    assert max(scores(text).values()) < 0.5


def test_a_line_beside_it_does_not_shield_spam_and_a_plea_is_none() -> None:
    assert scores(f"{SPAM} Samaritans 116 123 are there for you.")["spam"] > 0.95
    plea = scores("I want to die, please call me on 202 555 0143, anyone, text me")
    assert plea["spam"] < 0.1
    assert plea["self_harm"] > 0.5


def test_an_attack_in_one_language_is_read_beside_another() -> None:
    attack = "all jews should be gassed"
    for beside in (
        "Сегодня очень хорошая погода в гавани, все довольны. ",
        "今日は港の天気がとてもいいです。",
    ):
        assert scores(beside + attack)["hate"] > 0.55


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("今天天气很好", "zh"),
        ("आज मौसम अच्छा है", "hi"),
        ("오늘 날씨가 좋아요", "ko"),
        ("الطقس جميل اليوم", "ar"),
        ("今日はいい", "ja"),
    ],
)
def test_the_script_decides_and_what_nothing_reads_is_not_scored(text: str, tag: str) -> None:
    assert language_of(text) == tag
    assert set(scores(text)) == {"spam", "sexual", "pii"}


def test_a_post_of_fifty_thousand_signs_is_read_in_time() -> None:
    for part in (
        "**a** ",
        "<a ",
        "[a](b) ",
        "> ",
        "`",
        "k.i.l.l ",
        '"said ',
        "&lt;",
        "<!-- ",
        "<script>",
        "a_*~|",
    ):
        started = time.thread_time()
        see.__wrapped__((part * 50_000)[:50_000]).undisguised(shared_vocabulary())
        assert time.thread_time() - started < 2.0, part


MARKUP = st.text(alphabet="ab *_~|`[]()<>&#;\n\"'!/=\\-:.1kil\u200b\u0301🙂", max_size=120)


@examples(300)
@given(st.one_of(MARKUP, st.text(max_size=100)))
def test_every_letter_that_is_shown_has_its_place_in_the_source(source: str) -> None:
    seen = see.__wrapped__(source)
    assert len(seen.shown.text) == len(seen.shown.starts) == len(seen.shown.ends)
    assert [part.start for part in seen.segments[1:]] == [part.end for part in seen.segments[:-1]]
    for start, end in zip(seen.shown.starts, seen.shown.ends, strict=True):
        assert 0 <= start < end <= len(source)
    for reading in (seen.plain, seen.folded(shared_vocabulary())):
        for at in range(len(reading.text)):
            start, end = seen.source_span(reading, at, at + 1)
            assert 0 <= start < end <= len(source)
    assert "".join(seen.slices(seen.plain)) == seen.plain.text
