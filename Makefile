# Two commands: `make demo` shows the main job, `make test` runs the tests. Both set up what they need in .venvs/.
#   PYTHON=python3.12        which interpreter (3.11 or newer)
#   TORCH=torch==2.15.0      which torch; TORCH=installed uses the one that interpreter already has
#   PY=python3 READY=        an environment of your own as it is: nothing is installed
PYTHON ?= python3
TORCH ?= torch==2.13.0

SHELL := /bin/bash
TAG := $(shell $(PYTHON) -c 'import sys; print("py%d.%d" % sys.version_info[:2])' 2>/dev/null)-$(subst ==,-,$(TORCH))
VENV := .venvs/$(TAG)
PY := $(VENV)/bin/python
READY := $(VENV)/.ready
# A virtual environment does not see the packages of one that its interpreter is itself in.
SITE := 'import sysconfig; print(sysconfig.get_path("purelib"))'
INSTALLED_THERE := 'import sysconfig; [print(each) for each in {sysconfig.get_path(of) for of in ("purelib", "platlib")}]'
# The first that runs: pyenv's shims are there for versions that are not switched on.
find_python = $(shell for each in python$(1) $${PYENV_ROOT:-$$HOME/.pyenv}/versions/$(1).*/bin/python; do \
  "$$each" -c "" 2>/dev/null && { echo "$$each"; exit; }; done; echo python$(1))
TESTS ?= tests/agent tests/dap tests/facts tests/lsp tests/terminal tests/unit
# two for each of two processors: while a test waits for its program, or a program for its debugger, another runs
WORKERS ?= 4
# with bytecode: without it each run compiles all tests anew
PYTEST = env -u PYTHONDONTWRITEBYTECODE PYTHONFAULTHANDLER=1 $(PY) -m pytest -n $(WORKERS) --dist worksteal

.PHONY: architecture report-schema console extension-settings capabilities dap-structs wrapped-names demo test setup-e2e test-e2e test-environments setup-second test-second test-cuda test-cuda-stand-in test-second-cuda matrix bench lint vsix release-check setup docs clean help

help: ## this list
	@grep -hE '^[a-z0-9-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

setup: $(READY) ## the virtual environment the other targets use

