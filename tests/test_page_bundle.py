"""Modules put into one script, so that the page opens from a disk."""

import pytest

from dragoman.server.bundle import bundle

MODULES = {
    "main.js": 'import { twice } from "./draw/twice.js";\nimport {\n  one,\n} from "./one.js";\nconst two = twice();\n',
    "draw/twice.js": 'import { one } from "../one.js";\nexport function twice(x) {\n  return x + one;\n}\n',
    "one.js": "export const one = 1;\nconst name = 2;\n",
    "unused.js": "export const three = 3;\n",
}


def test_a_module_comes_after_what_it_needs_and_once() -> None:
    script = bundle(MODULES, "main.js")
    assert script.count("const one = 1;") == 1
    assert script.index("const one = 1;") < script.index("function twice(x)") < script.index("const two = twice();")
    assert "three" not in script
    assert "import" not in script
    assert "export" not in script


@pytest.mark.parametrize(
    "line", ['import * as one from "./one.js";', "export default 1;", 'export { a } from "./one.js";']
)
def test_what_cannot_be_put_into_one_file_is_said(line: str) -> None:
    with pytest.raises(ValueError, match=r"main\.js imports or exports in a way that cannot be put into one file"):
        bundle({"main.js": f"{line}\n", "one.js": ""}, "main.js")
