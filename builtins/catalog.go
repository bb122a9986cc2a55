package builtins

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// Builtin is one tool of the platform.
type Builtin struct {
	Spec
	Run tool.ExecutorFunc
	// Check checks the configuration of a tenant's own tool, of an egress class, that
	// runs the built-in. It fails with [tool.Invalid] and a Path within the
	// configuration. Nil where only the platform's tool runs it.
	Check func(config json.RawMessage, class tool.Egress) (warnings []string, err error)
	// For returns the default definition of such a tool; the spec's when nil.
	For func(config json.RawMessage, class tool.Egress) tool.Definition
	// Remote returns the configuration of the mcp tool that a call amounts to; nil where its
	// arguments name none. Nil for built-ins that call no MCP servers.
	Remote func(config, arguments json.RawMessage) json.RawMessage
	// Untrusted says that what it answers comes from sources that others write, such as the web.
	Untrusted bool
	// Secret says that calls may use a credential that no configuration names: a key of the tenant's
	// settings or of the environment, or that of a pipeline.
	Secret bool
}

// Spec is a built-in's definition for the registry. It is data: equal specs have
// equal digests.
type Spec struct {
	Key        string // Stored as the tool's built-in key, and its slug: never renamed.
	Version    string // Semver. Incremented with every change of the definition.
	Definition tool.Definition
	Policy     tool.Policy
	OptIn      bool // Off in a tenant until the tenant switches it on.
}

// Config configures a [Catalog]. Built-ins whose dependencies are missing are left out.
type Config struct {
	// Gate sends all outgoing requests.
	Gate *egress.Gate
	// Reader makes pages readable, for web_fetch.
	Reader Reader
	// SearchProviders are the providers of web_search, in the order of preference.
	// Defaults to [SearchProviders].
	SearchProviders []SearchProvider
	// Secrets opens the credentials that configurations name. Defaults to none.
	Secrets secret.Resolver
	// Settings finds a tenant's credentials by their purpose. Defaults to none.
	Settings secret.Finder
	// Lookup returns an environment variable, for the platform's own keys. Defaults
	// to [os.LookupEnv].
	Lookup func(name string) (string, bool)
	// MCP runs mcp tools, for mcp_call, and CheckMCP checks their configurations.
	// Either both or none.
	MCP      tool.Executor
	CheckMCP func(config json.RawMessage) error
	// Functions are the host's functions, for function_call.
	Functions Functions
	// Sandbox runs the filters of json_transform.
	Sandbox Sandbox
	// Searcher searches pipelines, for retrieval_pipeline.
	Searcher retrieval.Searcher
	// Runs finds runs, for task_status.
	Runs Runs
	// Calls finds calls, for read_result.
	Calls Invocations
	// Spaces keeps spaces, for the built-ins of agents that work in them.
	Spaces Spaces
	// Tools changes and lists the tools of tenants, for manageTools and listTools.
	Tools Tools
	// Schemas is the schema cache; a new one when nil.
	Schemas *schema.Cache
	// Clock returns the current time. Defaults to [time.Now].
	Clock func() time.Time
}

// Catalog has the built-ins by key. It is immutable and safe for concurrent use.
type Catalog struct {
	byKey map[string]Builtin
}

// offer is a built-in, and whether a configuration has what it needs.
type offer struct {
	available bool
	builtin   Builtin
}

// all lists the built-ins.
func (cfg *Config) all() []offer {
	offers := []offer{
		{true, datetimeUtils(cfg.clock())},
		{cfg.Gate != nil, httpRequest(cfg.Gate, cfg.Secrets, cfg.clock())},
		{cfg.Gate != nil, webSearch(cfg.Gate, cfg.searchKeys(), cfg.clock())},
		{cfg.Gate != nil && cfg.Reader != nil, webFetch(cfg.Gate, cfg.Reader, cfg.clock())},
		{cfg.MCP != nil, mcpCall(cfg.MCP, cfg.CheckMCP)},
		{cfg.Sandbox != nil, jsonTransform(cfg.Sandbox)},
		{cfg.Searcher != nil, retrievalPipeline(cfg.Searcher)},
		{cfg.Runs != nil, taskStatus(cfg.Runs)},
		{cfg.Calls != nil, readResult(cfg.Calls)},
		{true, requestInput()},
		{true, awaitSignal()},
		{cfg.Functions != nil, functionCall(cfg.Functions, cfg.schemas())},
		{cfg.Tools != nil, manageTools(cfg.Tools)},
		{cfg.Tools != nil, listTools(cfg.Tools)},
	}
	for _, b := range spaceTools(cfg.Spaces) {
		offers = append(offers, offer{cfg.Spaces != nil, b})
	}
	return offers
}

// New returns the catalog of the built-ins whose dependencies are in cfg.
func New(cfg Config) *Catalog {
	c := &Catalog{byKey: make(map[string]Builtin)}
	for _, o := range cfg.all() {
		if o.available {
			c.byKey[o.builtin.Key] = o.builtin
		}
	}
	return c
}

// Described returns the catalog of all built-ins for describing and validating
// tools only: its executors must not be called. CheckMCP checks the
// configurations of mcp tools.
func Described(checkMCP func(config json.RawMessage) error) *Catalog {
	cfg := Config{CheckMCP: checkMCP}
	c := &Catalog{byKey: make(map[string]Builtin)}
	for _, o := range cfg.all() {
		c.byKey[o.builtin.Key] = o.builtin
	}
	return c
}

func (cfg *Config) clock() func() time.Time {
	if cfg.Clock == nil {
		return time.Now
	}
	return cfg.Clock
}

func (cfg *Config) schemas() *schema.Cache {
	if cfg.Schemas == nil {
		return schema.New(0)
	}
	return cfg.Schemas
}

func (cfg *Config) searchKeys() *searchKeys {
	k := &searchKeys{providers: cfg.SearchProviders, secrets: cfg.Secrets, settings: cfg.Settings, lookup: cfg.Lookup}
	if len(k.providers) == 0 {
		k.providers = SearchProviders()
	}
	if k.lookup == nil {
		k.lookup = os.LookupEnv
	}
	return k
}

// Lookup returns the executor of a built-in.
func (c *Catalog) Lookup(key string) (tool.Executor, bool) {
	b, ok := c.byKey[key]
	if !ok {
		return nil, false
	}
	return b.Run, true
}

// Remote returns the configuration of the mcp tool that a call of a built-in amounts to; nil
// where it amounts to none.
func (c *Catalog) Remote(key string, config, arguments json.RawMessage) json.RawMessage {
	if of := c.byKey[key].Remote; of != nil {
		return of(config, arguments)
	}
	return nil
}

// Untrusted reports whether what a built-in answers comes from sources that others write.
func (c *Catalog) Untrusted(key string) bool { return c.byKey[key].Untrusted }

// Secret reports whether calls of a built-in may use a credential: its own, or that of an MCP server.
func (c *Catalog) Secret(key string) bool { return c.byKey[key].Secret || c.byKey[key].Remote != nil }

// Specs returns the specs of all built-ins, sorted by key, for the registry to update
// its global tools. The caller must not change them.
func (c *Catalog) Specs() []Spec {
	specs := make([]Spec, 0, len(c.byKey))
	for _, key := range slices.Sorted(maps.Keys(c.byKey)) {
		specs = append(specs, c.byKey[key].Spec)
	}
	return specs
}
