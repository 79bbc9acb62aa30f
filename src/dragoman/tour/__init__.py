"""The lectures' numbers, chapter by chapter: the chapters are data, drawn by the terminal and the page alike.

`chapters.toml` has the order and the numbers that can be changed, a directory for each language the words, and
`arithmetic` computes everything else with the plain engine.
"""

from dragoman.tour.blocks import Block, Chapter, as_json
from dragoman.tour.chapters import Heading, find, languages, read_labels, table_of_contents, tell

__all__ = ["Block", "Chapter", "Heading", "as_json", "find", "languages", "read_labels", "table_of_contents", "tell"]
