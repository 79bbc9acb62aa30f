"""What the command is given, as fixtures for the tests that name this module as a plugin."""

from pathlib import Path

import pytest

from run_command import write_corpus
from tiny_model import make_tiny_model


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make two models of the same languages."""
    path = tmp_path_factory.mktemp("cli")
    make_tiny_model(path / "first")
    make_tiny_model(path / "second", seed=11)
    return path


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Write a small corpus."""
    return write_corpus(tmp_path / "pairs.tsv")
