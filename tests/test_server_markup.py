"""Tags and placeholders come through a translation as they are, as often as they were, around the right words."""

import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dragoman.config import Search
from dragoman.engine.base import Hypothesis
from dragoman.engine.load import load_translator
from dragoman.engine.question import finish
from dragoman.engine.translator import Translator
from dragoman.server import markup, placeholders
from dragoman.server.carry import Mark, put_back
from dragoman.server.texts import Manner, translate_pages, translate_texts
from dragoman.text.tokenizer import Tokenizer
from serving import TALKATIVE
from tiny_model import make_tiny_model

TAG = re.compile(r"""</?[A-Za-z](?:[^<>"']|"[^"]*"|'[^']*')*>""")
LINKS = st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=20)
WORDS = st.lists(st.sampled_from(["el", "perro,", "(ve)", "gato.", "y", "—", "¿qué?"]), max_size=11).map(" ".join)
HTML_PARTS = (
    "<b>", "</b>", "<i>", "</i>", "<a href='x > y'>", "</a>", "<img src=x>", "<p>", "</p>", "<br/>", "dog ", " cat.",
    "a &amp; b", " ", "\n", "<", ">", "&", "<!-- c -->", "<script>x<b></script>", "{{n}}", "{0} ",
)  # fmt: skip
HTML = st.lists(st.sampled_from(HTML_PARTS), max_size=25).map("".join)
PLACEHOLDERS = st.sampled_from(["{{name}}", "{0}", "%1$s", "%d", "%(count)s", "${x}", "https://a.org/b?c=d", "a@b.org"])
HOSTILE = (
    "<", "<b>", "<a ", '<a "', "<a '", "<!--", "<script>", "<p translate=no>", "&", "&#", "{", "{{", "{{a", "%", "%1",
    "%(", "${", "https://", "='<a'", "<a=x'y '", "{\\a", "a+", "<b>{0}", "www.", "a@", "a.", "</b>",
    "<b>x ", "<b>x</b> ", "<i></i>", "w",
)  # fmt: skip
SECONDS = 5.0  # a quadratic one takes minutes


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    return load_translator(make_tiny_model(tmp_path_factory.mktemp("markup") / "model", seed=TALKATIVE), threads=1)


def is_nested(text: str) -> bool:
    """Tell whether every tag that is opened is closed, the last one first."""
    waiting = []
    for tag in TAG.findall(text):
        if not tag.startswith("</"):
            waiting.append(tag[1:-1])
        elif not waiting or waiting.pop() != tag[2:-1]:
            return False
    return not waiting


class ByHeart:
    """An engine that knows some sentences by heart, piece for piece, and makes of all others one piece."""

    max_source = max_target = 100

    def __init__(self, tokenizer: Tokenizer, known: dict[str, str]) -> None:
        self.asked: list[Sequence[Sequence[int]]] = []
        self._known = {tuple(tokenizer.encode(a)): tuple(tokenizer.encode(b)) for a, b in known.items()}

    def translate(
        self,
        sources: Sequence[Sequence[int]],
        search: Search,
        *,
        prefixes: Sequence[Sequence[int]] | None = None,
        attention: bool = False,
    ) -> list[list[Hypothesis]]:
        del search, prefixes, attention
        self.asked.append(sources)
        found = [self._known.get(tuple(source), (300,)) for source in sources]
        looked = [
            np.eye(len(target), len(source), dtype=np.float32) for target, source in zip(found, sources, strict=True)
        ]
        return [
            [Hypothesis(target, 0.0, finished=True, attention=seen)] for target, seen in zip(found, looked, strict=True)
        ]


@st.composite
def marked(draw: st.DrawFn, start: int, end: int, depth: int = 0) -> list[Mark]:
    """Draw marks side by side and in each other, each with a name of its own."""
    edges = sorted(draw(st.lists(st.integers(start, end), max_size=6)))
    marks = []
    for low, high in list(pairwise(edges))[::2]:
        name = f"t{draw(st.integers(0, 10**9))}"
        inside = draw(marked(low, high, depth + 1)) if depth < 2 else []
        marks.append(Mark(low, high, f"<{name}>", f"</{name}>", draw(st.booleans()), inside))
    return marks


SOURCE = 'The dog, (who) sees "the cat", runs.'


@given(marks=marked(0, len(SOURCE)), target=WORDS, links=LINKS)
def test_every_mark_is_written_once_and_marks_stay_nested(
    marks: list[Mark], target: str, links: list[tuple[int, int]]
) -> None:
    written = put_back(SOURCE, target, links, marks)
    expected = Counter(TAG.findall("".join(mark.whole for mark in marks)))
    assert Counter(TAG.findall(written)) == expected
    assert is_nested(written)
    bare = TAG.sub("", written)
    if any(map(stands_apart, marks)):  # one that does may stand before a word's comma, as in "Hola {0}, adiós"
        bare, target = (re.sub(r"\s+(?=[^\w\s]+(\s|$))", "", text) for text in (bare, target))
    assert bare.split() == target.split()


