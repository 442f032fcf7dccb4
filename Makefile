# From a bare checkout: every target that needs .venv makes it. `make demo PYTHON=python3.12` names another Python.

PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts/python.exe,bin/python)
DEMO_INSTALLED := $(VENV)/installed-demo
INSTALLED := $(VENV)/installed
# Where it can be imported, every start of spaCy imports transformers: a dozen commands of the demo and a
# hundred tests would take seconds longer each.
APART := $(VENV)/apart
DOCS_INSTALLED := $(VENV)/installed-docs
# Only the files whose hashes are listed, and nothing that is not listed. Python compiles what is imported,
# and must keep it: compiling all files would take 25 of 62 seconds.
unexport PYTHONDONTWRITEBYTECODE
INSTALL := $(RUN) -m pip install --no-deps --no-build-isolation --no-compile
PINNED := $(INSTALL) --require-hashes --requirement
# The registry's torch for Linux is incomplete without the libraries of CUDA; a CPU build is not.
COMPLETE := $(RUN) -m pip check >$(VENV)/check.txt || $(PINNED) requirements/cuda.txt

# Annoy comes as source: compile it for any machine, as its own default is for this one only.
# (Not on Windows: its compiler takes other options, and annoy's own suit any machine there.)
ifneq ($(OS),Windows_NT)
export ANNOY_COMPILER_ARGS ?= -O3,-ffast-math,-fno-associative-math
endif

.PHONY: demo installed models test faults lint docs pages clean

demo: $(DEMO_INSTALLED)
	HF_HUB_OFFLINE=1 $(RUN) -m spacy project run demo
	@echo "Read and correct on a page: $(dir $(RUN))connorm serve en_connorm_demo (with the extra [serve])"

# The pipelines of assets/models.toml, from the folder DATA.
DATA ?= ../shared/data
installed: $(INSTALLED)

models: $(INSTALLED)
	$(RUN) -m spacy project run models . --vars.models_data $(DATA)

# One worker a core, so each needs one thread only.
test faults: export OMP_NUM_THREADS := 1
test: $(INSTALLED)
	$(RUN) -m pytest -n auto --dist worksteal
	PYTHONPATH="$(CURDIR)/$(APART)" $(RUN) -m pytest -m apart $$(grep -rl --include=test_*.py mark.apart tests)

faults: $(INSTALLED)
	$(RUN) -m pytest tests/faults tests/workflows --faults-long -n auto --dist worksteal

lint: $(INSTALLED)
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy spacy_connorm
	rm -rf $(VENV)/dist
	$(RUN) -m build --no-isolation --outdir $(VENV)/dist . >$(VENV)/build.txt
	$(RUN) -m twine check --strict $(VENV)/dist/*

# Warnings are errors, and nothing is fetched.
docs: $(DOCS_INSTALLED)
	$(RUN) -m sphinx -q -W --keep-going docs docs/_build/html

# The tables of docs/benchmarks, from the JSON of its data folder.
pages: $(INSTALLED)
	$(RUN) docs/benchmarks/make_pages.py

clean:
	rm -rf $(VENV) build dist *.egg-info corpus training metrics packages annotations project.lock docs/_build

$(DEMO_INSTALLED): setup.cfg setup.py requirements/build.txt requirements/demo.txt
	test -x $(RUN) || $(PYTHON) -m venv $(VENV)
	$(PINNED) requirements/build.txt
	$(PINNED) requirements/demo.txt
	$(COMPLETE)
	$(INSTALL) --editable .
	$(RUN) -m pip check
	touch $@

$(INSTALLED): $(DEMO_INSTALLED) requirements/development.txt requirements/apart.txt
	$(PINNED) requirements/development.txt
	$(COMPLETE)
	$(PINNED) requirements/apart.txt --target $(APART)
	touch $@

$(DOCS_INSTALLED): $(INSTALLED)
	$(PINNED) requirements/docs.txt
	touch $@
