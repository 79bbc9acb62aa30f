"""Tell whether a text and its translation hold different numbers, with few false alarms.

Translators rewrite numbers: `1,234.5` becomes `1.234,5`, `3 pm` becomes `15 h`, `2.5 billion` becomes `2500 millones`,
`the 20th century` becomes `el siglo XX`, and small numbers are spelled out. So a single number that the other side lacks
proves nothing. Two sides disagree if each holds a number that the other has in no form, or if one holds a
number that nobody spells out and the other holds no digit at all.
"""

import re
from collections import Counter
from typing import Final

_DIGIT = re.compile(r"\d")
_NUMBER = re.compile(r"\d+(?:[.,:'’\u00a0\u202f ]\d+)*")
_GROUP = re.compile(r"\d+")
_LONG_ENOUGH: Final = 2  # digits; single ones are spelled out, or count items in a list
_NEVER_SPELLED: Final = 3  # significant digits


def numbers_disagree(source: str, target: str) -> bool:
    """Tell whether the two sides' numbers cannot be those of one text."""
    if _DIGIT.search(source) is None and _DIGIT.search(target) is None:
        return False
    left, right = Counter(_groups(source)), Counter(_groups(target))
    if left == right:
        return False
    return _disagree(source, target, left, right)


def _groups(text: str) -> list[str]:
    groups = _GROUP.findall(text)
    if not text.isascii():
        groups = ["".join(str(int(digit)) for digit in group) for group in groups]
    return [group.lstrip("0") for group in groups]


def _disagree(source: str, target: str, left: Counter[str], right: Counter[str]) -> bool:
    only_left = _unmatched(left, right)
    only_right = _unmatched(right, left)
    if not right or not left:
        return any(len(group.rstrip("0")) >= _NEVER_SPELLED for group in only_left + only_right)
    if not only_left or not only_right:
        return False
    return not (_forms(source, only_left) & _forms(target, only_right))


def _unmatched(mine: Counter[str], theirs: Counter[str]) -> list[str]:
    return [group for group in mine if group not in theirs and len(group) >= _LONG_ENOUGH]


def _forms(text: str, groups: list[str]) -> set[str]:
    """List what the unmatched numbers may look like elsewhere: separators moved, zeros dropped, hours after noon."""
    forms = {"".join(sorted("".join(groups)))}
    for number in _NUMBER.findall(text):
        digits = "".join(_groups(number)).strip("0")
        forms.add(digits)
    forms.update(group.strip("0") for group in groups)
    return forms
