"""The architecture: who may import whom, where torch may be, and how large things may grow."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

SOURCE = Path(__file__).parent.parent / "src"
FILES = sorted((SOURCE / "dragoman").rglob("*.py"))

# Lowest first. A module imports from lower lines and from its own package; never from its neighbours on the same line,
# never from a line below this one.
LAYERS = (
    ("errors", "machine", "arrays"),
    ("config",),
    ("recipe",),
    ("checkpoint",),
    ("text",),
    ("data",),
    ("nn", "engine"),
    ("training", "evaluation"),
    ("draw",),
    ("jobs",),
    ("tour",),
    ("server",),
    ("cli",),
    ("__main__",),
)
LEVEL = {package: level for level, packages in enumerate(LAYERS) for package in packages}

# May import torch, and each other's modules that do ...
TORCH = ("nn", "training")
# ... but for these, which must load where there is no torch.
WITHOUT_TORCH = (
    "training",
    "training.events",
    "training.forecast",
    "training.plan",
    "training.schedule",
    "training.sizes",
    "training.state",
)
# May import what needs torch inside functions.
TORCH_INSIDE_FUNCTIONS = ("jobs",)

MOST_LINES_OF_A_FILE = 400
MOST_LINES_OF_A_FUNCTION = 60
DEEPEST_CLASS = 2


class Import(NamedTuple):
    """One module imported by another."""

    module: str
    line: int
    inside: bool
    """Inside a function, so that it happens only when that is called."""
    typing_only: bool
    """Under `if TYPE_CHECKING`, so that it never happens."""


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def module_name(path: Path) -> str:
    """The name below `dragoman`, such as nn.attention; that of the package itself is empty."""
    parts = path.relative_to(SOURCE / "dragoman").with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in FILES}


def package_of(module: str) -> str:
    return module.partition(".")[0]


@cache
def imports(path: Path) -> tuple[Import, ...]:
    return tuple(_imports(parse(path), path, inside=False, typing_only=False))


def _imports(node: ast.AST, path: Path, *, inside: bool, typing_only: bool) -> Iterator[Import]:
    match node:
        case ast.Import():
            yield from (Import(alias.name, node.lineno, inside, typing_only) for alias in node.names)
        case ast.ImportFrom():
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            assert node.module is not None
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                is_module = whole.removeprefix("dragoman.") in MODULES
                yield Import(whole if is_module else node.module, node.lineno, inside, typing_only)
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            for statement in node.body:
                yield from _imports(statement, path, inside=inside, typing_only=True)
        case _:
            deeper = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            for child in ast.iter_child_nodes(node):
                yield from _imports(child, path, inside=deeper, typing_only=typing_only)


def own_imports(path: Path) -> Iterator[tuple[Import, str]]:
    """The imports from dragoman itself, each with the name below `dragoman`."""
    for one in imports(path):
        if one.module == "dragoman" or one.module.startswith("dragoman."):
            yield one, one.module.removeprefix("dragoman").removeprefix(".")


def needs_torch(module: str) -> bool:
    return package_of(module) in TORCH and module not in WITHOUT_TORCH and module in MODULES


def definitions(kind: type[ast.AST] | tuple[type[ast.AST], ...]) -> Iterator[tuple[Path, ast.AST]]:
    for path in FILES:
        yield from ((path, node) for node in ast.walk(parse(path)) if isinstance(node, kind))


def place(path: Path, line: int) -> str:
    return f"{path.relative_to(SOURCE)}:{line}"


def test_there_is_something_to_check() -> None:
    assert len(MODULES) > 50
    assert sum(len(imports(path)) for path in FILES) > 200


def test_every_package_has_its_layer() -> None:
    packages = {package_of(module) for module in MODULES if module}
    assert packages <= LEVEL.keys()


def test_nothing_imports_upward_or_sideways() -> None:
    wrong = []
    for module, path in MODULES.items():
        own = package_of(module)
        for one, other in own_imports(path):
            package = package_of(other)
            if module == "" or package in ("", own):  # the package's front door; its version; one's own room
                continue
            if LEVEL[package] >= LEVEL[own]:
                wrong.append(f"{place(path, one.line)}: {own} imports {other}, which is not below it")
    assert not wrong, "\n".join(wrong)


def test_the_front_door_opens_when_it_is_asked_to() -> None:
    """`import dragoman` is cheap: whatever it offers is imported inside a function."""
    assert not [one for one, _ in own_imports(MODULES[""]) if not one.inside and not one.typing_only]


def test_nothing_goes_round_in_a_circle() -> None:
    above: dict[str, set[str]] = {
        module: {other for one, other in own_imports(path) if other in MODULES and not one.inside and other}
        for module, path in MODULES.items()
        if module
    }
    while above:
        free = {module for module, needed in above.items() if not (needed & above.keys()) - {module}}
        assert free, f"these import each other: {', '.join(sorted(above))}"
        above = {module: needed for module, needed in above.items() if module not in free}


def test_torch_is_imported_where_the_mathematics_is() -> None:
    wrong = []
    for module, path in MODULES.items():
        package = package_of(module)
        for one in imports(path):
            if package_of(one.module) != "torch" or one.typing_only:
                continue
            allowed = needs_torch(module) or (package in TORCH_INSIDE_FUNCTIONS and one.inside)
            if not allowed:
                wrong.append(f"{place(path, one.line)}: imports torch")
            if package in TORCH and one.inside:
                wrong.append(f"{place(path, one.line)}: imports torch inside a function, where nobody looks for it")
    assert not wrong, "\n".join(wrong)


def test_what_needs_torch_is_imported_inside_functions() -> None:
    wrong = []
    for module, path in MODULES.items():
        for one, other in own_imports(path):
            if not needs_torch(other) or needs_torch(module) or one.typing_only:
                continue
            if not (package_of(module) in TORCH_INSIDE_FUNCTIONS and one.inside):
                wrong.append(f"{place(path, one.line)}: imports {other}, which needs torch")
    assert not wrong, "\n".join(wrong)


def test_everything_else_loads_where_there_is_no_torch() -> None:
    """The real thing: torch cannot be imported, and everything that should not need it is imported."""
    names = ["dragoman" + (f".{module}" if module else "") for module in MODULES if not needs_torch(module)]
    names.remove("dragoman.__main__")  # which does not only load, but runs
    program = (
        "import importlib, sys\nsys.modules['torch'] = None\nfor name in sys.argv[1:]: importlib.import_module(name)"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program, *names], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert len(names) > 50


def test_what_needs_torch_says_so_where_there_is_none() -> None:
    program = "import sys\nsys.modules['torch'] = None\nimport dragoman.nn.attention"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120)
    assert "ModuleNotFoundError" in done.stderr
    assert "torch" in done.stderr


def test_importing_the_package_is_cheap() -> None:
    program = "import sys, dragoman\nprint(*sorted({name.split('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    assert not {"torch", "numpy", "ctranslate2", "sentencepiece", "typer"} & set(done.stdout.split())


@pytest.mark.parametrize("path", FILES, ids=lambda path: module_name(path) or "dragoman")
def test_a_file_is_not_too_long_to_read(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MOST_LINES_OF_A_FILE


def test_a_function_is_not_too_long_to_read() -> None:
    wrong = []
    for path, node in definitions((ast.FunctionDef, ast.AsyncFunctionDef)):
        assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        lines = (node.end_lineno or 0) - node.lineno + 1
        if lines > MOST_LINES_OF_A_FUNCTION:
            wrong.append(f"{place(path, node.lineno)}: {node.name} has {lines} lines")
    assert not wrong, "\n".join(wrong)


def test_classes_are_at_most_two_deep() -> None:
    """A class of ours may have a subclass, and that one none."""
    bases = {
        node.name: [base.id if isinstance(base, ast.Name) else getattr(base, "attr", "") for base in node.bases]
        for _, node in definitions(ast.ClassDef)
        if isinstance(node, ast.ClassDef)
    }

    def depth(name: str) -> int:
        return 1 + max((depth(base) for base in bases[name] if base in bases and base != name), default=0)

    assert {name: depth(name) for name in bases if depth(name) > DEEPEST_CLASS} == {}


def test_nothing_that_runs_what_it_reads() -> None:
    """No pickle, not even hidden in torch.load or numpy; no eval and no exec."""
    wrong = []
    for path in FILES:
        wrong += [
            f"{place(path, one.line)}: imports {one.module}"
            for one in imports(path)
            if package_of(one.module) in ("pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve")
        ]
        for node in ast.walk(parse(path)):
            match node:
                case ast.Attribute(value=ast.Name(id="torch"), attr="load" | "save"):
                    wrong.append(f"{place(path, node.lineno)}: torch.{node.attr} is pickle")
                case ast.Call(func=ast.Name(id="eval" | "exec" | "compile" | "__import__" as name)):
                    wrong.append(f"{place(path, node.lineno)}: calls {name}")
                case ast.keyword(arg="allow_pickle", value=ast.Constant(value=True)):
                    wrong.append(f"{place(path, node.lineno)}: allows pickle")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", ["utils", "util", "helpers", "constants", "common", "misc", "manager"])
def test_a_function_lives_with_the_noun_it_serves(name: str) -> None:
    assert not [module for module in MODULES if name in module.split(".")]
