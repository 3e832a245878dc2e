# Lockstep's commands. Each installs what it needs through Go's own module proxy, or says what is missing.

SHELL   := bash
GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -s -w -X lockstep/cli.version=$(VERSION)
PREFIX  ?= /usr/local

.PHONY: demo build test soak e2e e2e-programs e2e-openstack bench lint shots install clean

## demo: the real program on the built-in simulated cloud
demo: build
	./bin/lockstep demo

## build: bin/lockstep
build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/lockstep .

## test: every test that needs nothing but Go; packages wait for simulated clouds more than they compute
test:
	$(GO) test -p 3 $(TESTFLAGS) ./...

## soak: many more random histories on the simulated cloud than test goes through
soak:
	$(GO) test -v -count=1 -timeout 3h -run TestWhateverHappens ./cli -rapid.checks=$(or $(CHECKS),100) -rapid.steps=150 $(TESTFLAGS)

## e2e: the real binary in a terminal, against a real kube-apiserver (both of which it builds) and the simulated cloud
e2e: build
	cd e2e && $(GO) test -count=1 -timeout 40m -parallel 6 $(TESTFLAGS) ./...

## e2e-programs: compiles what e2e runs; by itself that does so when it needs it
e2e-programs:
	cd e2e && $(GO) run ./programs

## e2e-openstack: the same with a real Keystone, Placement, Glance, Neutron and Nova (Debian 12, as root)
e2e-openstack:
	e2e/openstack/run

## bench: the figures of the README
bench: build
	$(GO) test -run '^$$' -bench . -benchmem ./core ./kube ./nova ./tui
	cd e2e && $(GO) test -run '^$$' -bench . -benchtime 5x ./...

## lint: vet, gofmt, staticcheck
lint:
	$(GO) vet ./...
	cd e2e && $(GO) vet -tags openstack ./...
	@bad=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$bad" ] || { echo "not gofmt'd:"; echo "$$bad"; exit 1; }
	$(GO) tool staticcheck ./...
	cd e2e && $$(cd .. && $(GO) tool -n staticcheck) -tags openstack ./...

## shots: the screens of the demo as PNG files in docs/
shots: build
	e2e/shots/all

## install: bin/lockstep into PREFIX/bin
install: build
	install -D -m 755 bin/lockstep $(DESTDIR)$(PREFIX)/bin/lockstep

clean:
	rm -rf bin e2e/bin
