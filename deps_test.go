package toolcrib_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// module is the path of the root module; the platform's is below it.
const (
	module   = "github.com/toolcrib/toolcrib"
	platform = module + "/platform"
)

// directRequirements are the modules that the root module's code may import,
// test libraries aside: at most maxRequirements, so that a host that takes the
// plugin knows what it takes.
var directRequirements = []string{
	"cel.dev/cel-go",
	"github.com/Masterminds/semver/v3",
	"github.com/google/jsonschema-go",
	"github.com/google/uuid",
	"github.com/jackc/pgx/v5",
	"github.com/maypok86/otter/v2",
	"github.com/modelcontextprotocol/go-sdk",
	"github.com/santhosh-tekuri/jsonschema/v5",
	"github.com/tink-crypto/tink-go/v2",
	"github.com/yosida95/uritemplate/v3",
	"go.opentelemetry.io/otel",
	"go.opentelemetry.io/otel/metric",
	"go.opentelemetry.io/otel/trace",
	"go.temporal.io/api",
	"go.temporal.io/sdk",
	"go.temporal.io/sdk/contrib/envconfig",
	"golang.org/x/sync",
	"google.golang.org/protobuf",
}

const maxRequirements = 18

// testLibraries may be imported by tests and by packages that help to test.
var testLibraries = []string{
	"github.com/google/go-cmp", "github.com/stretchr/testify", "go.uber.org/goleak", "pgregory.net/rapid",
}

// reachLaw says what a package must not reach, directly or through others of
// this repository. Paths end in "/..." for all below.
type reachLaw struct {
	name string
	from []string // Packages the law binds, below the module; "..." binds all below.
	only []string // If set, all that they may reach beside their like.
	deny []string // What they must not reach.
	but  []string // What of that they may reach all the same.
	why  string
}

var (
	std   = "std" // Stands for the standard library.
	input = []string{
		"net", "net/http/...", "net/rpc/...", "net/smtp", "os/...", "database/sql/...", "io/ioutil", "syscall", "plugin",
		"log/syslog",
	}
	temporal = []string{"go.temporal.io/..."}
	postgres = []string{"github.com/jackc/pgx/..."}
)