$(READY): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || \
	  { echo "Dynascope needs Python 3.11 or newer; $(PYTHON) is not. Name another: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(if $(filter installed,$(TORCH)),--system-site-packages) $(VENV)
	$(if $(filter installed,$(TORCH)),@$(PYTHON) -c $(INSTALLED_THERE) >$$($(PY) -c $(SITE))/torch-of-python.pth)
	$(PY) -m pip install -q --upgrade 'pip >= 25.1'
	$(if $(filter installed,$(TORCH)),,$(PY) -m pip install -q '$(TORCH)')
	$(PY) -m pip install -q -e . --group test --group lint
	$(PY) -m compileall -q adapter lsp # as pip does for a wheel: not every environment lets Python write bytecode
	@touch $@

demo: $(READY) ## a compiled model, stopped while Dynamo traces it
	@$(PY) demo/run.py

# Markers say where a test is run: `matrix` there alone (with `main_leg` on its first leg), `second_leg` on the second leg,
# too, `second_leg_only` there and in the matrix; the others in `make test`.
QUICK := not cuda and not matrix
MARKED ?= $(QUICK) and not second_leg_only

test: $(READY) ## the tests that are run all day: they need neither root nor a browser
	$(PYTEST) -m '$(MARKED)' $(TESTS)
	@echo
	@echo "Left out: the long tables and models (make test MARKED='not cuda', and make matrix on every torch version),"
	@echo "          VS Code in a browser, Neovim and Emacs (make test-e2e: installs them and Chromium, needs root for apt),"
	@echo "          tests on a GPU (make test-cuda, or make test-cuda-stand-in)."

TESTS_OF_TORCH := tests/agent tests/dap
SECOND := PYTHON=$(call find_python,3.12) TORCH=torch==2.15.0

setup-second: ## the virtual environment of the second leg
	$(MAKE) setup $(SECOND)

test-second: ## those that depend on Python and torch, on the second leg: Python 3.12, torch 2.15
	$(MAKE) test MARKED='(second_leg or second_leg_only) and $(QUICK)' TESTS="$(TESTS_OF_TORCH)" $(SECOND)

setup-e2e: ## VS Code's workbench, Chromium, Neovim and Emacs
	tests/e2e/install-workbench.sh
	command -v nvim >/dev/null && command -v emacs >/dev/null || { apt-get update -qq && \
	  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends neovim emacs-nox elpa-eglot >/dev/null; }

test-e2e: $(READY) setup-e2e ## real editors: VS Code's workbench in a browser, Neovim and Emacs
	DYNASCOPE_NEWER_PYTHON=$(lastword $(wildcard $(CURDIR)/.venvs/py3.1[23]-*/bin/python)) tests/e2e/run.sh $(abspath $(PY))
	$(PY) -m pytest tests/editors

test-environments: $(READY) setup-e2e ## a newcomer in each state of the environment, in the workbench: clicks and typing to a first stop
	cd vscode-extension && npm install --no-save --no-audit --no-fund --loglevel=error && npm run --silent package
	cd tests/e2e && DYNASCOPE_PYTHON=$(abspath $(PY)) CHROMIUM=$${CHROMIUM:-$$(command -v chromium)} node --test --test-reporter=spec environments.mjs

# -v: a run that is cut off tells which tests had passed
test-cuda: $(READY) ## the tests that need a GPU; ends with a table of what they gave
	$(PYTEST) -v -m cuda $(TESTS)

# The stand-in needs a torch that is built for CUDA, g++ and CUDA's headers, of which torch brings most.
test-cuda-stand-in: $(READY) ## the tests that need a GPU, on a stand-in for one: CUDA's operators done by the CPU
	$(PY) -m pip install -q nvidia-cuda-crt
	$(PY) -m tests.support.cuda_stand_in env PYTHONFAULTHANDLER=1 $(PY) -m pytest -n $(WORKERS) --dist worksteal -m cuda $(TESTS)

test-second-cuda: ## backwards and stops with CUDA inputs on the second leg, on the stand-in
	$(MAKE) test-cuda-stand-in TESTS="tests/agent/backward/test_gpu.py tests/agent/test_gpu_looks.py \
	  tests/agent/test_skipped_cuda_graphs.py" $(SECOND)

ALL := MARKED='not cuda'
OTHER_LEGS := MARKED='not cuda and not main_leg'

# The legs after the first take turns at the cases of long tables (tests/support/legs.py): PYTEST_ADDOPTS=--every-case has all.
matrix: ## all tests on torch 2.13; then, of long tables a case in turn, Python 3.13, and agent and adapter on every other torch
	$(MAKE) test $(ALL) TORCH=torch==2.13.0
	for version in 2.11.0 2.12.0 2.14.0 2.15.0; do \
	  $(MAKE) test $(OTHER_LEGS) TESTS="$(TESTS_OF_TORCH)" PYTHON=$(call find_python,3.12) TORCH=torch==$$version && \
	  $(MAKE) test-cuda-stand-in TESTS="$(TESTS_OF_TORCH)" PYTHON=$(call find_python,3.12) TORCH=torch==$$version || exit 1; done
	$(MAKE) test $(OTHER_LEGS) PYTHON=$(call find_python,3.13) TORCH=torch==2.15.0

capabilities: $(READY) ## write the tables of capabilities into docs/capabilities.md
	$(PY) -m tests.support.dap.capability_table

architecture: $(READY) ## draw the pictures of docs/architecture.md from the code
	$(PY) -m tests.support.house

wrapped-names: $(READY) ## write docs/wrapped-names.md from the declarations in the code
	$(PY) -m tests.support.wrapped_names

console: $(READY) ## write docs/console.md from the list of the debug console's commands
	$(PY) -m tests.support.console_page

report-schema: $(READY) ## write the JSON schema of `dynascope report --json`
	$(PY) -m tests.support.report_schema

extension-settings: $(READY) ## write VS Code's settings for kinds of problems and exception filters from their table
	$(PY) -m tests.support.extension_settings

dap-structs: $(READY) ## write the structs of DAP's types from the protocol's JSON schema
	$(PY) -m tests.support.dap.structs

docs: ## the pages of docs/ as a site in dist/docs; fails for a link that leads nowhere
	test -x .venvs/docs/bin/mkdocs || { $(PYTHON) -m venv .venvs/docs && .venvs/docs/bin/python -m pip install -q --upgrade 'pip >= 25.1'; }
	.venvs/docs/bin/python -m pip install -q --group docs
	NO_MKDOCS_2_WARNING=1 .venvs/docs/bin/mkdocs build --quiet --strict

bench: $(READY) ## compile time with the debugger attached, and how fast a stop is, as ratios
	$(PY) -m tests.bench

lint: $(READY) ## ruff and mypy --strict
	$(VENV)/bin/ruff check . && $(VENV)/bin/ruff format --check . && $(VENV)/bin/mypy && $(VENV)/bin/mypy tests/typing/*.py

vsix: ## the packaged extension
	cd vscode-extension && npm install --no-save --no-audit --no-fund --loglevel=error && npm run package

# The wheel is built from the source distribution. Wheel and extension are used where there is nothing else but torch.
release-check: setup-e2e ## build wheel, sdist and extension; install them into an empty environment and workbench; run the sample
	rm -rf dist .venvs/release .venvs/empty && $(PYTHON) -m venv .venvs/release && $(PYTHON) -m venv .venvs/empty
	.venvs/release/bin/python -m pip install -q --upgrade 'pip >= 25.1' && .venvs/release/bin/python -m pip install -q --group release
	.venvs/release/bin/python -m build --outdir dist .
	.venvs/release/bin/python -m twine check --strict dist/*
	$(MAKE) vsix && cp vscode-extension/dynascope.vsix dist/
	.venvs/release/bin/python -m tests.support.release dist .venvs/empty '$(if $(filter installed,$(TORCH)),torch,$(TORCH))'
	.venvs/release/bin/cyclonedx-py environment --output-reproducible --of JSON -o dist/dynascope.cdx.json .venvs/empty
	DYNASCOPE_VSIX=$(CURDIR)/dist/dynascope.vsix tests/e2e/run.sh $(CURDIR)/.venvs/empty/bin/python '^(the package has|from an empty folder)'

clean: ## remove every environment and build product
	rm -rf .venvs dist vscode-extension/{dist,node_modules,*.vsix} tests/e2e/{node_modules,artefacts}
