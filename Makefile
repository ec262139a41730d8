# The front door.  It only calls apt, meson, ninja and the scripts in tools/; the build is meson's.

PREFIX  ?= /usr/local
TIME    ?= 60
SUITES  ?=
BENCH   ?=
COUNT   ?= 300
DATA    ?=
RESULTS ?= build/reproduce/results
release := build/release

.DEFAULT_GOAL := help
.PHONY: help deps build demo test test-trixie test-long audit mutants mutants-generated lint bench bench-quick bench-pages pages reproduce figures fuzz asan tsan coverage format report-look wheel dist python-long spark docs pictures install uninstall clean

help: ## this list
	@echo "cloister: differentially private clustering and subspace learning"
	@echo
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 25

deps: ## install what building and testing need; quiet where nothing is missing
	@tools/deps.sh build test coverage

build: ## build the library and the command in build/release
	@tools/deps.sh build
	@mkdir -p build
	@test -f $(release)/build.ninja || \
	    meson setup $(release) . --buildtype=release --prefix=$(PREFIX) > $(release).log 2>&1 || \
	    { cat $(release).log; exit 1; }
	@test -z "$$(find src cli bench -type d -newer $(release)/build.ninja)" || \
	    meson setup --reconfigure $(release) . > $(release).log 2>&1 || \
	    { cat $(release).log; exit 1; }
	@ninja -C $(release) --quiet

demo: build ## a private release from start to end, on made-up data, in build/demo
	@mkdir -p build/demo
	@tools/demo.sh $(release)/cli/cloister build/demo

test: ## every suite in every build; SUITES="unit cli" for some
	@tools/deps.sh build test
	@tools/test.py $(SUITES)

test-trixie: ## `make demo` and `make test` in a Debian 13 of its own (as root); SUITES="unit" for some
	@tools/deps.sh long
	@tools/trixie.sh $(SUITES)

test-long: ## the ledger's kills, races and interleavings in large numbers; every allocation and every call of a run fails
	@tools/deps.sh build test
	@tools/test.py --build dev fault
	@CLOISTER_LONG=1 build/dev/tests/fault_ledger_kill
	@CLOISTER_LONG=1 build/dev/tests/fault_ledger_interleave
	@CLOISTER_LONG=1 build/dev/tests/fault_ledger_points
	@tests/cli/stops.py --every build/dev/cli/cloister build/dev/tests/cli/inject
	@tools/test.py --build asan fault
	@CLOISTER_LONG=1 build/asan/tests/fault_allocations

audit: ## try to refute every claim, and catch every planted fault, at 10^6 runs a world
	@tools/deps.sh build test
	@tools/test.py --build dev statistical
	@AUDIT_TRIALS=1e6 build/dev/tests/statistical_audit_matrix
	@AUDIT_TRIALS=1e6 build/dev/tests/statistical_audit_faults

mutants: ## plant every fault of tests/mutants, each of which a test must notice
	@tools/deps.sh build test
	@tests/mutants/run.py $(MUTANTS)

mutants-generated: ## plant COUNT=300 faults made from the syntax tree; 0: all, which takes a night
	@tools/deps.sh build test mutants
	@build/venv/bin/python3 tests/mutants/run.py --generated $(COUNT) $(MUTANTS)

lint: ## layout, arrows between folders, symbols, proofs, names
	@tools/deps.sh build test
	@tools/test.py lint symbols

bench: build ## measure speed, against the peers in build/venv; BENCH="read" for some
	@tools/deps.sh bench
	@tools/bench.sh $(release) build/venv/bin/python3 $(BENCH)
	@test -n "$(BENCH)" || build/venv/bin/python3 bench/bench_peers.py $(release)/cli/cloister
	@test -n "$(BENCH)" || build/venv/bin/python3 bench/bench_bingham_peers.py

