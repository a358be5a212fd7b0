# make run      sets itself up and runs the main job
# make test     sets itself up; lint, format, types, tests
# make faults   tries at random to break what docs/how-it-works/trust.md promises; some minutes
# make lowest   the tests with the oldest versions that pyproject.toml allows, in an environment of their own
# make docs     the site, in out/site
# make package  wheel and sdist in dist/, checked as PyPI does
# make review   Scientific Python's checks of a repository
# Needs python3 (>= 3.11) with venv, and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2

EXTRAS := plots,lasso,global,dask,ray
LOWEST := .venv-lowest

.PHONY: run test faults lint types format docs lowest package review clean

run: $(VENV)/ready
	$(BIN)/python examples/quickstart.py

test: lint types
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n $(JOBS)

faults: $(VENV)/ready
	$(BIN)/python -m faults $(KINDS)

lint: $(VENV)/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/ready
	$(BIN)/mypy

format: $(VENV)/ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# That newer companions call an old library outdated, or that it leaves files open, is no fault of ours. What
# builds the package comes with versions of its own.
lowest: $(LOWEST)/ready
	$(LOWEST)/bin/python -m pytest -n $(JOBS) --ignore tests/test_package.py -W default::DeprecationWarning -W default::ResourceWarning \
		-W default::pytest.PytestUnraisableExceptionWarning

docs: $(VENV)/ready
	$(BIN)/python -m sphinx -b html -W --keep-going -q -d out/site-trees docs out/site
	@echo "out/site/index.html"

package: $(VENV)/ready
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*

review: $(VENV)/ready
	$(BIN)/sp-repo-review .

# Groups of dependencies came to pip with 25.1.
$(VENV)/ready: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable '.[$(EXTRAS)]' --group dev
	touch $@

$(LOWEST)/ready: pyproject.toml tools/lowest.py
	$(PYTHON) -m venv --clear $(LOWEST)
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(LOWEST)/bin/python tools/lowest.py pyproject.toml $(EXTRAS) > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --quiet --editable '.[$(EXTRAS)]' --group test \
		--constraint $(LOWEST)/constraints.txt
	touch $@

clean:
	rm -rf $(VENV) $(LOWEST) .mypy_cache .pytest_cache .ruff_cache .hypothesis dist out
