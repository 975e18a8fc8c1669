# Everything that is typed while working on Majlis. `make help` lists it.
# Nothing but Python >= 3.11, make and git is needed: the rest is installed, at locked versions, into .venv.
# Messages of the steps go to stderr; stdout belongs to the program that was asked for.

MAKEFLAGS += --no-print-directory
SHELL := /bin/sh
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
CHECKS := ruff format mypy directions generated buf-lint buf-breaking tidy
.PHONY: help demo up bench test check fmt proto released lock clean $(CHECKS:%=check-%)

VENV := .venv
BIN := $(VENV)/bin
STEP := .ci/step
CODE := proto engine services loadtest tests
# What a step of `make check` is pointed at: the roots that exist.
ROOTS := $(wildcard $(CODE))
SOURCES := $(filter-out proto,$(ROOTS))
# `make demo PYTHON=python3.12` chooses the interpreter; otherwise the newest that works is taken.
PYTHON ?=
# Handed on to the program: `make demo ARGS=--exit`, `make test ARGS="-k sounding"`.
ARGS ?=

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 16

demo: $(VENV)/.runtime ## start everything and play a tournament (ARGS=--exit ends by itself)
	@$(BIN)/majlis demo $(ARGS)

up: $(VENV)/.runtime ## run the whole platform on this machine until Ctrl-C
	@$(BIN)/majlis up $(ARGS)

bench: $(VENV)/.runtime ## measure (ARGS="journal --json")
	@$(BIN)/majlis bench $(ARGS)

test: check ## make check, then all tests (ARGS goes to pytest)
	@$(BIN)/pytest $(ARGS)

check: $(CHECKS:%=check-%) ## everything that can be said without running the product (-k: go on after a failure)

check-ruff: $(VENV)/.dev
	@$(STEP) "ruff" $(BIN)/ruff check $(ROOTS)
check-format: $(VENV)/.dev
	@$(STEP) "ruff format" $(BIN)/ruff format --check $(ROOTS)
check-mypy: $(VENV)/.dev
	@$(STEP) "mypy" $(BIN)/mypy $(SOURCES)
check-directions: $(VENV)/.dev
	@$(STEP) "import directions" $(BIN)/lint-imports
check-generated: $(VENV)/.dev
	@$(STEP) "generated code is current" $(BIN)/python proto/generate.py --check
check-buf-lint: $(VENV)/.dev
	@$(STEP) "buf lint" $(BIN)/buf lint proto
check-buf-breaking: $(VENV)/.dev
	@$(STEP) "buf breaking" $(BIN)/buf breaking proto --against proto/released.binpb
check-tidy: $(VENV)/.dev
	@$(STEP) "tidy" $(BIN)/pytest -q tests/test_tidy.py

fmt: $(VENV)/.dev ## format and sort imports
	@$(STEP) "ruff fix" $(BIN)/ruff check --fix-only --quiet $(ROOTS)
	@$(STEP) "ruff format" $(BIN)/ruff format $(ROOTS)

proto: $(VENV)/.dev ## write the code generated from proto/
	@$(STEP) "generate" $(BIN)/python proto/generate.py

released: $(VENV)/.dev ## with each release: the vocabulary that later changes are compared with
	@$(STEP) "proto/released.binpb" $(BIN)/buf build proto -o proto/released.binpb

# Universal locks: one file serves every Python from 3.11 on and every platform. Names, versions and hashes only.
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock"
lock: $(VENV)/.tools ## write requirements/*.txt anew (ARGS=--upgrade, ARGS="--upgrade-package NAME")
	@$(STEP) "lock dev" $(COMPILE) $(ARGS) pyproject.toml --extra postgres --group dev -o requirements/dev.txt
	@$(STEP) "lock runtime" $(COMPILE) $(ARGS) pyproject.toml -c requirements/dev.txt -o requirements/runtime.txt
	@$(STEP) "lock tools" $(COMPILE) $(ARGS) -c requirements/dev.txt --group tools -o requirements/tools.txt

clean: ## remove .venv, caches and build results (data directories stay)
	@rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find $(ROOTS) -name __pycache__ -type d -prune -exec rm -rf {} +

# --- the environment ---------------------------------------------------------------------------------------------

INSTALL := .ci/install

$(VENV)/.tools: requirements/tools.txt .ci/install
	@$(INSTALL) venv "$(PYTHON)"
	@touch $@

$(VENV)/.runtime: requirements/runtime.txt pyproject.toml $(VENV)/.tools
	@$(INSTALL) packages runtime
	@touch $@

$(VENV)/.dev: requirements/dev.txt requirements/runtime.txt pyproject.toml $(VENV)/.tools
	@$(INSTALL) packages dev
	@touch $(VENV)/.runtime $@
