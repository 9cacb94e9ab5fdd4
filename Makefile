# The two commands of the README are `make demo` and `make test`; both set up what they need (scripts/setup.sh).

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
MAKEFLAGS += --no-print-directory

# The Rust that is new enough comes first. What a recipe sets up is found by the makes that it calls, or by sourcing this.
export PATH := $(shell scripts/rust.sh path)
toolchain := $(shell scripts/rust.sh toolchain)
ifneq ($(toolchain),)
export RUSTUP_TOOLCHAIN := $(toolchain)
endif

assay := target/release/assay
# What is proved by scripts.
scripted := scripts/page/test.sh $(addprefix casebook/,$(addsuffix /test.sh,allocator transport varint dispatch lookup hashing sorting utf8)) \
	fixtures/verdicts/peers/tests.py scripts/test_setup.sh scripts/test_limited.sh scripts/test_packages.sh scripts/test_book.sh scripts/test_tutorial.py scripts/test_recipes.py scripts/test_profiles.py
# Where `make install` puts the program: below $(DESTDIR)$(PREFIX).
PREFIX ?= /usr/local
# Not every shell expands the ~ of PREFIX=~/.local.
override PREFIX := $(patsubst ~/%,$(HOME)/%,$(PREFIX))
DESTDIR ?=
# What `assay --version` says of its origin.
export ASSAY_COMMIT := $(shell git describe --always --dirty --exclude '*' 2> /dev/null)

.DEFAULT_GOAL := help
.PHONY: help install packages book build demo dispatch test format lint bench calibrate calibrate-peers sizes clean $(scripted)

help: ## what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# What is set up comes first, also under `make -j`: so the steps are lines of a recipe, not prerequisites.
demo: ## set up, build, ask one question of two varint decoders (a minute)
	@scripts/setup.sh demo
	@$(MAKE) build
	$(assay) run casebook/varint/demo.toml

dispatch: ## ... or dispatch in C++, over two versions of gcc and of clang (10 minutes)
	@scripts/setup.sh dispatch
	@$(MAKE) build
	$(assay) run casebook/dispatch/experiment.toml

# Clippy's compiler is rustc with lints: what it compiles is what is tested, so the house is compiled once.
test: ## set up, check format and lints, pass all tests
	@scripts/setup.sh test
	@$(MAKE) format
	@. scripts/rust.sh; linted=(); \
	if [ "$$(clippy-driver --rustc --version 2> /dev/null)" = "$$(rustc --version)" ]; then \
		linted=(--config 'build.rustc-workspace-wrapper="clippy-driver"'); \
	else $(MAKE) lint; fi; \
	set -x; CLIPPY_ARGS=-Dwarnings scripts/limited.py 3600 scripts/time_tests.py cargo "$${linted[@]}" test --workspace --locked --no-fail-fast
	$(MAKE) -k -j$$(nproc) -Otarget $(scripted)

# None of these relates measured times: they may run side by side. The longest first. None takes over four minutes on a quiet
# machine: one that hangs says what it waits for.
$(scripted):
	@started=$$SECONDS; echo "== $@"; MAKEFLAGS= scripts/limited.py 1200 $(if $(filter %.py,$@),python3 )$@; echo "== $@: $$((SECONDS - started)) s"

build: ## build the lab: target/release/assay, one file with all it needs
	cargo build --release -p assay --locked

install: ## ... and install it below PREFIX (/usr/local), with manual pages and completions; sets up Rust
	@scripts/stage.sh --check "$(DESTDIR)$(PREFIX)"
	@scripts/setup.sh build
	@$(MAKE) build
	scripts/stage.sh $(assay) "$(DESTDIR)$(PREFIX)"

book: ## the documents as pages to browse and search: target/book/html/index.html
	python3 scripts/book.py

packages: ## an archive, a Debian package and a Python wheel, in target/packages (MACHINES="x86_64 aarch64")
	@scripts/setup.sh packages
	scripts/build_packages.sh $(MACHINES)

format:
	@if cargo fmt --version > /dev/null 2>&1; then echo "cargo fmt --all --check"; cargo fmt --all --check; \
	else echo "skipped: cargo fmt is not installed"; fi

lint: format ## format and lints alone
	@if cargo clippy --version > /dev/null 2>&1; then \
		echo "cargo clippy --workspace --all-targets --locked -- -D warnings"; \
		cargo clippy --workspace --all-targets --locked -- -D warnings; \
	else echo "skipped: cargo clippy is not installed"; fi

calibrate: ## the slow lane: seeded simulations, then the null and real pairs (minutes)
	@scripts/setup.sh demo
	@$(MAKE) build
	. scripts/rust.sh; cargo test --release --workspace --locked -- --ignored
	$(assay) calibrate fixtures/verdicts
	$(assay) calibrate fixtures/nulls

calibrate-peers: ## the same pairs through Google Benchmark and hyperfine too
	@scripts/setup.sh demo
	@scripts/setup.sh peers
	@$(MAKE) build
	$(assay) calibrate fixtures/verdicts --peers

bench: ## what the harness costs beside Google Benchmark's, assay stat beside cachegrind; allocations, fresh states, varint decoders
	@scripts/setup.sh peers
	bench/harness/run.sh
	bench/stat/run.py
	bench/allocations/check.py
	bench/fresh/run.sh
	bench/varint/run.sh

sizes: ## the longest files; a question for reviewers, not a limit
	@git ls-files '*.rs' '*.h' '*.c' '*.cpp' '*.sh' '*.py' | xargs wc -l | sort -rn | sed -n '2,21p'

clean: ## remove what was built; ledgers stay
	cargo clean
