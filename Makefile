# scmk: build, try, test, install. `make` alone lists the targets.

PREFIX     ?= /usr/local
LIBDIR     ?= $(PREFIX)/lib
INCLUDEDIR ?= $(PREFIX)/include
DESTDIR    ?=
# "dev" builds in a fraction of the time, without link-time optimisation.
PROFILE    ?= release
CARGO      ?= cargo
CFLAGS     ?= -O2

# Where cargo leaves the libraries, and where programs of this tree find them.
out      := $(or $(CARGO_TARGET_DIR),target)/$(if $(filter dev,$(PROFILE)),debug,$(PROFILE))
lib      := $(CURDIR)/build/lib
warnings := -Wall -Wextra -Wpedantic -Werror
digits   := examples/data/digits
places   := PREFIX="$(PREFIX)" LIBDIR="$(LIBDIR)" INCLUDEDIR="$(INCLUDEDIR)" DESTDIR="$(DESTDIR)"

export CC CXX CFLAGS

.PHONY: help
help: ## this list
	@echo "make TARGET, one of:"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-15s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo "install and uninstall obey PREFIX ($(PREFIX)), LIBDIR, INCLUDEDIR, DESTDIR."

.PHONY: build
build: ## the libraries libscmk.so, libscmk.a and the Rust library
	$(CARGO) build --profile $(PROFILE)
	@tools/link-libraries $(out) $(lib)

.PHONY: demo
demo: build build/demo/quickstart build/demo/picture ## cluster 400 digits of six views and draw the similarity
	@build/demo/quickstart $(digits)
	@build/demo/picture $(digits) build/demo/similarity.png

