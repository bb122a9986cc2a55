SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# The tools are pinned in a module of their own, so that their dependencies are
# nobody else's.
TOOL := go tool -modfile=tools/go.mod
PLATFORM_TOOL := go tool -modfile=../tools/go.mod

.PHONY: help
help: ## Show the targets
	@awk -F ':.*## ' '/^[a-z][a-z-]*:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

##@ Run

.PHONY: demo
demo: ## Run the main job end to end on the embedded stack, then exit (DEMO=--stay: stay up, with a console)
	@scripts/run-platform demo $(DEMO)

.PHONY: dev
dev: ## Run everything on the embedded stack and stay up (DEV=flags of toolcrib dev)
	@scripts/run-platform toolcrib dev $(DEV)

.PHONY: migrate
migrate: ## Bring the database of TOOLCRIB_DATABASE_URL up to date
	@scripts/run-platform toolcrib migrate

.PHONY: bench
bench: ## Measure against the floor: JSON lines, and a report in bench.md (BENCH=-quick)
	@scripts/bench $(BENCH)

.PHONY: bench-sandbox
bench-sandbox: ## Measure a tenant's calls in the sandbox beside another's attacks
	@cd platform && go test ./sandbox -run '^$$' -bench BesideAttacks -benchtime 10s

##@ Test

.PHONY: test
test: ## Run every test, with real PostgreSQL and a real Temporal server
	@scripts/with-postgres --in-memory $(MAKE) --no-print-directory test-root test-platform test-deploy

# At most three tests that fail are run once more by themselves, as a wait may end too late on a
# busy machine. The summary shows both results; a test that needed its second run is a defect to
# mend. RERUNS=0 runs each once.
RUN_TESTS = gotestsum --format standard-quiet --rerun-fails=$(or $(RERUNS),1) --rerun-fails-max-failures=3 \
	--rerun-fails-run-root-test --rerun-fails-abort-on-data-race --packages=./... --

# The race detector watches the module that ships as a library, where there is
# a C compiler. In the platform it would compile Temporal's server a second time.
.PHONY: test-root
test-root:
	$(TOOL) $(RUN_TESTS) $$([[ $$(go env CGO_ENABLED) == 0 ]] || echo -race) -timeout 45m

.PHONY: test-platform
test-platform:
	@scripts/cold-build-notice
	cd platform && $(PLATFORM_TOOL) $(RUN_TESTS) -timeout 45m

# The chart, the image and the compose file; Helm's library is their module's alone.
.PHONY: test-deploy
test-deploy:
	cd deploy && $(PLATFORM_TOOL) $(RUN_TESTS) -timeout 45m

.PHONY: race
race: ## Run every test under the race detector, the platform's too (slow)
	@scripts/with-postgres bash -c 'go test -race -timeout 1h ./... && cd platform && go test -race -timeout 2h ./...'

.PHONY: fuzz
fuzz: ## Ask the API for everything, properly and otherwise, for FUZZ_TIME (1m)
	@scripts/with-postgres bash -c 'cd platform && go test ./fuzz -count=1 -timeout 2h -time $(or $(FUZZ_TIME),1m)'

.PHONY: deploys
deploys: ## Replace workers every DEPLOY_EVERY (2s) under load, for DEPLOY_TIME (7m): about 200 times
	@scripts/with-postgres bash -c 'cd platform && go test ./e2e -count=1 -v -timeout 1h -run TestDeploysUnderLoad \
		-deploy-every $(or $(DEPLOY_EVERY),2s) -deploy-for $(or $(DEPLOY_TIME),7m)'

.PHONY: waits
waits: ## Let WAIT_ACTIONS (10000) decisions, results and time-outs race, and check every call
	@scripts/with-postgres bash -c 'cd platform && go test ./e2e -count=1 -v -timeout 1h -run TestWaitsRace -wait-actions $(or $(WAIT_ACTIONS),10000)'

.PHONY: rates
rates: ## Let eight workers call up to the rate of a profile for RATE_TIME (60s), and count the calls
	@scripts/with-postgres go test ./store -count=1 -v -run TestRateOfEightWorkers -rate-time $(or $(RATE_TIME),60s)

.PHONY: corpora
corpora: ## Compare what the index of words finds in CORPORA (200) corpora with a search of all passages
	@scripts/with-postgres go test ./store -count=1 -v -timeout 1h -run TestTheBestPassagesAreFound -corpora $(or $(CORPORA),200)

