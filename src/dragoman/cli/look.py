"""`dragoman look`: every layer and head of a translation, and how context changes a word."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dragoman.cli import show
from dragoman.cli.model import tell_language
from dragoman.cli.options import Model
from dragoman.errors import DataError

if TYPE_CHECKING:
    from dragoman.draw.attention import AttentionMap
    from dragoman.jobs.look import Look
    from dragoman.jobs.meaning import Likeness

KindName = Literal["encoder", "cross", "decoder"]

Texts = Annotated[
    list[str],
    typer.Argument(metavar="SENTENCE [SENTENCE]", help="One sentence; with --compare two.", show_default=False),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target", metavar="TEXT", help="Look at this translation instead of the model's own.", show_default=False
    ),
]
Kind = Annotated[KindName | None, typer.Option("--kind", help="Enlarge a head of this kind.", show_default="cross")]
Layer = Annotated[
    int | None, typer.Option("--layer", metavar="N", min=1, help="Enlarge this layer, from 1.", show_default="the best")
]
HeadNumber = Annotated[
    int | None, typer.Option("--head", metavar="N", min=1, help="Enlarge this head, from 1.", show_default="the best")
]
Word = Annotated[
    str | None,
    typer.Option("--word", metavar="WORD", help="Follow this word of the sentence.", show_default=False),
]
Compare = Annotated[bool, typer.Option("--compare", help="Compare --word in two sentences, layer by layer.")]
Html = Annotated[
    Path | None, typer.Option("--html", metavar="FILE", help="Write one self-contained page.", show_default=False)
]
Svg = Annotated[Path | None, typer.Option("--svg", metavar="FILE", help="Write a figure.", show_default=False)]


def look(  # noqa: PLR0913 -- an option each
    texts: Texts,
    *,
    model: Model = None,
    target: Target = None,
    kind: Kind = None,
    layer: Layer = None,
    head: HeadNumber = None,
    word: Word = None,
    compare: Compare = False,
    html: Html = None,
    svg: Svg = None,
) -> None:
    """Look inside a translation: where every head of every layer looked, and the best-aligning head large.

    A row is the piece that looks, a column a piece that is looked at. --svg draws the links of the enlarged
    head between words, or with --word where that word looks in its own sentence.

    With --compare, the cosine between a word's vectors in two sentences, from the embedding through every
    layer: the same word, but context has changed what it means.

    \b
    Examples:
      dragoman look "I arrived at the bank."                   the model in the box, from English to Spanish
      dragoman look -m my-model "I arrived at the bank after crossing the river."
      dragoman look -m my-model --html page.html --svg links.svg "I arrived at the bank."
      dragoman look -m my-model --kind encoder --layer 2 --head 3 "I arrived at the bank."
      dragoman look -m my-model --compare "I swam to the bank." "I drove to the bank." --word bank
    """  # noqa: D301 -- \b keeps the examples' lines apart
    from dragoman.checkpoint import ModelDirectory
    from dragoman.jobs import look as job
    from dragoman.jobs.meaning import compare_word

    _check_use(texts, compare=compare, word=word, kind=kind)
    directory = ModelDirectory(model)
    tell_language(directory.recipe, texts)
    opened = job.open_model(directory.path)
    if compare:
        assert word is not None
        _show_likeness(compare_word(opened, (texts[0], texts[1]), word), html, svg)
        return
    seen = job.look(opened, texts[0], target=target)
    if word is not None:
        attention = _encoder(seen, layer, head)
        _show_word(seen, attention, word)
    else:
        attention = _enlarged(seen, kind, layer, head)
        _show_look(seen, attention)
    if svg is not None:
        _write(svg, _picture(attention, word))
    if html is not None:
        _write(html, _page(seen, directory.path.name, word))


def _check_use(texts: Sequence[str], *, compare: bool, word: str | None, kind: KindName | None) -> None:
    if compare and len(texts) != 2:
        raise DataError(f"--compare needs two sentences, not {len(texts)}", hint="put each between quotation marks")
    if compare and word is None:
        raise DataError("--compare needs a word to compare", hint="name a word of both sentences with --word")
    if not compare and len(texts) != 1:
        hint = "put it between quotation marks, or add --compare"
        raise DataError(f"look takes one sentence, not {len(texts)}", hint=hint)
    if word is not None and kind not in (None, "encoder"):
        raise DataError(f"--word follows a word through the encoder, not --kind {kind}", hint="leave one of them out")


def _enlarged(seen: "Look", kind: KindName | None, layer: int | None, head: int | None) -> "AttentionMap":
    """Return the head to enlarge: the best of those that were asked for, where that leaves a choice."""
    from dragoman.jobs.look import CROSS, DECODER, ENCODER, choose

    kinds = {"encoder": ENCODER, "cross": CROSS, "decoder": DECODER}
    chosen = choose(seen.maps, kinds[kind or "cross"], layer, head)
    if seen.best in chosen:
        return seen.best
    return max(chosen, key=lambda one: float(one.weights.max(axis=1).mean()))


def _show_look(seen: "Look", large: "AttentionMap") -> None:
    from dragoman.draw import text_heatmap, text_overview, text_scale

    colour, dark, width = show.has_colour(sys.stdout), show.is_dark(), show.width()
    show.facts([("source", seen.source), ("translation", seen.translation or "(nothing)")])
    show.line()
    print(text_overview(seen.maps, colour=colour, width=width, dark=dark))
    show.line()
    name = large.name + (" · aligns best" if large is seen.best else "")
    print(text_heatmap(large._replace(name=name), colour=colour, width=width, dark=dark))
    show.line()
    print(text_scale(colour=colour, dark=dark))
    show.line()
    show.line(
        "a row looks, a column is looked at; in cross attention, the piece being written looks at the source", dim=True
    )


def _encoder(seen: "Look", layer: int | None, head: int | None) -> "AttentionMap":
    """Return the encoder's map for following a word: one head, or the mean of a layer's, the last if none is named."""
    from dragoman.jobs.look import ENCODER, average, choose

    last = max(one.layer for one in choose(seen.maps, ENCODER, None, None))
    chosen = choose(seen.maps, ENCODER, layer or last, head)
    if len(chosen) == 1:
        return chosen[0]
    return average(chosen, f"encoder self · layer {layer or last} · mean of {len(chosen)} heads")


def _show_word(seen: "Look", attention: "AttentionMap", word: str) -> None:
    from dragoman.draw import text_bars
    from dragoman.jobs.look import by_words, find_word

    words = by_words(attention)
    at = find_word(words.queries, word)
    show.facts([("source", seen.source), ("translation", seen.translation or "(nothing)")])
    show.line()
    show.heading(f"Where “{words.queries[at]}” looks  ({attention.name})")
    rows = [(name, float(weight)) for name, weight in zip(words.keys, words.weights[at], strict=True)]
    print(text_bars(rows, colour=show.has_colour(sys.stdout), width=min(100, show.width()), dark=show.is_dark()))


def _picture(attention: "AttentionMap", word: str | None) -> str:
    """Draw a figure: where a word looks, the links between the words of two sentences, or one head's map."""
    from dragoman.draw import svg_arcs, svg_heatmap, svg_word_arcs
    from dragoman.jobs.look import CROSS, by_words, find_word

    if word is None and attention.kind != CROSS:
        return svg_heatmap(attention)
    words = by_words(attention)
    if word is None:
        title = "Which word looks where"
        return svg_arcs(words.keys, words.queries, words.weights, title=title, subtitle=attention.name)
    at = find_word(words.queries, word)
    title = f"Where “{words.queries[at]}” looks"
    return svg_word_arcs(words.queries, at, words.weights[at], title=title, subtitle=attention.name)


