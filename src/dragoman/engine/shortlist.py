"""The shortlist: the target pieces that are worth scoring for a source, in the form that CTranslate2 reads.

Half of the work of a small model is giving a score to every piece of the vocabulary at every step, and of a vocabulary
that two languages share most pieces are the other language's. CTranslate2 takes for a batch the pieces that are always
likely, and those that are likely for any source piece in it. So what is not on the list of a sentence may still be on
that of its neighbour: a translation can depend on what it is translated with, but only where the list is too short.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from dragoman.text.tokenizer import END, UNKNOWN

SHORTLIST = "vmap.txt"
SMALLEST_VOCABULARY = 4000
"""Below this many pieces a shortlist saves too little to be worth anything."""
OF_EACH = 150
"""Target pieces that are on the list for a source piece."""
COMMON = 300
"""Target pieces that are on every list: the most frequent."""


def write_shortlist(
    path: Path, pieces: Sequence[str], always: Sequence[int], likely: Mapping[int, Sequence[int]]
) -> None:
    """Write the file: on each line a source piece, a tab and target pieces; first, without a source piece, the common.

    A piece with white space in it, which the format cannot hold, is left out.
    """
    common = {END, UNKNOWN, *always}
    lines = ["\t" + _join(pieces, sorted(common))]
    for source, targets in sorted(likely.items()):
        more = _join(pieces, [target for target in targets if target not in common])
        if more and _fits(pieces[source]):
            lines.append(f"{pieces[source]}\t{more}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def _join(pieces: Sequence[str], numbers: Sequence[int]) -> str:
    return " ".join(pieces[number] for number in numbers if _fits(pieces[number]))


def _fits(piece: str) -> bool:
    return bool(piece) and not any(character.isspace() for character in piece)