var reachLaws = []reachLaw{
	{name: "tool is the leaf", from: []string{"tool"}, only: []string{std}, why: "everyone speaks the vocabulary"},
	{
		name: "audit stands on tool", from: []string{"audit"}, only: []string{std, module + "/tool"},
		why: "all layers name actors",
	},
	{
		name: "agent stands on tool", from: []string{"agent"}, only: []string{std, module + "/tool", module + "/graph/flow"},
		why: "everyone speaks the vocabulary",
	},
	{
		name: "flow stands on tool", from: []string{"graph/flow"}, only: []string{std, module + "/tool"},
		why: "runs pin the forms of graphs, and workflows interpret them",
	},
	{
		name: "graph is pure", from: []string{"graph"},
		only: []string{
			std, module + "/tool", module + "/graph/flow", module + "/schema/...", module + "/internal/binding",
			module + "/internal/strict", module + "/internal/nearest", "github.com/santhosh-tekuri/jsonschema/v5",
			module + "/internal/cache", "github.com/maypok86/otter/v2", "cel.dev/...", "google.golang.org/...",
		},
		why: "what a graph means depends on its definition and records alone",
	},
	{
		name: "pictures are drawn from definitions", from: []string{"graph/draw"},
		only: []string{
			std, module + "/tool", module + "/graph/...", module + "/schema/...", module + "/internal/binding",
			module + "/internal/strict", module + "/internal/nearest", "github.com/santhosh-tekuri/jsonschema/v5",
			module + "/internal/cache", "github.com/maypok86/otter/v2", "cel.dev/...", "google.golang.org/...",
		},
		deny: input, why: "a picture depends on its definition and run alone",
	},
	{
		name: "textcall reads and writes texts", from: []string{"agent/textcall"},
		only: []string{
			std, module + "/tool", module + "/agent", module + "/graph/flow", module + "/schema/...",
			"github.com/santhosh-tekuri/jsonschema/v5", module + "/internal/cache", "github.com/maypok86/otter/v2",
		},
		deny: input, why: "what it finds depends on the text alone",
	},
	{
		name: "ledger, wait and wire are vocabulary", from: []string{"ledger", "wait", "wire"},
		only: []string{
			std, module + "/tool", module + "/agent", module + "/graph/flow", module + "/ledger", module + "/wait",
		},
		why: "workflows and stores speak it",
	},
	{
		name: "usage is vocabulary", from: []string{"usage"}, only: []string{std, module + "/tool"},
		why: "stores, the API and commands speak it",
	},
	{
		name: "toolset is vocabulary", from: []string{"toolset"},
		only: []string{std, module + "/tool", "github.com/Masterminds/semver/v3"},
		why:  "stores, the MCP server, the API and commands speak it",
	},
	{
		name: "view is vocabulary", from: []string{"view"},
		only: []string{std, module + "/tool", module + "/internal/linktoken", "github.com/google/uuid"},
		why:  "stores, the MCP server, the API and commands speak it",
	},
	{
		name: "toolsession is vocabulary", from: []string{"toolsession"},
		only: []string{std, module + "/tool", module + "/internal/linktoken", "github.com/google/uuid"},
		why:  "stores, the API and commands speak it",
	},
	{
		name: "toolembed is vocabulary", from: []string{"toolembed"},
		only: []string{std, module + "/tool", module + "/internal/linktoken", "github.com/google/uuid"},
		why:  "stores, the API and commands speak it",
	},
	{
		name: "access is vocabulary", from: []string{"access"},
		only: []string{
			std, module + "/tool", module + "/agent", module + "/graph/flow", module + "/ledger", module + "/wait",
		},
		why: "stores, the API and commands speak it",
	},
	{
		name: "budget is vocabulary", from: []string{"budget"}, only: []string{std, module + "/tool", module + "/usage"},
		why: "stores, the API and commands speak it",
	},
	{
		name: "quota is vocabulary", from: []string{"quota"}, only: []string{std, module + "/tool"},
		why: "stores, the API and commands speak it",
	},
	{
		name: "profile is vocabulary", from: []string{"profile"}, only: []string{std, module + "/tool"},
		why: "stores, the API and commands speak it",
	},
	{
		name: "schedule is vocabulary", from: []string{"schedule"}, only: []string{std, module + "/tool"},
		why: "stores, the scheduler and the API speak it",
	},
	{
		name: "the scheduler has its store and its client", from: []string{"runs/scheduler"},
		deny: slices.Concat(postgres, []string{
			module + "/store/...", module + "/executors/...", module + "/builtins/...", module + "/registry/...",
			module + "/activities/...", module + "/workflows/...", module + "/worker/...",
		}), why: "servers and workers share it, and it starts runs as requests do",
	},
	{
		name: "space is vocabulary", from: []string{"space"}, only: []string{std, module + "/tool"},
		why: "stores, built-ins and the API speak it",
	},
	{
		name: "file is vocabulary, and what servers do with it", from: []string{"file"},
		only: []string{std, module + "/tool", module + "/internal/uuid7", "github.com/google/uuid", "golang.org/x/sync/..."},
		deny: input, why: "stores, runs, pages and the API speak it",
	},
	{
		name: "schema and policy are pure", from: []string{"schema", "policy", "tool", "agent", "ledger", "wait", "wire"},
		deny: slices.Concat(input, temporal, postgres), why: "their answers depend on their arguments alone",
	},
	{
		name: "loop is pure", from: []string{"loop"},
		only: []string{
			std, module + "/tool", module + "/agent", module + "/graph/flow", module + "/ledger", module + "/wait",
			module + "/wire",
		},
		deny: input, why: "workflows replay it, and activities drive it",
	},
	{
		name: "schema and policy know the vocabulary only", from: []string{"schema", "policy"},
		but: []string{module + "/internal/cache"},
		deny: []string{
			module + "/activities/...", module + "/builtins/...", module + "/executors/...", module + "/internal/...",
			module + "/registry/...", module + "/resolver/...", module + "/store/...", module + "/worker/...",
			module + "/workflows/...",
		}, why: "they are pure",
	},
	{
		name: "workflows do no I/O", from: []string{"workflows"},
		deny: slices.Concat(input, postgres, []string{
			module + "/activities/...", module + "/builtins/...", module + "/executors/...", module + "/registry/...",
			module + "/resolver/...", module + "/retrieval/...", module + "/store/...", module + "/worker/...",
			module + "/internal/egress/...", module + "/internal/secret/...",
		}), why: "they are replayed",
	},
	{
		name: "activities are handed their ports", from: []string{"activities"},
		deny: slices.Concat(postgres, []string{
			module + "/executors/...", module + "/builtins/...", module + "/store/...", module + "/worker/...",
			module + "/workflows/...",
			module + "/internal/egress/...",
		}), why: "they are thin",
	},
	{
		name: "only the edge knows Temporal",
		from: []string{
			"tool", "agent", "ledger", "wait", "policy", "schema", "executors/...", "builtins/...", "registry/...",
			"resolver/...",
			"retrieval/...", "store/...", "internal/egress/...", "internal/secret/...", "internal/vault/...",
			"internal/redact/...", "internal/telemetry/...", "webhook/...",
		},
		deny: temporal, why: "tools, stores and rules can be used and tested without a workflow engine",
	},
	{
		name: "only the store knows PostgreSQL",
		from: []string{
			"tool", "agent", "ledger", "wait", "wire", "policy", "schema", "executors/...", "builtins/...", "registry/...",
			"resolver/...", "retrieval/...",
			"activities", "workflows", "runs", "internal/...", "webhook/...",
		},
		deny: slices.Concat(postgres, []string{"database/sql/..."}), why: "SQL lives in package store",
	},
	{
		// A run starts with a version that the resolver chooses, which judges by
		// policy; its id is made by uuid7; its failure is decoded by internal/failure. The
		// arguments that an approver writes are checked by their schema, and answers to requests
		// for input by their form; a graph is continued from a node that its definition has.
		// The modules beside Temporal's are what those need.
		name: "runs know Temporal, the resolver and the vocabulary", from: []string{"runs"},
		only: slices.Concat(
			[]string{
				std, module + "/tool", module + "/agent", module + "/ledger", module + "/wait", module + "/wire",
				module + "/graph/...", module + "/internal/binding", module + "/internal/strict", module + "/internal/nearest",
				"cel.dev/...", module + "/space", module + "/policy",
				module + "/resolver", module + "/schema/...", module + "/internal/failure",
				module + "/internal/uuid7", module + "/internal/input", module + "/file", "golang.org/x/sync/...",
				"github.com/Masterminds/semver/v3",
				"github.com/google/uuid", module + "/internal/cache", "github.com/maypok86/otter/v2",
				"github.com/santhosh-tekuri/jsonschema/v5",
			},
			temporal,
		),
		why: "API, MCP server, console and schedules share the use cases on runs",
	},
	{
		name: "executors do not import the house", from: []string{"executors/..."},
		deny: []string{
			module + "/store/...", module + "/registry/...", module + "/resolver/...", module + "/activities/...",
			module + "/workflows/...", module + "/worker/...",
		},
		why: "they run calls and know nothing of who asked",
	},
	{
		name: "read and write side know no executors", from: []string{"registry/...", "resolver/..."},
		but: []string{module + "/executors"}, // The descriptions of implementation types.
		deny: slices.Concat(input, []string{
			module + "/executors/...", module + "/builtins/...", module + "/store/...", module + "/activities/...",
		}),
		why: "what they need is handed to them",
	},
	{
		name: "definitions are pure", from: []string{"registry/definition", "registry/release", "registry/quality"},
		deny: slices.Concat(input, temporal, postgres, []string{
			module + "/registry", module + "/registry/artifact", module + "/registry/mcpserver", module + "/resolver/...",
		}), why: "what they say depends on their arguments alone",
	},
	{
		name: "what agents do with tools is a use case of the registry", from: []string{"registry/manage"},
		deny: []string{module + "/runs/...", module + "/loop", module + "/workflows/...", module + "/worker/..."},
		why:  "a built-in calls it, and API and commands show what it would do",
	},
	{
		name: "registries of servers and artifacts do not import the registry of tools",
		from: []string{"registry/artifact", "registry/mcpserver"},
		deny: []string{module + "/registry", module + "/resolver/..."},
		why:  "the registry of tools calls them, and gives them what they need of it",
	},
}

