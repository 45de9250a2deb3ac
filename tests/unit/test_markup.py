"""The author's markup: a safe subset, that hides nothing and costs little."""

import time

import pytest

from app.web import markup


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("> quoted\n\nsaid", "<blockquote>\n<p>quoted</p>\n</blockquote>\n<p>said</p>\n"),
        ("3. three\n4. four", '<ol start="3">\n<li>three</li>\n<li>four</li>\n</ol>\n'),
        ("`a < b`", "<p><code>a &lt; b</code></p>\n"),
        ("```js\n<script>\n```", "<pre><code>&lt;script&gt;\n</code></pre>\n"),
        (
            "[bank](https://bank.example@evil.example/)",
            '<p>bank <span class="to">→ evil.example</span></p>\n',
        ),
        ("![cat](https://t.example/1.gif)", '<p>!cat <span class="to">→ t.example</span></p>\n'),
        ("<https://a.example/x> **b**", "<p>https://a.example/x <strong>b</strong></p>\n"),
        (
            "**a**\n<img src=x onerror=alert(1)>",
            "<p><strong>a</strong><br>\n&lt;img src=x onerror=alert(1)&gt;</p>\n",
        ),
        ("[x](javascript:alert(1)) **b**", "<p>[x](javascript:alert(1)) <strong>b</strong></p>\n"),
    ],
)
def test_the_subset_is_rendered_and_links_say_where_they_lead(text: str, html: str) -> None:
    assert markup.rendered(text) == html


def test_nothing_that_was_typed_is_hidden() -> None:
    hiding = (
        "**a**\n\n[//]: # (slur one)\n\n<!-- slur two -->\n\n[x]: https://slur-three.example\n\n"
        "# slur four\n\n&#115;lur five"
    )
    shown = str(markup.rendered(hiding))
    for word in ("slur one", "slur two", "slur-three.example", "# slur four", "&amp;#115;lur five"):
        assert word in shown


def test_a_text_without_markup_stays_as_it_is() -> None:
    for text in (
        "",
        "plain",
        "two\n\nparagraphs",
        "2 * 3 * 4",
        "snake_case_name",
        "# title",
        "    indented",
        "a\n---",
    ):
        assert markup.rendered(text) is None, text


@pytest.mark.parametrize("piece", ["[", "*a ", ">", "- " * 3, "`", "![](", "**", "\n> ", "_a*", "<a", "1. "])
def test_no_text_takes_long(piece: str) -> None:
    text = (piece * markup.RENDERED_MAX)[: markup.RENDERED_MAX]
    began = time.process_time()
    markup.rendered(text)
    assert time.process_time() - began < 20
    assert markup.rendered(text + "**a**" * 2) is None


def test_lines_are_counted_as_they_are_shown() -> None:
    assert markup.lines("a\n\nb") == 3
    assert markup.lines("x" * 76) == 2
    assert markup.lines("a\nb\nc", 3) == 2


def test_many_empty_lines_are_counted_also_before_the_first_and_after_the_last_line() -> None:
    said = '<span class="muted">5 empty lines</span>'
    assert markup.escaped("\n" * 5 + "<b>") == f"{said}\n&lt;b&gt;"
    assert markup.escaped("a" + "\n" * 6 + "b") == f"a\n{said}\nb"
    assert markup.escaped("\n" * 6 + "b", starts_line=False) == f"\n{said}\nb"
    assert markup.escaped("a\n\n\n\nb") == "a\n\n\n\nb"
    assert markup.lines("a" + "\n" * 300 + "b") == 3
