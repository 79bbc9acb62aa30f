"""Translation by attention: train on your own parallel text, translate, and look inside every step.

    import dragoman

    translator = dragoman.load("my-model")
    print(translator.translate(["I arrived at the bank."])[0].text)

The names below are loaded when they are first asked for, so importing the package costs nothing.
"""

TYPE_CHECKING = False  # what type checkers take for True; importing `typing` would be most of the cost of this module
if TYPE_CHECKING:
    from dragoman.engine.load import load_translator as load
    from dragoman.errors import DragomanError
    from dragoman.jobs.train import train

__version__ = "0.1.0"
__all__ = ["DragomanError", "__version__", "load", "train"]


def __getattr__(name: str) -> object:
    match name:
        case "load":
            from dragoman.engine.load import load_translator

            return load_translator
        case "train":
            from dragoman.jobs.train import train

            return train
        case "DragomanError":
            from dragoman.errors import DragomanError

            return DragomanError
    raise AttributeError(f"module 'dragoman' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
