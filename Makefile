# Every target sets up what it needs. Another Python gets an environment of its own:
#   make test PYTHON=python3.13
PYTHON ?= python3
VENV   ?= .venv$(if $(filter-out python3,$(notdir $(PYTHON))),-$(notdir $(PYTHON)))
RUN    := $(VENV)/bin
FRAMEWORKS := .venv-frameworks
READY  := $(VENV)/.ready
RUNS   := $(VENV)/.runs
INSTALL = PYTHONWARNINGS=ignore $(RUN)/python -m pip install --quiet --disable-pip-version-check
# Notebooks are run on one Python alone: their packages are many.
EXTRAS := test$(if $(filter .venv,$(VENV)),$(shell echo ,)notebook)
# Both cores; a file goes to one of them whole, so what its tests share is made once.
SPREAD := -n 2 --dist loadfile --no-loadscope-reorder
PYTEST_ARGS ?= $(SPREAD)

.DEFAULT_GOAL := help
.PHONY: help setup demo demo-cnn quick test test-long test-extras lint check bench docs site release picture picture-vscode vsix clean

help:
	@echo "make demo     the digits classifier on the emulated device"
	@echo "make demo-cnn the same by a convolutional network"
	@echo "make test     all tests (PYTEST_ARGS=... to choose)"
	@echo "make quick    ruff, import-linter and the tests that find most: under a minute"
	@echo "make lint     ruff, mypy --strict, import-linter"
	@echo "make check    what CI does: lint and test"
	@echo "make bench    speed beside peers, and docs/benchmarks.md from it (BENCH=... to choose)"
	@echo "make docs     docs/isa, docs/seeds, docs/findings.md and editors from the tables"
	@echo "make site     build/site/html: all of docs as a site with a search"
	@echo "make test-long  the tests that CI leaves out, and more examples of all (hours)"
	@echo "make release  build/release: sdist and wheel, checked, and tried on each Python"
	@echo "make vsix     build/macaw.vsix, the extension of VS Code (needs npm)"
	@echo "make test-extras  VS Code and its extension (needs npm); PyTorch and TensorFlow (gigabytes)"
	@echo "make picture  the pictures, docs/profile.md, docs/debugging-story.md and docs/notebook.ipynb, from real runs (needs chromium)"
	@echo "make picture-vscode  the pictures of docs/vscode.md, from a real VS Code (needs npm, chromium)"
	@echo "PYTHON=python3.13 chooses another Python"

setup: $(READY)

# src/macaw has links to the rooms. A checkout that lost them (some archives do) gets them anew.
LINKS = for room in isa asm emu debugger; do \
	test -d src/macaw/$$room || { rm -f src/macaw/$$room; ln -s ../../$$room src/macaw/$$room; }; done

# What the tests need comes with what Macaw needs, so pip builds the package once.
ENVIRONMENT = $(LINKS); test -x $(RUN)/python || $(PYTHON) -m venv $(VENV)

$(RUNS): pyproject.toml setup.py
	@$(ENVIRONMENT)
	@echo "installing what Macaw needs into $(VENV)"
	@$(INSTALL) -e .
	@touch $@

$(READY): pyproject.toml setup.py
	@$(ENVIRONMENT)
	@echo "installing what Macaw and its tests need into $(VENV)"
	@$(INSTALL) -e '.[$(EXTRAS)]'
	@touch $(RUNS) $@

demo: $(RUNS)
	@$(RUN)/python programs/digits_mlp/demo.py

demo-cnn: $(RUNS)
	@$(RUN)/python programs/digits_cnn/demo.py

# tests/quick.txt is chosen by `python -m tests.quick`, which counted with as many examples.
quick: $(READY)
	@$(RUN)/ruff check .
	@$(RUN)/ruff format --check .
	@$(RUN)/lint-imports --no-logo --no-cache
	@MACAW_FUZZ=50 $(RUN)/python -m pytest $(PYTEST_ARGS) -q @tests/quick.txt

test: $(READY)
	@$(RUN)/python -m pytest $(PYTEST_ARGS)

test-long: $(READY)
	@$(RUN)/python -m pytest $(PYTEST_ARGS) --long

# npm's output is shown only if it fails.
vsix:
	@rm -rf build/vsix && mkdir -p build && cp -r editors/vscode build/vsix && cp LICENSE build/vsix
	@cd build/vsix && npm ci --silent --no-audit --no-fund
	@cd build/vsix && npm run --silent bundle -- --log-level=warning
	@cd build/vsix && npm run --silent package -- --out ../macaw.vsix >vsce.log || { cat vsce.log; exit 1; }
	@echo "wrote build/macaw.vsix"

test-extras: $(READY) vsix
	@npm install --silent --no-save --prefix build/vscode vscode-textmate@9 vscode-oniguruma@2
	@$(RUN)/python -m tests.editors build/vscode
	@$(RUN)/python -m tests.editors.vsix build/macaw.vsix build/code-server
	@$(RUN)/python -m tests.editors.debugging build/macaw.vsix build/code-server
	@$(RUN)/python -m pytest -q -rs tests/debugger/test_dap_testsupport.py tests/editors/test_vscode.py
	@test -x $(FRAMEWORKS)/bin/python || $(PYTHON) -m venv $(FRAMEWORKS)
	@$(FRAMEWORKS)/bin/python -m pip install --quiet --disable-pip-version-check -e '.[concord,frameworks]'
	@$(FRAMEWORKS)/bin/python -m pip install --quiet --disable-pip-version-check scikit-learn
	@$(FRAMEWORKS)/bin/python -m tests.lowering.concord
	@$(FRAMEWORKS)/bin/python -m tests.lowering.concord.gradients
	@$(FRAMEWORKS)/bin/python -W ignore -m tests.lowering.nnp.pytorch

lint: $(READY)
	@$(RUN)/ruff check .
	@$(RUN)/ruff format --check .
	@MYPY_NUM_WORKERS=2 $(RUN)/mypy
	@$(RUN)/lint-imports --no-logo

check: lint test

docs: $(READY)
	@$(RUN)/python docs/build.py
	@$(RUN)/python -m tests.seeds --write
	@$(RUN)/python -m tests.findings --write

# A warning is an error: a link or an anchor that is not there, a page that no part of the site has.
site: $(READY)
	@$(INSTALL) -e '.[site]'
	@$(RUN)/python -m docs.site.stage build/site/source
	@$(RUN)/python -m sphinx -W --keep-going -q -c docs/site build/site/source build/site/html
	@echo "wrote build/site/html/index.html"

# Two builds must be equal; the wheel runs in a fresh environment of each Python that is here.
release: $(READY)
	@$(INSTALL) build twine
	@$(RUN)/python -m tests.release build/release

bench: $(READY)
	@$(INSTALL) -e '.[bench]'
	@$(RUN)/python -m benchmarks $(BENCH)

picture: $(READY)
	@$(RUN)/python docs/picture.py
	@$(RUN)/python docs/shown.py
	@$(RUN)/python docs/notebook.py

picture-vscode: $(READY) vsix
	@$(RUN)/python -m tests.editors.debugging build/macaw.vsix build/code-server docs/vscode

clean:
	rm -rf .venv* build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