.PHONY: console-figures
console-figures: ## Measure pages of the console in a browser, with 100,000 tools and a run of 20,000 events
	@scripts/with-postgres bash -c 'cd platform && go test ./console -count=1 -v -run TestFigures -figures'

.PHONY: console-prefix
console-prefix: ## Run the console's tests in a browser under CONSOLE_PREFIX (/a/b), behind a proxy
	@scripts/with-postgres bash -c 'cd platform && go test ./console -count=1 -timeout 45m -prefix $(or $(CONSOLE_PREFIX),/a/b)'

.PHONY: console-pictures
console-pictures: ## Take the pictures of docs/console-pages.md anew
	@mkdir -p docs/images/console
	@scripts/with-postgres bash -c 'cd platform && go test ./console -count=1 -run TestPictures -pictures "$(CURDIR)/docs/images/console"'

.PHONY: mcp-conformance
mcp-conformance: ## Run the official MCP conformance suite, from npm, against the MCP server
	@scripts/mcp-conformance

.PHONY: long-runs
long-runs: ## Run agents of LONG_TURNS (10000) turns in both lanes, and say what a turn took at both ends
	@scripts/with-postgres bash -c 'cd platform && go test ./e2e -count=1 -v -timeout 2h -run TestLongRun \
		-long-turns $(or $(LONG_TURNS),10000)'

.PHONY: long-maps
long-maps: ## Run maps of MAP_ITEMS (4000) items, 50 at once, with both drivers, and say what they took
	@scripts/with-postgres bash -c 'cd platform && go test ./e2e -count=1 -v -timeout 1h -run TestGraphOfManyItems \
	  -map-items $(or $(MAP_ITEMS),4000)'

.PHONY: drivers
drivers: ## Take DRIVER_SCRIPTS (200) generated runs through both drivers, and compare what they leave
	@scripts/with-postgres bash -c 'cd platform && go test ./e2e -count=1 -timeout 1h -run TestDriversDoTheSame -driver-scripts $(or $(DRIVER_SCRIPTS),200)'

.PHONY: chaos
chaos: ## Play seeded faults for CHAOS_TIME (20m), from CHAOS_SEED, and check all records
	@scripts/with-postgres bash -c 'cd platform && go test ./chaos -count=1 -v -timeout 3h -time $(or $(CHAOS_TIME),20m) -seed $(or $(CHAOS_SEED),0)'

.PHONY: upgrade-check
upgrade-check: ## Replace the binaries of the commit FROM by these, in both orders and back, on one database
	@scripts/upgrade-check $(or $(FROM),$(error give FROM=<commit>))

.PHONY: check
check: lint vet workflowcheck verify test ## Everything that CI asks for

.PHONY: lint
lint: ## Lint the modules
	$(TOOL) golangci-lint run --allow-parallel-runners ./...
	@scripts/cold-build-notice
	cd platform && $(PLATFORM_TOOL) golangci-lint run --allow-parallel-runners --config ../.golangci.yml ./...
	cd deploy && $(PLATFORM_TOOL) golangci-lint run --allow-parallel-runners --config ../.golangci.yml ./...

.PHONY: vet
vet: ## Vet the modules
	go vet ./...
	cd platform && go vet ./...
	cd platform && go vet -tags lean ./cmd/toolcrib
	cd deploy && go vet ./...

.PHONY: workflowcheck
workflowcheck: ## Prove the workflows deterministic
	$(TOOL) workflowcheck ./workflows/...

.PHONY: verify
verify: ## Fail if generated code or module files are stale
	$(TOOL) sqlc diff
	go mod tidy -diff
	cd platform && go mod tidy -diff
	cd deploy && go mod tidy -diff
	scripts/check-typescript
	scripts/check-console

##@ Change

.PHONY: fmt
fmt: ## Format the modules
	$(TOOL) golangci-lint fmt ./...
	cd platform && $(PLATFORM_TOOL) golangci-lint fmt --config ../.golangci.yml ./...
	cd deploy && $(PLATFORM_TOOL) golangci-lint fmt --config ../.golangci.yml ./...

.PHONY: generate
generate: ## Generate the queries' code from their SQL
	$(TOOL) sqlc generate

.PHONY: console
console: ## Build the console's pages, with Node.js 20.19 or later; commit platform/console/dist
	cd platform/console/web && npm ci --no-audit --no-fund && npm run build

.PHONY: tidy
tidy: ## Tidy the module files
	go mod tidy
	cd platform && go mod tidy
	cd deploy && go mod tidy
