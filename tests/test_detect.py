"""Which language a text is in: sure where it can be, unsure where it cannot, and never at a loss for time."""

import time

import pytest

from dragoman.data.grammar import generate
from dragoman.text.detect import detect

CODES = ["en", "es", "de", "fr", "zh-Hans", "ja", "ru", "uk", "el", "pt-BR"]
SENTENCES = {
    "en": "The weather was nice and we went to the river with my sister.",
    "es": "El tiempo era bueno y fuimos al río con mi hermana para nadar.",
    "de": "Das Wetter war schön und wir sind mit meiner Schwester an den Fluss gegangen.",
    "fr": "Il faisait beau et nous sommes allés à la rivière avec ma sœur.",
    "zh-Hans": "天气很好，我们去了河边。",
    "ja": "天気がよかったので、川に行きました。",
    "ru": "Погода была хорошая, и мы с сестрой пошли на реку.",
    "uk": "Погода була гарна, і ми з сестрою пішли на річку, але він не міг.",
    "el": "Ο καιρός ήταν καλός και πήγαμε στο ποτάμι.",
    "pt-BR": "O tempo estava bom e nós fomos ao rio com a minha irmã, mas não muito longe.",
}


@pytest.mark.parametrize(("code", "sentence"), SENTENCES.items())
def test_a_sentence_is_known_by_its_script_and_its_small_words(code: str, sentence: str) -> None:
    best, *others = detect(sentence, CODES)
    assert best.language == code
    assert best.confidence > 50
    assert best.confidence + sum(guess.confidence for guess in others) <= 100.1
    assert [guess.confidence for guess in others] == sorted((g.confidence for g in others), reverse=True)


def test_the_built_in_corpus_is_told_apart() -> None:
    """Confidence is worth something: what is believed at 90 is wrong in no more than a tenth."""
    guesses = []
    for example in generate(500, seed=3):
        for code, text in (("en", example.source), ("es", example.target)):
            guesses += [(guess.confidence, guess.language == code) for guess in detect(text, ["en", "es"])[:1]]
    assert sum(right for _, right in guesses) >= 0.95 * 1000
    sure = [right for confidence, right in guesses if confidence >= 90]
    assert sum(sure) >= 0.9 * len(sure) > 0


def test_another_language_is_not_taken_for_the_nearest() -> None:
    dutch = "De hond van mijn zus is niet in het huis, maar hij kan het wel zien."
    assert not detect(dutch, ["en", "es"])
    assert detect(dutch, ["en", "nl"])[0].language == "nl"


def test_two_codes_of_one_language_share_its_confidence() -> None:
    guesses = detect(SENTENCES["zh-Hans"], ["en", "zh-Hans", "zh-Hant"])
    assert [guess.language for guess in guesses] == ["zh-Hans", "zh-Hant"]
    assert guesses[0].confidence == guesses[1].confidence
    assert sum(guess.confidence for guess in guesses) <= 100


def test_a_language_without_known_words_does_not_win_by_that() -> None:
    """It has to be a longer text in which English has no word; then it may."""
    assert detect("dog cat house", ["en", "sw"])[0].language == "en"
    swahili = "Mbwa wangu mkubwa anapenda kucheza mpira uwanjani pamoja na watoto wengi kila siku asubuhi"
    assert detect(swahili, ["en", "sw"])[0].language == "sw"


@pytest.mark.parametrize("text", ["", "12", "😀", " \n", "…", "\ud800"])
def test_where_there_is_no_letter_there_is_no_guess(text: str) -> None:
    assert detect(text, CODES) == []


def test_one_unknown_word_is_little_to_go_by() -> None:
    assert all(guess.confidence < 50 for guess in detect("Zanzibar", CODES))


def test_a_long_text_takes_no_longer_than_a_short_one() -> None:
    begun = time.process_time()
    detect("the dog " * 1_000_000, CODES)
    assert time.process_time() - begun < 1