bench-quick: build ## beside the peers of PyPI, in minutes: build/bench/peers.md, and docs/ with it
	@tools/deps.sh bench
	@build/venv/bin/python3 bench/bench_peers.py $(release)/cli/cloister --runs 3
	@mkdir -p build/bench/results && cp bench/results/*.json build/bench/results
	@cp build/bench/peers.json build/bench/results
	@tools/measured.py --results build/bench/results --out build/bench/pages

bench-pages: build ## measure all that README and docs/ state, and fill it in: DATA=FOLDER of MNIST
	@tools/deps.sh bench
	@bench/pages.sh $(release) build/venv/bin/python3 $(DATA)

pages: ## fill the measured numbers of README and docs/ from bench/results
	@tools/measured.py

reproduce: build ## the papers' experiments again: DATA=FOLDER, QUICK=1 (minutes), FULL=1 (hours)
	@tools/deps.sh bench
	@ninja -C $(release) --quiet bench/bench_chain
	@build/venv/bin/python3 reproduce/run.py $(release)/cli/cloister \
	    --size $(if $(QUICK),quick,$(if $(FULL),full,normal)) $(if $(DATA),--data $(DATA)) \
	    --results $(RESULTS)

figures: build ## the papers' pages and pictures, out of reproduce/results
	@python3 reproduce/pages.py $(release)/cli/cloister

fuzz: ## look for inputs that break a reader, TIME=60 seconds for each target
	@tools/deps.sh build test
	@tools/fuzz.sh $(TIME)

tsan: ## the unit and fault suites under ThreadSanitizer
	@tools/deps.sh build test
	@tools/test.py --build tsan $(SUITES)

asan: ## the suites that run under AddressSanitizer and UBSan
	@tools/deps.sh build test
	@tools/test.py --build asan $(SUITES)

coverage: ## which lines the unit, fault and command tests reach
	@tools/deps.sh build test coverage
	@tools/coverage.sh

report-look: build ## look at pages in a browser (Chromium, axe-core); pictures in build/look/seen
	@tools/deps.sh build look
	@tools/report_look.sh $(release)/cli/cloister build/look

wheel: ## build the Python wheel with all that it needs, in build/wheel
	@tools/deps.sh build
	@tools/wheel.py --repair

dist: ## source archive, wheel and checksums of a release, the same bytes each time, in build/dist
	@tools/deps.sh build
	@tools/dist.py

python-long: ## what of Python takes minutes, gigabytes or a bare Debian (as root)
	@tools/deps.sh build test long
	@tools/wheel.py --repair
	@tools/test_python.py --long
	@tools/wheel_bare.sh bookworm 3.11
	@tools/wheel_bare.sh trixie 3.13
	@tools/wheel_bare.sh sid 3.14

spark: ## the Python package on Spark 4, classic and Connect; fetches half a gigabyte
	@tools/deps.sh build test spark
	@tools/test_python.py --spark

docs: build ## build the site in build/docs/html; a warning is a failure
	@tools/deps.sh build docs
	@tools/docs.py $(release)/cli/cloister

pictures: ## draw the README's pictures anew from bench/results/places.json
	@tools/pictures.py

format: ## lay out all C files by .clang-format, and wrap all Markdown
	@tools/deps.sh test
	@find include src cli mpi tests bench -name '*.[ch]' -exec clang-format -i {} +
	@tools/wrap_markdown.py

install: build ## install under PREFIX (DESTDIR is honoured)
	@meson configure $(release) --prefix=$(PREFIX)
	@meson install -C $(release)
	@test -n "$(DESTDIR)" || tools/check_install.sh $(PREFIX)

uninstall: ## remove what `make install` put under PREFIX from this tree
	@test -f $(release)/meson-logs/install-log.txt || \
	  { echo "nothing was installed from this tree: run make install first"; exit 1; }
	@sed '/^#/d' $(release)/meson-logs/install-log.txt | while read -r file; do \
	  if test -d "$$file" && ! test -L "$$file"; then rmdir "$$file" 2>/dev/null || true; \
	  else rm -f "$$file"; fi; done

clean: ## remove build/
	@rm -rf build
