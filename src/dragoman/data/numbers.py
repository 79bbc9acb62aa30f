"""Tell whether a text and its translation hold different numbers, with few false alarms.

Translators rewrite numbers: `1,234.5` becomes `1.234,5`, `10 pm` becomes `22 h`, `1.25 million` becomes `1
250 000`, `the 1990s` become `los años 90`, and many a number is spelled out. So one number that the other
side lacks proves nothing. Two sides disagree if each holds a number that the other has in no form, or if one
holds a number that nobody spells out and the other holds no digit at all.
"""

import re
from collections.abc import Iterable
from typing import Final

_DIGIT = re.compile("[0-9]")  # quicker than any script's; texts with none of these are not judged
_GROUP = re.compile(r"\d+")
_NUMBER = re.compile(r"\d+(?:[.,:'’\u00a0\u202f ]\d+)+")  # groups that may be one number
_YEAR = re.compile(r"1\d\d\d|20\d\d")
_COMPARED: Final = 2  # digits at least: single ones are spelled out, or number the items of a list
_NEVER_SPELLED: Final = 3  # significant digits at least


def numbers_disagree(source: str, target: str) -> bool:
    """Tell whether the two sides' numbers cannot be those of one text."""
    if _DIGIT.search(source) is None and _DIGIT.search(target) is None:
        return False
    left, right = _groups(source), _groups(target)
    if left == right or sorted(left) == sorted(right):
        return False
    if not left or not right:
        return any(_is_never_spelled(group) for group in left or right)
    only_left, only_right = _lacking(left, right), _lacking(right, left)
    if not only_left or not only_right:
        return False
    if sorted("".join(only_left)) == sorted("".join(only_right)):  # the same digits, grouped in another way
        return False
    left_forms, right_forms = _forms(source, left), _forms(target, right)
    return _has_unknown(only_left, left_forms, right_forms) and _has_unknown(only_right, right_forms, left_forms)


def _groups(text: str) -> list[str]:
    """List the runs of digits in any script, as ASCII digits without leading zeros."""
    groups = _GROUP.findall(text)
    if not text.isascii():
        groups = ["".join(str(int(digit)) for digit in group) for group in groups]
    return [group.lstrip("0") for group in groups]


def _is_never_spelled(group: str) -> bool:
    """Tell a number that is always in digits: not a round one, nor a year, which some spell out."""
    return len(group.rstrip("0")) >= _NEVER_SPELLED and _YEAR.fullmatch(group) is None


def _lacking(mine: list[str], theirs: list[str]) -> list[str]:
    known = set(theirs)
    return [group for group in mine if len(group) >= _COMPARED and group not in known]


def _forms(text: str, groups: Iterable[str]) -> dict[str, set[str]]:
    """Map each group of digits to the forms that its number may take elsewhere."""
    forms = {group: {group, group.rstrip("0")} for group in groups}
    for number in _NUMBER.findall(text):
        parts = _GROUP.findall(number)
        whole = "".join(_groups("".join(parts))).rstrip("0")  # separators moved or dropped; millions as a word
        for part in _groups(number):
            forms[part].add(whole)
    for group, known in forms.items():
        if _YEAR.fullmatch(group):
            known.add(group[2:])  # decades
        elif len(group) <= 2 and group and int(group) <= 24:
            known.add(f"{int(group) % 12} h")
    return forms


def _has_unknown(groups: list[str], mine: dict[str, set[str]], theirs: dict[str, set[str]]) -> bool:
    known = set().union(*theirs.values()) - {""}
    return any(not mine[group] & known for group in groups)
