"""The errors that a user can cause; the service has two more of its own kind.

A message says where and what, with the offending value; the hint says what to do. `dragoman.cli.main` turns an
error into two lines on stderr and its exit code; nothing else prints one.
"""


class DragomanError(Exception):
    """A mistake that the user can mend."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class DataError(DragomanError):
    """A corpus that cannot be read, or from which nothing can be learned."""


class OtherLanguagesError(DragomanError):
    """A corpus that is not in the languages that it was to be read by."""


class RecipeError(DragomanError):
    """A setting that does not exist or has a value it cannot have."""


class ModelError(DragomanError):
    """A model directory that is missing something, damaged, or of another format."""


class TrainingError(DragomanError):
    """A training that cannot start or cannot go on."""


class UnfinishedError(DragomanError):
    """A training that cannot go on as it was asked for; what was prepared is kept, and it can be taken up again."""


class DivergedError(DragomanError):
    """A training whose numbers grew out of bounds; the recipe is to blame, and another may do better."""


class FlaggedError(DragomanError):
    """Translations were made but flagged, and the user asked for that to be a failure."""

    exit_code = 3


class InterruptedByUserError(DragomanError):
    """The user stopped the work; what was done so far is saved."""

    exit_code = 130