def stands_apart(mark: Mark) -> bool:
    return mark.stands_apart or any(map(stands_apart, mark.inside))


@pytest.mark.parametrize(
    ("page", "target", "links", "expected"),
    [
        ("the <b>red</b> house", "la casa roja", [(0, 0), (2, 1), (1, 2)], "la casa <b>roja</b>"),
        ("the <b>red house</b>", "la casa roja", [(0, 0), (2, 1), (1, 2)], "la <b>casa roja</b>"),
        ("I <b>gave <i>up</i></b>.", "me rendí.", [(0, 0), (1, 1)], "me <b>rendí<i></i></b>."),
        ("(<b>red</b>)", "(roja)", [(0, 0)], "(<b>roja</b>)"),
        ("<b>One.</b> Two.", "Uno. Dos.", [(0, 0), (1, 1)], "<b>Uno.</b> Dos."),
        ("a <img> dog", "un perro", [(0, 0), (1, 1)], "un <img> perro"),
        ("see <i>x</i> <b>y</b>", "y x ver", [(2, 0), (1, 1), (0, 2)], "<b>y</b> <i>x</i> ver"),
        ("one <b>two</b> three", "uno dos tres", [], "uno <b>dos</b> tres"),
    ],
)
def test_tags_stand_around_the_right_words(page: str, target: str, links: list[tuple[int, int]], expected: str) -> None:
    (block,) = markup.parse(page)
    assert isinstance(block, markup.Block)
    assert put_back(block.text, target, links, block.marks) == expected


def test_a_run_of_words_is_not_stretched_by_one_that_went_astray() -> None:
    (block,) = markup.parse("<b>a b c</b> d e f")
    assert isinstance(block, markup.Block)
    links = [(0, 0), (1, 1), (3, 2), (4, 3), (5, 4), (2, 5)]
    assert put_back(block.text, "A B D E F C", links, block.marks) == "<b>A B</b> D E F C"


@given(page=HTML)
def test_a_page_that_is_taken_apart_has_lost_nothing_but_white_space(page: str) -> None:
    """Put together again with a translation that changes nothing, it is what it was."""
    parts = markup.parse(page)
    again = "".join(
        part
        if isinstance(part, str)
        else put_back(part.text, part.text, [(n, n) for n in range(len(part.text.split()))], part.marks, markup.escape)
        for part in parts
    )
    assert Counter(TAG.findall(again)) == Counter(TAG.findall(page))
    bare = [re.sub(r"\s", "", TAG.sub("", text)).replace("&amp;", "&") for text in (again, page)]
    assert bare[0].replace("&lt;", "<").replace("&gt;", ">") == bare[1]


def test_newlines_are_spaces_except_where_they_are_shown() -> None:
    assert markup.parse("<p>one\n  two</p>") == ["<p>", markup.Block("one two", []), "</p>"]
    assert markup.parse("<pre>one\ntwo</pre>") == ["<pre>", markup.Block("one\ntwo", []), "</pre>"]
    assert markup.parse("<pre>one\n<br>two\n  three</pre>") == [
        "<pre>", markup.Block("one", []), "\n", "<br>", markup.Block("two\n  three", []), "</pre>",
    ]  # fmt: skip
    assert markup.parse("<pre>a</pre><p>one\n two")[-1] == markup.Block("one two", [])
    assert markup.parse("\n <p>\n one </p>\n") == ["\n ", "<p>", "\n ", markup.Block("one", []), " ", "</p>", "\n"]


def test_what_is_not_to_be_translated_is_not() -> None:
    page = "a <span translate='no'>b <b>c</b></span> d<style>p{}</style><div translate=no><div>e</div>f</div>g"
    texts = [part.text for part in markup.parse(page) if isinstance(part, markup.Block)]
    assert texts == ["a d", "g"]
    assert "".join(part if isinstance(part, str) else part.marks[0].before for part in markup.parse(page)[:1]) == (
        "<span translate='no'>b <b>c</b></span>"
    )


@pytest.mark.parametrize("name", ["img", "br", "input", "hr", "IMG"])
def test_an_element_that_holds_nothing_keeps_nothing_from_being_translated(name: str) -> None:
    page = f'<p><{name} translate="no"> The dog.</p><p>More.</p>'
    assert [part.text.strip() for part in markup.parse(page) if isinstance(part, markup.Block)] == ["The dog.", "More."]