// TestLaws holds every package of the repository to the laws of its house.
func TestLaws(t *testing.T) {
	t.Parallel()

	r := readRepository(t, os.DirFS("."))
	require.Greater(t, len(r.packages), 20, "the laws look at the repository")
	for name, law := range laws() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for _, violation := range law(r) {
				t.Error(violation)
			}
		})
	}
}

// laws returns every law by name. A law lists the violations it finds.
func laws() map[string]func(*repository) []string {
	all := map[string]func(*repository) []string{
		"the root never imports the platform": func(r *repository) []string {
			return r.reaching(reachLaw{
				from: []string{"..."}, deny: []string{platform + "/..."}, why: "hosts take the plugin without the product",
			})
		},
		"pgx is imported in store only":                     pgxInStore,
		"the library of caches is imported in one place":    otterInCache,
		"HTTP clients come from internal/egress":            httpClients,
		"connections are dialed by internal/egress":         dialers,
		"libraries are given a client of internal/egress":   libraryClients,
		"nothing is registered by init":                     initFunctions,
		"files are named for what is in them":               fileNames,
		"types of others stay out of our API":               foreignTypes,
		"test helpers are imported by tests":                testHelpers,
		"the root module has few requirements":              requirements,
		"the root module's requirements are those imported": importedRequirements,
	}
	for _, l := range reachLaws {
		all[l.name] = func(r *repository) []string { return r.reaching(l) }
	}
	return all
}

// pgxInStore: PostgreSQL's driver is the store's, the embedded server's, and that
// of hand-written code to measure against.
func pgxInStore(r *repository) []string {
	return r.importing("github.com/jackc/pgx/...", func(dir string) bool {
		return dir != "store" && !strings.HasPrefix(dir, "store/") && dir != "platform/dev/embedded" &&
			dir != "platform/bench"
	})
}

// otterInCache: each package that reaches a type of the library compiles all of it for that type.
func otterInCache(r *repository) []string {
	return r.importing("github.com/maypok86/otter/...", func(dir string) bool { return dir != "internal/cache" })
}

// helpsTests tells the packages that only tests import, by their names.
func helpsTests(dir string) bool {
	return slices.ContainsFunc(strings.Split(dir, "/"), func(part string) bool {
		return len(part) > len("test") && strings.HasSuffix(part, "test")
	})
}

// testHelpers: what helps to test is no part of a binary.
func testHelpers(r *repository) []string {
	var out []string
	for _, dir := range r.directories() {
		if !helpsTests(dir) {
			out = append(out, r.importing("testing", func(d string) bool { return d == dir })...)
			for _, library := range testLibraries {
				out = append(out, r.importing(library+"/...", func(d string) bool { return d == dir })...)
			}
		}
	}
	return out
}
