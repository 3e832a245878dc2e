# Lockstep's commands. Each installs what it needs through Go's own module proxy, or says what is missing.

SHELL   := bash
GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X lockstep/cli.version=$(VERSION)
PREFIX  ?= /usr/local

.PHONY: demo build test soak replay endurance e2e e2e-programs e2e-openstack bench bench-dashboard bench-compare cost lint shots install clean

## demo: the real program on the built-in simulated cloud
demo: build
	./bin/lockstep demo

## build: bin/lockstep
build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/lockstep .

# A test program whose goroutines wake one another all the time loses a third of its work when another program has the processor that
# its next thread needs. So two run at a time, each with half of the processors.
HALF = $(shell echo $$((($$(getconf _NPROCESSORS_ONLN) + 1) / 2)))

# Beside Go's own cache: go test takes a program in this folder for a file that its tests read, and would run them all again.
TESTS = $(shell $(GO) env GOCACHE)/lockstep-tests$(subst /,-,$(CURDIR))

# Tests sync each line of a journal, and a disk takes long for that. So their files are in memory where it has room for them, unless
# TMPDIR or GOTMPDIR says where else. A killed test leaves them there until the machine starts again, or somebody removes them.
MEMORY = $(shell m=/dev/shm; [ -w $$m ] && ! grep -qs " $$m .*noexec" /proc/mounts && \
	df -Pk $$m | awk -v m=$$m 'NR == 2 && $$4 > 4000000 && $$6 == m { print m }')
SCRATCH = $(if $(TMPDIR)$(shell $(GO) env GOTMPDIR),,$(if $(MEMORY),TMPDIR=$(MEMORY)))

# What takes long comes first: else it runs alone at the end.
ALL = ./cli ./cli/session ./core/engine ./sim ./sim/controller ./tui ./...

## test: every test that needs nothing but Go, or those of PACKAGES; without vet, a thirteenth of its work: make lint vets all of it. What
## is linked is kept in LINKED until it changes; with LINKED= it is not.
test: PACKAGES ?= $(ALL)
test: LINKED ?= $(TESTS)
test:
	$(SCRATCH) GOMAXPROCS=$(HALF) $(GO) test -p 2 -vet=off -ldflags="-s -w" $(if $(LINKED),-o "$(LINKED)/") $(TESTFLAGS) $(PACKAGES)

## soak: ten thousand random histories on the simulated cloud, in two series side by side; SEED=1 begins with seed 1
soak: SEED ?= $(shell date +%s)
soak: CHECKS ?= 5000
soak: STEPS ?= 60
soak:
	@echo "two series of $(CHECKS) histories of $(STEPS) draws, from seed $(SEED) on"
	$(GO) test -v -count=1 -timeout 24h -run TestWhateverHappens ./cli/session -rapid.checks=$(CHECKS) -rapid.steps=$(STEPS) -rapid.seed=$(SEED) $(TESTFLAGS)

## replay: one history again, exactly: SEED, SERIES and STEPS as printed by make soak (60 draws) or make test (8)
replay: SERIES ?= 1
replay: STEPS ?= 60
replay:
	@[ -n "$(SEED)" ] || { echo "which one? make replay SEED=n [SERIES=1] [STEPS=60]"; exit 1; }
	$(GO) test -v -count=1 -run 'TestWhateverHappens.*/series-$(SERIES)$$' ./cli/session -rapid.checks=1 -rapid.steps=$(STEPS) -rapid.seed=$(SEED) $(TESTFLAGS)

## endurance: a watch of eight hours over the update of 500 nodes, with faults all along; WATCH=2h for less
endurance:
	$(GO) test -v -count=1 -timeout 6h -tags soak -run TestAWatch ./cli $(TESTFLAGS)

## e2e: the real binary in a terminal, against a real kube-apiserver (both of which it builds) and the simulated cloud; needs zsh and fish
e2e:
	cd e2e && $(GO) test -ldflags="-s -w" -count=1 -timeout 40m -parallel 6 $(TESTFLAGS) ./...

## e2e-programs: compiles what e2e runs; e2e also does so when it needs to
e2e-programs:
	cd e2e && $(GO) run ./programs

## e2e-openstack: the same with a real Keystone, Placement, Glance, Neutron and Nova (Debian 12, as root)
e2e-openstack:
	e2e/openstack/run

## bench: the figures of the README: the benchmarks of the packages and of the demo, then bench-dashboard
bench: build
	$(GO) test -run '^$$' -bench . -benchmem ./core/... ./scene/live ./kube ./nova ./tui
	cd e2e && $(GO) test -run '^$$' -bench . -benchtime 5x ./...
	$(MAKE) --no-print-directory bench-dashboard

## bench-dashboard: the binary in a terminal on fleets, k9s beside it; FLEETS=50,500 some of them, QUICK=1 a short look, OUT=FILE the JSON
bench-dashboard: FLEETS ?= 50,500,2000
bench-dashboard: OUT ?= bin/bench-$(VERSION).json
bench-dashboard: build
	cd e2e && $(GO) run ./bench -fleets $(FLEETS) $(if $(QUICK),-quick) -lockstep ../bin/lockstep -o $(abspath $(OUT))

## bench-compare: two files of bench-dashboard side by side: OLD=FILE NEW=FILE
bench-compare:
	@[ -n "$(OLD)" ] && [ -n "$(NEW)" ] || { echo "which two? make bench-compare OLD=FILE NEW=FILE"; exit 1; }
	@cd e2e && $(GO) run ./bench compare $(abspath $(OLD)) $(abspath $(NEW))

## cost: docs/cost.md anew: the requests to the demo's three fleets, counted in virtual time; some minutes, 7 GiB
cost:
	GOMEMLIMIT=7GiB $(GO) test -count=1 -timeout 2h -parallel 1 -run TestThePageOfCosts ./cli -fleets fleet-50,fleet-500,fleet-2000 -update $(TESTFLAGS)

## lint: vet, gofmt, staticcheck, and that nothing calls methods by their names: for such a call the linker keeps all methods of all packages
lint:
	$(GO) vet -tags soak ./...
	cd e2e && $(GO) vet -tags openstack ./...
	@bad=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$bad" ] || { echo "not gofmt'd:"; echo "$$bad"; exit 1; }
	$(GO) tool staticcheck -tags soak ./...
	cd e2e && $$(cd .. && $(GO) tool -n staticcheck) -tags openstack ./...
	@out=$$(mktemp -d) && trap 'rm -rf $$out' EXIT && $(GO) build -ldflags=-dumpdep -o $$out/lockstep . 2>$$out/uses && \
		if grep -m 5 '<ReflectMethod>' $$out/uses; then echo "the program calls methods by their names"; exit 1; fi

## shots: the screens of the demo as PNG files in docs/
shots: build
	e2e/shots/all

## install: bin/lockstep into PREFIX/bin, also as kubectl's plugin: kubectl lockstep
install: build
	install -D -m 755 bin/lockstep $(DESTDIR)$(PREFIX)/bin/lockstep
	ln -sf lockstep $(DESTDIR)$(PREFIX)/bin/kubectl-lockstep
	printf '#!/bin/sh\nexec lockstep __complete "$$@"\n' > $(DESTDIR)$(PREFIX)/bin/kubectl_complete-lockstep
	chmod 755 $(DESTDIR)$(PREFIX)/bin/kubectl_complete-lockstep

clean:
	rm -rf bin e2e/bin "$(TESTS)"
