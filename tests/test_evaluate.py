"""Where a model is worst, and where two differ most."""

from dragoman.evaluation.scores import score
from dragoman.jobs import evaluate as job


def _evaluated(texts: list[str], references: list[str]) -> job.Evaluation:
    return job.Evaluation(texts, score(texts, references), None, [frozenset()] * len(texts), 0.0)


def test_two_models_differ_most_where_their_likeness_does() -> None:
    references = ["one two three", "four five six", "seven eight nine", "ten"]
    test = job.TestSet(list("abcd"), references, [f"test.tsv:{n}" for n in range(1, 5)])
    mine = _evaluated(["one two three", "four", "nothing", "ten"], references)
    other = _evaluated(["one two", "four five six", "seven eight nine", "ten"], references)
    found = job.differ_most(mine, other, test, 9)
    assert [one.place for one in found.better] == ["test.tsv:1"]
    assert [one.place for one in found.worse] == ["test.tsv:3", "test.tsv:2"], "the greatest difference comes first"
    assert all(one.gain > 0 for one in found.better)
    assert found.worse[0].translation == "nothing"
    assert found.worse[0].other == "seven eight nine"
    swapped = job.differ_most(other, mine, test, 9)
    assert [one.place for one in swapped.better] == [one.place for one in found.worse]
    assert [len(ones) for ones in job.differ_most(mine, other, test, 1)] == [1, 1]
    assert job.differ_most(mine, mine, test, 9) == ([], [])


def test_of_several_references_the_nearest_counts_and_a_source_is_shown_once() -> None:
    sources, references = ["Hi.", "Hi.", "Go.", "Go."], ["Buenas.", "Hola.", "Vete ya.", "Anda."]
    test = job.TestSet(sources, references, [f"test.tsv:{n}" for n in range(1, 5)])
    mine = _evaluated(["Hola.", "Hola.", "Vete tú.", "Vete tú."], references)
    (low,) = job.worst(mine, test, 9)
    assert (low.place, low.translation, low.reference) == ("test.tsv:3", "Vete tú.", "Vete ya.")
    assert low.faults == ("missing: ya", "not in the reference: tú")
    other = _evaluated(["Buenas.", "Buenas.", "Anda.", "Anda."], references)
    better, worse = job.differ_most(mine, other, test, 9)
    assert better == [], "both greetings are right"
    assert [(one.place, one.reference, one.other_chrf) for one in worse] == [("test.tsv:4", "Anda.", 100.0)]


def test_what_is_right_is_not_among_the_worst() -> None:
    references = ["one two", "three", ""]
    test = job.TestSet(list("abc"), references, ["1", "2", "3"])
    assert [one.place for one in job.worst(_evaluated(["one two", "four", ""], references), test, 1)] == ["2"]
