# make run   sets itself up and runs the main job
# make test  sets itself up; lint, format, types, tests
# Needs python3 (>= 3.10) with venv, and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2

.PHONY: run test lint types format clean

run: $(VENV)/ready
	$(BIN)/python examples/quickstart.py

test: lint types
	$(BIN)/python -m pytest -n $(JOBS)

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/ready
	$(BIN)/mypy

format: $(VENV)/ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(VENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis out
