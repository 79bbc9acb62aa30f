# `make demo` and `make test` set everything up by themselves: they need python3 (3.11 or newer), pip and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SHELL := /bin/bash

.PHONY: setup demo page check browser test slow bench docs clean

setup: $(VENV)/.ready

# The editable install is refreshed when a dependency changes, and only then.
$(VENV)/.ready: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("dragoman needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "installing into $(VENV) …"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[train,papers,dev]'
	@touch $@

demo: setup
	@$(BIN)/dragoman demo

page: setup
	@test -e demo-model/card.json || $(BIN)/dragoman demo
	@$(BIN)/dragoman serve -m demo-model

check: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# The page is tested in a real browser, from the system's packages where they may be installed.
browser:
	@command -v chromium chromium-browser google-chrome >/dev/null \
	  || { echo "installing chromium …" && apt-get install -y -q chromium >/dev/null 2>&1; } \
	  || echo "there is no browser and none may be installed: the tests of the page in a browser are skipped"

test: check browser
	$(BIN)/python -m pytest

slow: setup
	$(BIN)/python -m pytest -m slow

# All figures but those that need many trainings: two hours. `make bench QUICK=1` takes ten minutes once the other toolkits
# are installed.
bench: setup
	$(BIN)/python -m benchmarks $(if $(QUICK),--quick)

docs: setup
	$(BIN)/dragoman recipe --docs > docs/recipes.md

clean:
	rm -rf $(VENV) build dist demo-model