build/demo/%: examples/c/%.c examples/c/*.h include/scmk.h | build
	@mkdir -p $(@D)
	$(CC) -std=c99 $(warnings) $(CFLAGS) -Iinclude $< -o $@ -L$(lib) -Wl,-rpath,$(lib) -lscmk -lm

# Three tiers: what to run before a commit, what a release promises, and what looks for the worst.
.PHONY: check
check: build ## lint, Rust and C tests: minutes, installs nothing
	$(MAKE) lint
	$(MAKE) test-rust
	$(MAKE) test-c
	$(MAKE) test-abi

.PHONY: test
test: ## check, and all other languages; installs what they need
	tools/setup
	$(MAKE) check
	$(MAKE) test-install
	$(MAKE) test-cpp
	$(MAKE) test-julia
	$(MAKE) test-matlab
	$(MAKE) test-r

.PHONY: torture
torture: build ## sanitizers, valgrind, failing allocations, fuzzing, oldest Rust, R CMD check: half an hour
	tools/setup sanitize r rust185
	$(MAKE) sanitize
	$(MAKE) test-allocation STEP=97
	$(MAKE) test-loom
	$(MAKE) test-rust185
	$(MAKE) check-r
	FUZZ_SEED=2017 $(MAKE) fuzz SECONDS=10
	$(MAKE) watchdog FITS=500 PROFILE=dev
	$(MAKE) truth PROBLEMS=1000 PROFILE=dev

.PHONY: test-rust
test-rust: ## unit and integration tests of the Rust library
	@if $(CARGO) nextest --version >/dev/null 2>&1; then set -x; $(CARGO) nextest run --package scmk --lib --tests; \
	  else set -x; $(CARGO) test --package scmk --lib --tests; fi
	$(CARGO) test --doc

.PHONY: test-loom
test-loom: ## every order in which threads can use a handle
	$(CARGO) test --quiet --manifest-path tests/loom/Cargo.toml --target-dir build/loom

.PHONY: test-c
test-c: build ## the C programs of tests/c and examples/c, linked both ways
	@tools/test-c $(lib)

.PHONY: test-abi
test-abi: build ## the library and its header against the list of its ABI
	@tools/abi $(lib)

.PHONY: test-allocation
test-allocation: build ## fail every allocation in turn, for hours: [STEP=k for every k-th]
	@tools/test-c $(lib) allocation $(STEP)

.PHONY: sanitize
sanitize: build ## the C programs under AddressSanitizer and valgrind
	@tools/setup sanitize
	@tools/test-c $(lib) asan valgrind

# The oldest Rust that Cargo.toml allows, beside the one that is there.
rust185  := build/rust-1.85
.PHONY: test-rust185
test-rust185: ## build the C library with Rust 1.85, and run the C programs with it
	@tools/setup rust185
	$(rust185)/bin/cargo build --release --locked --package scmk-c --target-dir $(rust185)/target
	@PATH="$(CURDIR)/$(rust185)/bin:$$PATH" tools/link-libraries $(rust185)/target/release $(rust185)/lib
	@tools/test-c $(rust185)/lib plain

.PHONY: fuzz
fuzz: ## random calls, matrices and texts: [SECONDS=60 for each]
	@tools/fuzz $(SECONDS)

.PHONY: load
load: build ## threads, handles, cancels and errors mixed: [SECONDS=300]
	@tools/test-c $(lib) load $(SECONDS)

.PHONY: test-install
test-install: build ## use an installed copy through pkg-config and CMake
	@MAKE="$(MAKE)" tools/test-install $(CURDIR)/build/stage

.PHONY: test-cpp
test-cpp: build ## the C++ header
	@tools/setup cpp
	@tools/test-cpp $(lib)

.PHONY: test-r
test-r: build ## the R package, against the library just built
	@tools/setup r
	@tools/test-r $(lib)

.PHONY: check-r
check-r: build ## R CMD check of the self-contained R source package, offline
	@tools/setup r
	@tools/test-r $(lib) --check

.PHONY: test-julia
test-julia: build ## the Julia package
	@tools/setup julia
	@tools/test-julia $(lib)

.PHONY: test-matlab
test-matlab: build ## the MATLAB and Octave interface, in Octave
	@tools/setup octave
	@tools/test-matlab $(lib)

.PHONY: paper-table
paper-table: ## the paper's experiments redone, under an hour: make paper-table DATA=folder with the .npz files
	$(CARGO) run --release --example paper_table -- --out build/paper-table \
	  --data $(or $(DATA),$(error say where the data sets are: make paper-table DATA=folder))

.PHONY: bench
bench: build ## speed and memory beside rivals: make bench DATA=folder with the .npz files
	@tools/setup rivals
	@build/rivals/bin/python benches/speed.py $(lib)/libscmk.so --out build/bench \
	  --data $(or $(DATA),$(error say where the data sets are: make bench DATA=folder))

.PHONY: quality
quality: build ## clusters of plain defaults beside rivals: make quality DATA=folder with the .npz files
	@tools/setup rivals
	@build/rivals/bin/python benches/quality.py $(lib)/libscmk.so --out build/quality \
	  --data $(or $(DATA),$(error say where the data sets are: make quality DATA=folder))

.PHONY: bench-quick
bench-quick: build ## the same at smaller sizes, two minutes: [DATA=folder with the .npz files]
	@tools/setup rivals
	@build/rivals/bin/python benches/speed.py $(lib)/libscmk.so --out build/bench --quick \
	  $(if $(DATA),--data $(DATA))

.PHONY: bench-methods
bench-methods: build ## kkm and sc beside kernlab and scikit-learn: [DATA=folder with the .npz files]
	@tools/setup rivals
	@build/rivals/bin/python benches/methods.py $(lib)/libscmk.so $(DATA)

.PHONY: bench-metrics
bench-metrics: build ## accuracy of thousands of labels beside scipy's assignment
	@tools/setup rivals
	@build/rivals/bin/python benches/metrics.py $(lib)/libscmk.so

.PHONY: watchdog
watchdog: ## random fits over the whole range of options, none beyond its time limit: [FITS=20000]
	SCMK_FITS=$(or $(FITS),20000) SCMK_WATCH=1 $(CARGO) test --profile $(PROFILE) --test watchdog -- --nocapture

.PHONY: truth
truth: ## certificates of random problems beside arithmetic of 106 bits: [PROBLEMS=1000]
	SCMK_PROBLEMS=$(or $(PROBLEMS),1000) $(CARGO) test --profile $(PROFILE) --test truth

.PHONY: acceptance
acceptance: ## promises checked on the paper's data sets: make acceptance DATA=folder with the .npz files
	$(CARGO) bench --bench acceptance -- --data $(or $(DATA),$(error say where the data sets are: make acceptance DATA=folder))

.PHONY: lint
lint: ## formatting, clippy, whether NOTICE is up to date, and crates if cargo-deny is there
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	tools/notice --check
	@if $(CARGO) deny --version >/dev/null 2>&1; then $(MAKE) deny; \
	  else echo "SKIPPED: make deny (cargo install --locked cargo-deny@0.20.2)"; fi

.PHONY: abi
abi: build ## add what is new in the header to the list of the ABI
	@tools/abi --update $(lib)

# Advisories are left out: their database cannot be fetched where the tests run. Crates of other
# systems are judged too, but no build here has fetched them.
.PHONY: deny
deny: ## licences, versions, build scripts and origins of all crates, by cargo-deny
	$(CARGO) fetch --quiet --locked
	$(CARGO) deny --offline --locked check licenses bans sources

.PHONY: latency
latency: build ## how long a fit takes to return after a cancel, in every step and method
	@tools/setup rivals
	@build/rivals/bin/python benches/latency.py $(lib)/libscmk.so --samples $(or $(SAMPLES),1000)

.PHONY: release
release: ## source archive with all crates, built without a network: [OUT=folder]
	@tools/release $(or $(OUT),build/release)

.PHONY: header
header: ## write include/scmk.h anew from the Rust sources
	SCMK_UPDATE_HEADER=1 $(CARGO) test --test header

.PHONY: reference
reference: ## write the tables of docs/reference.md anew from the Rust sources
	SCMK_UPDATE_REFERENCE=1 $(CARGO) test --test reference

.PHONY: notice
notice: ## write NOTICE and the authors in the R package anew from the dependencies
	tools/notice

# Installs what was built before, so that `sudo make install` needs no Rust.
.PHONY: install
install: ## header, libraries, pkg-config and CMake files
	@test -e $(lib)/libscmk.so || $(MAKE) build
	@$(places) tools/install $(lib)

.PHONY: uninstall
uninstall: ## what install has put there
	@$(places) tools/install --remove

.PHONY: clean
clean: ## remove all that was built
	$(CARGO) clean
	rm -rf build
