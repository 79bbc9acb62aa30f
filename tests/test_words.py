from dragoman.data.corpus import Pair
from dragoman.data.words import Words


def test_words_are_counted_once_whatever_stands_around_them() -> None:
    pairs = [Pair("The dog, the dog.", "El perro", "a:1"), Pair("dog!", "¿perro?", "a:2")]
    words = Words()
    assert list(words.counting(pairs)) == pairs
    assert len(words) == len({"The", "dog", "the", "El", "perro"})