@pytest.mark.parametrize(
    "tag", ["<p class=don't>", '<p class=a"b>', "<p id=x class = don't title='a > b'>", "<p class=a=b'c>", "<p a='>'>"]
)
def test_quotes_in_bare_values_are_letters_like_others(tag: str) -> None:
    assert markup.parse(f"{tag}The dog's.</p>") == [tag, markup.Block("The dog's.", []), "</p>"]


def test_what_begins_like_a_tag_but_does_not_end_is_text() -> None:
    (block,) = markup.parse("1 <b2 <i>x</i> <a")
    assert isinstance(block, markup.Block)
    assert (block.text, [mark.whole for mark in block.marks]) == ("1 <b2 x <a", ["<i></i>"])


@pytest.mark.parametrize("part", HOSTILE)
def test_hostile_text_takes_no_more_time_than_its_length(part: str) -> None:
    text = part * (100_000 // len(part))
    begun = time.process_time()
    for page in markup.parse(text):
        if isinstance(page, markup.Block):
            put_back(page.text, page.text, [], page.marks)
    placeholders.find(text)
    placeholders.take_out(text)
    assert time.process_time() - begun < SECONDS


def test_placeholders_are_found() -> None:
    text = "{{name}} has {0} of %1$s, %d %5.2f %(n)s ${x} {n, number}: https://a.org/b?c=d). Ask me@a.org."
    found = "{{name}} {0} %1$s %d %5.2f %(n)s ${x} {n,_number} https://a.org/b?c=d me@a.org"
    assert placeholders.find(text) == Counter(one.replace("_", " ") for one in found.split())


@pytest.mark.parametrize(
    "one", ["ftp://x.org/a", "HTTPS://A.org/b", "git+ssh://a/b", "WWW.a.org", "<b>", "</b>", '<a href="x">', "{\\an8}"]
)
def test_addresses_of_every_scheme_and_tags_are_found(one: str) -> None:
    assert placeholders.find(f"See {one}, please.") == Counter([one])
    assert not placeholders.survive(f"See {one}.", "See.")
    assert placeholders.survive(f"See {one}.", f"{one}: see.")


@pytest.mark.parametrize("text", ["100 % sure", "50% of", "{ a }", "a:b", "me@home", "5%", "http:", "a < b > c", "<3"])
def test_what_only_looks_like_a_placeholder_is_none(text: str) -> None:
    assert not placeholders.find(text)


@given(words=st.lists(st.one_of(PLACEHOLDERS, st.sampled_from(["dog", "sees", "the", "cat.", "你好"])), max_size=9))
def test_a_text_without_its_placeholders_has_none(words: list[str]) -> None:
    text = " ".join(words)
    taken = placeholders.take_out(text)
    edges = [0, *(edge for one in taken for edge in (one.start, one.end)), len(text)]
    bare = "".join(text[start:end] for start, end in zip(edges[::2], edges[1::2], strict=True))
    assert not placeholders.find(bare)
    assert placeholders.find(" ".join(one.word for one in taken)) == placeholders.find(text)


@pytest.mark.parametrize(
    ("text", "bare", "translated", "expected"),
    [
        ("Open {0} files", "Open files", "Abrir archivos", "Abrir {0} archivos"),
        ("Hello {{name}}, welcome!", "Hello, welcome!", "Hola, ¡bienvenido!", "Hola {{name}}, ¡bienvenido!"),
        ("See https://a.org/b.", "See.", "Ver.", "Ver https://a.org/b."),
        ("{0}", "", "", "{0}"),
        ("%1$s %2$s", "", "", "%1$s %2$s"),
        ("Open <b>files", "Open files", "Abrir archivos", "Abrir <b>archivos"),
        ("{\\an8}Open files", "Open files", "Abrir archivos", "{\\an8}Abrir archivos"),
    ],
)
def test_placeholders_that_were_lost_are_put_back_in_their_places(
    translator: Translator, text: str, bare: str, translated: str, expected: str
) -> None:
    told = Translator(ByHeart(translator.tokenizer, {bare: translated}), translator.tokenizer)
    assert finish(translate_texts(told, [text], Manner(translator.search, aligns=True))) == [[expected]]


@settings(max_examples=40)
@given(page=HTML)
def test_a_translated_page_has_the_tags_and_placeholders_that_it_had(translator: Translator, page: str) -> None:
    manner = Manner(translator.search, aligns=True, escape=markup.escape)
    (done,) = finish(translate_pages(translator, [page], manner))
    assert Counter(TAG.findall(done)) == Counter(TAG.findall(page))
    assert placeholders.survive(TAG.sub(" ", page), TAG.sub(" ", done))


@settings(max_examples=40)
@given(words=st.lists(st.one_of(PLACEHOLDERS, st.sampled_from(["The", "dog", "sees", "the", "cat."])), max_size=7))
def test_a_translated_text_has_the_placeholders_that_it_had(translator: Translator, words: list[str]) -> None:
    text = " ".join(words)
    ((done, *_),) = finish(translate_texts(translator, [text], Manner(translator.search, aligns=True)))
    assert placeholders.survive(text, done)


def test_a_placeholder_stays_on_its_side_of_a_tag(translator: Translator) -> None:
    told = Translator(ByHeart(translator.tokenizer, {"dog": "perro"}), translator.tokenizer)
    manner = Manner(translator.search, aligns=True, escape=markup.escape)
    pages = ["<b>dog</b> {0}", "<b>dog {0}</b>", "{0} <b>dog</b>", "<b>{0}</b> dog"]
    done = finish(translate_pages(told, pages, manner))
    assert done == ["<b>perro</b> {0}", "<b>perro {0}</b>", "{0} <b>perro</b>", "<b>{0}</b> perro"]


def test_a_text_stays_as_it_is_if_the_model_writes_placeholders_of_its_own(translator: Translator) -> None:
    told = Translator(ByHeart(translator.tokenizer, {"dog": "{1}", "cat": "gato"}), translator.tokenizer)
    manner = Manner(translator.search, aligns=True, escape=markup.escape)
    assert finish(translate_texts(told, ["dog", "cat"], manner)) == [["dog"], ["gato"]]
    assert finish(translate_pages(told, ["<p><b>dog</b> {0}</p>"], manner)) == ["<p><b>dog</b> {0}</p>"]


def test_one_sentence_that_cannot_be_mended_leaves_the_others_translated(translator: Translator) -> None:
    known = {"The dog.": "El perro.", "Open files.": "Abrir archivos.", "The cat.": "{1}"}
    told = Translator(ByHeart(translator.tokenizer, known), translator.tokenizer)
    text = "The dog. The cat.\n\n Open {0} files. The dog.\n"
    manner = Manner(translator.search, aligns=True)
    expected = "El perro. The cat.\n\n Abrir {0} archivos. El perro.\n"
    assert finish(translate_texts(told, [text, "The dog."], manner)) == [[expected], ["El perro."]]
    page = f"<p>{text}<p>The <b>dog.</b>"
    assert "El perro. The cat. Abrir {0} archivos. El perro." in finish(translate_pages(told, [page], manner))[0]


def test_a_placeholder_with_a_full_stop_in_it_is_mended_too(translator: Translator) -> None:
    told = Translator(ByHeart(translator.tokenizer, {"Hello": "Hola"}), translator.tokenizer)
    text = "Hello {{One. Two}}"
    assert finish(translate_texts(told, [text], Manner(translator.search, aligns=True))) == [["Hola {{One. Two}}"]]


def test_only_sentences_that_lost_something_are_asked_for_again(translator: Translator) -> None:
    engine = ByHeart(translator.tokenizer, {"The dog.": "El perro."})
    told = Translator(engine, translator.tokenizer)
    finish(translate_texts(told, ["The dog. Open {0} files. The dog."], Manner(translator.search, aligns=True)))
    assert [len(sources) for sources in engine.asked] == [2, 1]


def test_alternatives_of_a_mended_text_are_mended_too(translator: Translator) -> None:
    search = replace(translator.search, best=3, beam=3)
    text = "The dog sees the cat. My {{name}} closed this box."
    ((best, *others),) = finish(translate_texts(translator, [text], Manner(search, aligns=True)))
    assert others
    assert all(placeholders.survive(text, one) for one in (best, *others))


def test_sentences_that_touch_are_joined_as_the_other_language_joins_them(translator: Translator) -> None:
    told = Translator(ByHeart(translator.tokenizer, {"狗。": "A dog."}), translator.tokenizer)
    (((done), *_),) = finish(translate_texts(told, ["狗。狗。{0}"], Manner(translator.search, aligns=True)))
    assert done == "A dog. A dog. {0}"


def test_what_was_written_as_text_never_becomes_a_tag(translator: Translator) -> None:
    """Also where it is put back as a placeholder, or with one that it clings to."""
    told = Translator(ByHeart(translator.tokenizer, {"dog": "perro"}), translator.tokenizer)
    manner = Manner(translator.search, aligns=True, escape=markup.escape)
    pages = ["dog {0}&lt;script&gt;", "dog &lt;b&gt;", "dog https://a.org/?b=c&amp;d=e"]
    assert finish(translate_pages(told, pages, manner)) == [page.replace("dog", "perro") for page in pages]


def test_without_placeholders_and_tags_nothing_is_different(translator: Translator) -> None:
    texts = ["The dog sees the cat.", " two\n\nlines ", "😀"]
    found = finish(translate_texts(translator, texts, Manner(translator.search, aligns=True)))
    assert [best for best, *_ in found] == [translation.text for translation in translator.translate(texts)]
