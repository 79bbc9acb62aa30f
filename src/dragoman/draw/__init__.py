"""Pictures from plain values: SVG and HTML, and blocks for a terminal."""

from dragoman.draw.arcs import svg_arcs, svg_word_arcs
from dragoman.draw.attention import AttentionMap, HeadSteps
from dragoman.draw.bars import svg_bars
from dragoman.draw.blocks import text_bars, text_heatmap, text_overview, text_scale
from dragoman.draw.curves import Series, svg_curves
from dragoman.draw.heatmap import svg_heatmap
from dragoman.draw.page import html_compare, html_page

__all__ = [
    "AttentionMap",
    "HeadSteps",
    "Series",
    "html_compare",
    "html_page",
    "svg_arcs",
    "svg_bars",
    "svg_curves",
    "svg_heatmap",
    "svg_word_arcs",
    "text_bars",
    "text_heatmap",
    "text_overview",
    "text_scale",
]
