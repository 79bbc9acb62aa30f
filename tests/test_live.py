"""What a person sees of a training."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from dragoman.cli.live import Watched, clock, follow, picture, sparkline
from dragoman.jobs.events import Finished, Planned, Preparing
from dragoman.training.events import Replanned, Scored, Updated

CARD = {
    "dev": {"chrf": {"score": 61.5}, "bleu": {"score": 33.1}},
    "fast": {"use": "int8", "float32": {"chrf": 61.6}, "int8": {"chrf": 61.5}},
}
EVENTS = (
    Preparing("encoding", 20_000),
    Planned(updates=100, scorings=2, minutes=5.0, resumed_at=0, seconds_an_update=0.1, elapsed=9.0),
    Updated(update=50, epoch=1, loss=2.5, rate=0.004, pieces=1000, seconds=0.5),
    Scored(50, 41.25, best=True, sample=("The [bold] dog.", "El perro.", "El perro.")),
    Replanned(60, 100, 80, "it takes longer than planned"),
    Finished(CARD, 298.0),
)


def drawn(events: tuple[object, ...]) -> str:
    watched = Watched(Path("my-model"))
    for event in events:
        watched.see(event)  # type: ignore[arg-type]
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(picture(watched, console))
    return console.export_text()


def test_the_display_tells_progress_scores_and_a_sample() -> None:
    text = drawn(EVENTS[:4])
    assert "update 50 of 100" in text
    assert "loss 2.500" in text
    assert "2,000 pieces/s" in text
    assert "left of 5:00" in text
    assert "dev chrF 41.2" in text
    assert "The [bold] dog." in text, "markup in a sentence is text"


def test_a_changed_plan_and_the_end_are_told() -> None:
    text = " ".join(drawn(EVENTS).split())
    assert "plan changed from 100 to 80 updates: it takes longer than planned" in text
    assert "done in 4:58: dev chrF 61.5" in text
    assert "engine int8" in text


def test_without_a_terminal_there_are_plain_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with follow(Path("my-model")) as observe:
        for event in EVENTS:
            observe(event)
    told = capsys.readouterr().err
    assert "\x1b" not in told
    assert "plan: 100 updates, 2 scorings, to end within 5:00 of the start" in told
    assert "update 50: dev chrF 41.25 (best)" in told
    assert "try: dragoman translate -m my-model" in told


def test_a_training_outlives_whoever_read_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone(io.StringIO):
        def write(self, _: str) -> int:
            raise BrokenPipeError(32, "Broken pipe")

    monkeypatch.setattr("sys.stderr", Gone())
    with follow(Path("model")) as observe:
        observe(Planned(100, 4, None, 0, 0.1, 0.0))
        observe(Scored(25, 40.0, best=True, sample=("a", "b", "c")))


def test_quiet_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    with follow(Path("my-model"), quiet=True) as observe:
        for event in EVENTS:
            observe(event)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(("seconds", "text"), [(0, "0:00"), (61.4, "1:01"), (3723, "1:02:03")])
def test_a_clock_reads_as_people_do(seconds: float, text: str) -> None:
    assert clock(seconds) == text


def test_a_sparkline_rises_with_its_values() -> None:
    line = sparkline([1.0, 2.0, 3.0])
    assert line == "".join(sorted(line))
    assert sparkline([]) == ""
