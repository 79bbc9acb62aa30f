"""What holds for all tests.

A slow machine is no failure, so hypothesis sets no deadline per example; and what passed once passes again, so it draws
the same examples every time (`--hypothesis-profile=thorough` goes looking for new ones), unless a test or a constant of
the package changes: hypothesis draws these too. Shapes are checked here and
only here: the packages that name them in their annotations are imported with beartype looking on, so every test of the
mathematics tests its annotations too. A whole number may stand where a fraction is asked for, as mypy sees it.
"""

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from jaxtyping import install_import_hook

if TYPE_CHECKING:
    from run_command import Cli

_SLOW = [HealthCheck.too_slow]
settings.register_profile("dragoman", deadline=None, derandomize=True, suppress_health_check=_SLOW)
settings.register_profile("thorough", deadline=None, max_examples=2000, suppress_health_check=_SLOW)
settings.load_profile("dragoman")

install_import_hook(
    ["dragoman.nn", "dragoman.engine", "dragoman.training"],
    "beartype.beartype(conf=beartype.BeartypeConf(is_pep484_tower=True))",
)


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> "Cli":
    """Run the command in this process."""
    from run_command import make_cli  # not before the hook is there

    return make_cli(monkeypatch, capsysbinary)