def _page(seen: "Look", model: str, word: str | None) -> str:
    from dragoman.draw import html_page
    from dragoman.jobs.look import piece_of

    follow = piece_of(seen, word) if word is not None else 0
    return html_page(f"Inside {model}", seen.source, seen.pieces, seen.maps, steps=seen.steps, follow=follow)


def _show_likeness(found: "Likeness", html: Path | None, svg: Path | None) -> None:
    from dragoman.draw import html_compare, svg_bars, text_bars

    first, second = found.sentences
    show.facts([("first", first), ("second", second)])
    show.line()
    show.heading(f"How alike is “{found.word}” in the two? Cosine of its vectors, 1 is the same direction")
    low = min(0.0, *(value for _, value in found.cosines))
    print(
        text_bars(
            found.cosines,
            colour=show.has_colour(sys.stdout),
            width=min(100, show.width()),
            low=low,
            dark=show.is_dark(),
        )
    )
    if svg is not None:
        _write(
            svg,
            svg_bars(found.cosines, title=f"How alike is “{found.word}” in the two?", subtitle=f"{first} / {second}"),
        )
    if html is not None:
        _write(html, html_compare(f"“{found.word}” in two sentences", found.sentences, found.word, found.cosines))


def _write(path: Path, content: str) -> None:
    from dragoman.checkpoint import write_bytes, writing

    with writing(path):
        write_bytes(path, content.encode())
    show.note(f"written to {path}")
