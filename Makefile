# From a bare checkout: every target that needs .venv makes it. `make demo PYTHON=python3.12` names another Python.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts/python.exe,bin/python)
INSTALLED := $(VENV)/installed
DOCS_INSTALLED := $(VENV)/installed-docs

# Annoy comes as source: compile it for any machine, as its own default is for this one only.
# (Not on Windows: its compiler takes other options, and annoy's own suit any machine there.)
ifneq ($(OS),Windows_NT)
export ANNOY_COMPILER_ARGS ?= -O3,-ffast-math,-fno-associative-math
endif

.PHONY: demo test faults lint docs clean

demo: $(INSTALLED)
	HF_HUB_OFFLINE=1 $(RUN) -m spacy project run demo

# One worker a core, so each needs one thread only.
test: export OMP_NUM_THREADS := 1
test: $(INSTALLED)
	$(RUN) -m pytest -n auto --dist worksteal

faults: $(INSTALLED)
	$(RUN) -m pytest tests/faults --faults-long

lint: $(INSTALLED)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy spacy_connorm

# Warnings are errors, and nothing is fetched.
docs: $(DOCS_INSTALLED)
	$(RUN) -m sphinx -q -W --keep-going docs docs/_build/html

clean:
	rm -rf $(VENV) build dist *.egg-info corpus training metrics packages annotations project.lock docs/_build

$(INSTALLED): setup.cfg setup.py constraints.txt
	test -x $(RUN) || $(PYTHON) -m venv $(VENV)
	@echo "Installing into $(VENV), about a minute"
	$(RUN) -m pip install -qq --constraint constraints.txt --editable '.[test,lint]'
	touch $@

$(DOCS_INSTALLED): $(INSTALLED)
	$(RUN) -m pip install -qq --constraint constraints.txt --editable '.[docs]'
	touch $@
