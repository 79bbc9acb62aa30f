"""dragoman demo: to be written."""

from dragoman.errors import TrainingError


def demo() -> None:
    """Train on the built-in corpus and look at the result."""
    raise TrainingError("the demo has no command yet", hint="call dragoman.train(...) from Python")
