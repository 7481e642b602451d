# `make` lists the targets. Everything runs from .venv, which the first target that needs it makes; nothing is
# installed outside this folder.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules --no-print-directory

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check install -c constraints.txt
DEMO := tests/data/k8s/partial_gang
# The interpreter to build on; found by itself if it is not given (make test PYTHON=/opt/python3.12/bin/python3).
PYTHON ?= $(firstword $(shell for each in python3 python3.14 python3.13 python3.12 python3.11; do \
  "$$each" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && command -v "$$each"; done))
WORKERS ?= 2

.PHONY: help
help:  ## list the targets (this is the default)
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: demo
demo: $(VENV)/.runtime  ## replay a real recording of a stuck cluster: what is found, and what to stop
	@$(BIN)/knotwatch replay --fail-on none $(DEMO)

.PHONY: demo-exporter
demo-exporter: $(VENV)/.runtime  ## serve the metrics of a simulated node with eight GPUs, until Ctrl-C
	@$(BIN)/python -m tests.exporters.demo

.PHONY: test
test: $(VENV)/.development  ## run all tests; those whose real parts are missing are skipped by name
	@$(BIN)/python -m tests.parts
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup

.PHONY: control-plane
control-plane: $(VENV)/.development  ## build a real Kubernetes control plane for the tests (Go; 12 minutes, once)
	@$(BIN)/python -m tests.control_plane.build

.PHONY: check
check: export KNOTWATCH_REQUIRE ?= control-plane
check: lint control-plane test  ## all that CI asks: format, lint, layers, types, documents in step, and the tests

.PHONY: lint format-check ruff layers types
lint: format-check ruff layers types  ## the quick half of check, without the tests
format-check: $(VENV)/.development
	$(BIN)/ruff format --check
ruff: $(VENV)/.development
	$(BIN)/ruff check
layers: $(VENV)/.development
	$(BIN)/lint-imports --no-cache
types: $(VENV)/.development
	$(BIN)/mypy

.PHONY: format
format: $(VENV)/.development  ## bring the sources into the one format
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

.PHONY: docs
docs: $(VENV)/.development  ## write the generated documents anew: rules, commands, report schema, quotes in README.md
	$(BIN)/python -m docs.build

.PHONY: scenarios
scenarios: $(VENV)/.development  ## run the scenarios; UPDATE=1 rewrites what they expect (then read the difference)
	$(if $(UPDATE),KNOTWATCH_UPDATE=1) $(BIN)/python -m pytest tests/scenarios

.PHONY: fuzz
fuzz: $(VENV)/.development  ## damage 100,000 files at random and read them; SEED=2 begins elsewhere, CASES=1000 is shorter
	KNOTWATCH_FUZZ=$(or $(CASES),100000) KNOTWATCH_FUZZ_SEED=$(or $(SEED),1) $(BIN)/python -m pytest tests/replay/test_fuzz.py

.PHONY: bench
bench: $(VENV)/.development  ## measure speed (as ratios) and memory; prints the table of benchmarks/README.md
	$(BIN)/python -m benchmarks

.PHONY: clean
clean:  ## remove the environment and every cache
	rm -rf $(VENV) build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps: setting up happens once, and again only when what it is made from changes.
$(VENV)/.made:
	@if [ -z "$(PYTHON)" ]; then \
	  echo "knotwatch needs Python 3.11 or later, and none is on PATH: install it, or say make PYTHON=/path/to/python3" >&2; exit 1; fi
	@echo "making $(VENV) with $$("$(PYTHON)" --version) ..."
	@"$(PYTHON)" -m venv --clear $(VENV) || { rm -rf $(VENV); \
	  echo "$(PYTHON) cannot make virtual environments; on Debian that is the package python3-venv" >&2; exit 1; }
	@touch $@

$(VENV)/.runtime: $(VENV)/.made pyproject.toml constraints.txt
	@echo "installing knotwatch into $(VENV) ..."
	@$(PIP) --editable .
	@touch $@

$(VENV)/.development: $(VENV)/.runtime
	@echo "installing the development tools into $(VENV) ..."
	@$(PIP) --editable '.[dev,kubelet]'
	@touch $@
