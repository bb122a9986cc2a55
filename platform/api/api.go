package api

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/internal/payload"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/platform/embeds"
	"github.com/toolcrib/toolcrib/platform/identity"
	"github.com/toolcrib/toolcrib/platform/publiccall"
	"github.com/toolcrib/toolcrib/platform/sessions"
	"github.com/toolcrib/toolcrib/platform/views"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/runs/reconcile"
	"github.com/toolcrib/toolcrib/runs/scheduler"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/webhook"
)

// Config holds the dependencies and settings of the API.
type Config struct {
	Store    *store.Store
	Registry *registry.Registry
	Resolver *resolver.Resolver
	// Vault stores credentials. Defaults to one without keys, which refuses to.
	Vault *vault.Vault
	// CheckWebhook refuses URLs that a tenant's webhooks may not be sent to. Defaults
	// to refusing everything but https.
	CheckWebhook func(tenant tool.TenantID, url string) error
	// Apps reads the pages that MCP servers have for the results of their tools. Nil shows none.
	Apps Apps
	// Retrieval stores pipelines and documents. Defaults to Store.
	Retrieval retrieval.Store
	// Searcher answers queries of pipelines. Defaults to full-text search only.
	Searcher retrieval.Searcher
	// Temporal is asked about runs and workers.
	Temporal client.Client
	// TaskQueue is the task queue of the workers that run Toolcrib's workflows.
	TaskQueue string
	// Runs starts, calls, waits for and cancels runs. Defaults to a service of its
	// own over Store, Resolver, Temporal and TaskQueue.
	Runs *runs.Service
	// Schedules runs agents at certain times. Defaults to a service of its own, as Runs.
	Schedules *scheduler.Service
	// Files stores files. Defaults to a service of its own, with contents in Store.
	Files *file.Service
	// Version of the platform, as the description states it. Defaults to "dev".
	Version string
	// RequestTimeout bounds a request. Defaults to [DefaultRequestTimeout].
	RequestTimeout time.Duration
	// MaxBodyBytes bounds a request's body; definitions may be
	// [MaxApplyBytes]. Defaults to [DefaultMaxBodyBytes].
	MaxBodyBytes int64
	// MaxRequests bounds the requests that are served at once; others are
	// unavailable. Streams do not count. Defaults to [DefaultMaxRequests].
	MaxRequests int
	// MaxTenantRequests bounds those of each tenant; others are rate_limited.
	// Defaults to [DefaultMaxTenantRequests], or a quarter of MaxRequests.
	MaxTenantRequests int
	// Issuers verify tokens of people, which are accepted beside API keys. Defaults to none. The caller
	// closes it.
	Issuers *identity.Issuers
	// KeyLimits bound what each API key and each person with a token may send, where a key has no limits
	// of its own. Defaults to none.
	KeyLimits store.Limits
	// TracerProvider makes a span of each request. Defaults to none.
	TracerProvider trace.TracerProvider
	// MeterProvider counts requests. Defaults to none.
	MeterProvider metric.MeterProvider
	// Metrics is served at /metrics, without authentication. Nil serves nothing
	// there.
	Metrics http.Handler
	// PublicURL is where people reach the server, such as https://tools.example.com: links to
	// pages begin with it. Empty for links without scheme and host.
	PublicURL string
	// PayloadKeys decrypt payloads of workflows for those who may, and encrypt them. Nil for none:
	// what is encrypted is then refused.
	PayloadKeys *payload.Keyring
	// CodecOrigins are the origins of the Temporal UI, whose pages may have payloads decrypted from
	// a browser, and call nothing else. None when empty.
	CodecOrigins []string
	// TemporalUI is where people find the workflows of a namespace, such as
	// https://temporal.example.com/namespaces/toolcrib. Empty where that is not known.
	TemporalUI string
	// AllowedOrigins are the origins, such as https://app.example.com, of pages that may call
	// the API from a browser. None when empty.
	AllowedOrigins []string
	// Browsers says how browsers sign in.
	Browsers BrowserConfig
	// Streams configures streams of events.
	Streams StreamConfig
	// ElicitWait is how long the person at an MCP client is asked what a call waits for. Defaults to
	// that of package mcpserver.
	ElicitWait time.Duration
	// TaskAfter is how long a call of an MCP client that takes tasks is waited for before it gets one, as
	// [mcpserver.Config] has it.
	TaskAfter time.Duration
	// Logger receives a line for each request. Defaults to discarding it.
	Logger *slog.Logger
}

// Defaults and limits.
const (
	DefaultRequestTimeout = 75 * time.Second
	DefaultMaxBodyBytes   = 1 << 20
	MaxApplyBytes         = 8 << 20
)

func (c Config) withDefaults() Config {
	if c.Version == "" {
		c.Version = "dev"
	}
	if c.RequestTimeout <= 0 {
		c.RequestTimeout = DefaultRequestTimeout
	}
	if c.MaxBodyBytes <= 0 {
		c.MaxBodyBytes = DefaultMaxBodyBytes
	}
	if c.MaxRequests <= 0 {
		c.MaxRequests = DefaultMaxRequests
	}
	if c.MaxTenantRequests <= 0 {
		c.MaxTenantRequests = max(1, min(DefaultMaxTenantRequests, c.MaxRequests/4))
	}
	c.Streams = c.Streams.withDefaults()
	if c.Retrieval == nil {
		c.Retrieval = c.Store
	}
	if c.Searcher == nil {
		c.Searcher = retrieval.NewEngine(c.Retrieval, nil)
	}
	if c.Vault == nil && c.Store != nil {
		c.Vault = vault.New(c.Store, vault.Options{Logger: c.Logger})
	}
	if c.CheckWebhook == nil {
		c.CheckWebhook = checkWebhookURL
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

func (c Config) validate() error {
	if err := checkOrigins(c.AllowedOrigins); err != nil {
		return fmt.Errorf("api: Config.AllowedOrigins: %w", err)
	}
	if err := checkOrigins(c.CodecOrigins); err != nil {
		return fmt.Errorf("api: Config.CodecOrigins: %w", err)
	}
	if c.Store == nil || c.Registry == nil || c.Resolver == nil || c.Temporal == nil || c.TaskQueue == "" {
		return errors.New("api: Config.Store, Registry, Resolver, Temporal and TaskQueue are required")
	}
	return nil
}

type server struct {
	cfg     Config
	log     *slog.Logger
	metrics *metrics
	runs    *runs.Service
	records *reconcile.Reconciler // Looks at single runs.
	pollers *pollers
	hub     *hub
	streams *places
	topics  *places // Of streams of topics.
	// connections are the streams of topics.
	connections *connections
	requests    *places
	messages    *places // Of MCP clients, while they are read, and those that do not wait.
	shares      *shares
	webhooks    *webhook.Service
	schedules   *scheduler.Service
	files       *file.Service
	views       *views.Service
	sessions    *sessions.Service
	embeds      *embeds.Service
	api         huma.API

	tenantsMu sync.Mutex
	tenants   map[string]tool.TenantID // By slug, of tokens.
}

// New returns the handler that serves the API.
func New(cfg Config) (http.Handler, error) {
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	s := &server{cfg: cfg.withDefaults(), shares: newShares(cfg.KeyLimits), tenants: map[string]tool.TenantID{}}
	s.log = s.cfg.Logger
	s.pollers = &pollers{temporal: s.cfg.Temporal, queue: s.cfg.TaskQueue}
	var err error
	if s.metrics, err = newMetrics(s.cfg.MeterProvider); err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	s.records, err = reconcile.New(reconcile.Config{
		Store: s.cfg.Store, Temporal: s.cfg.Temporal, MeterProvider: s.cfg.MeterProvider, Logger: s.log,
	})
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	if s.files = s.cfg.Files; s.files == nil {
		s.files, err = file.New(file.Config{
			Store: s.cfg.Store, Contents: []file.Contents{s.cfg.Store.FileContents()}, Logger: s.log,
		})
		if err != nil {
			return nil, fmt.Errorf("api: %w", err)
		}
	}
	if s.runs = s.cfg.Runs; s.runs == nil {
		s.runs, err = runs.New(runs.Config{
			Store: s.cfg.Store, Resolver: s.cfg.Resolver, Reconciler: s.records, Temporal: s.cfg.Temporal,
			TaskQueue: s.cfg.TaskQueue, Files: s.files, Logger: s.log,
		})
		if err != nil {
			return nil, fmt.Errorf("api: %w", err)
		}
	}
	if s.schedules = s.cfg.Schedules; s.schedules == nil {
		s.schedules, err = scheduler.New(scheduler.Config{
			Store: s.cfg.Store, Temporal: s.cfg.Temporal, TaskQueue: s.cfg.TaskQueue, Logger: s.log,
		})
		if err != nil {
			return nil, fmt.Errorf("api: %w", err)
		}
	}
	s.hub = newHub(s.cfg.Store.Listen, s.log)
	if s.views, err = views.NewService(views.Config{
		Views: s.cfg.Store, Record: s.cfg.Store, Tools: s.cfg.Resolver, Runs: s.runs,
	}); err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	calls, err := publiccall.New(publiccall.Config{
		Tools: s.cfg.Resolver, Runs: s.runs, Wakes: s.hub, Logger: s.log,
	})
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	s.sessions, err = sessions.New(sessions.Config{Sessions: s.cfg.Store, Record: s.cfg.Store, Calls: calls})
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	s.embeds, err = embeds.New(embeds.Config{Embeds: s.cfg.Store, Record: s.cfg.Store, Calls: calls})
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	s.webhooks = webhook.NewService(s.cfg.Store, s.cfg.Vault, s.cfg.CheckWebhook)
	s.streams = newPlaces(s.cfg.Streams.PerTenant, manyStreams)
	s.topics = newPlaces(s.cfg.Streams.TopicsPerTenant, manyTopics)
	s.connections = &connections{of: map[string]*connection{}}
	s.requests = newPlaces(s.cfg.MaxTenantRequests, manyRequests)
	s.messages = newPlaces(s.cfg.MaxTenantRequests, manyRequests)
	router := chi.NewMux()
	router.Use(allowOrigins(s.cfg.AllowedOrigins, s.cfg.CodecOrigins))
	router.Use(s.trace, s.logRequests, s.recoverPanics, limitHead, s.limitRequests, s.limitTime, middleware.GetHead)
	router.NotFound(refusePath)
	router.MethodNotAllowed(refuseMethod(router))
	s.api = humachi.New(router, s.describe())
	if s.cfg.Metrics != nil {
		router.Method(http.MethodGet, "/metrics", s.cfg.Metrics)
	}
	s.registerHealth()
	s.registerProblems()
	s.registerApply()
	s.registerDiffs()
	s.registerOpenAPI()
	s.registerTools()
	s.registerMCPServers()
	s.registerArtifacts()
	s.registerAgents()
	s.registerRuns()
	s.registerNodes()
	s.registerGraphs()
	s.registerEvents()
	s.registerLive()
	s.registerOverview()
	s.registerSearch()
	s.registerCalls()
	s.registerToolTests()
	s.registerInvocations()
	s.registerToolRuns()
	s.registerApprovals()
	s.registerGrants()
	s.registerPendingCalls()
	s.registerInputRequests()
	s.registerFiles()
	s.registerConversations()
	s.registerSessions()
	s.registerMe()
	s.registerMarkdown()
	s.registerKeys()
	s.registerRoles()
	s.registerCredentials()
	s.registerPipelines()
	s.registerTenants()
	s.registerWebhooks()
	s.registerSpaces()
	s.registerSchedules()
	s.registerUsage()
	s.registerPrices()
	s.registerBudgets()
	s.registerQuotas()
	s.registerProfiles()
	s.registerToolsets()
	s.registerViews()
	s.registerToolSessions()
	s.registerEmbeds()
	s.registerCodec()
	s.registerAudit()
	for _, name := range []string{"ErrorModel", "ErrorDetail"} { // The framework's; no answer has them.
		delete(s.api.OpenAPI().Components.Schemas.Map(), name)
	}
	listTypes(s.api.OpenAPI(), s.cfg.Registry.Types().Names())
	describePayloads(s.api.OpenAPI())
	listActions(s.api.OpenAPI())
	describeWebhooks(s.api.OpenAPI())
	addExamples(s.api.OpenAPI())
	if err := s.registerDocs(router); err != nil {
		return nil, err
	}
	if err := s.registerMCP(router); err != nil {
		return nil, err
	}
	return router, nil
}

// setUpFramework makes the framework match members of bodies case-sensitively:
// a member in another case would be decoded without validation if the right one
// is beside it. It also makes the framework describe lists as never null. Both
// settings hold for the whole process.
var setUpFramework = sync.OnceFunc(func() {
	huma.ValidateStrictCasing, huma.DefaultArrayNullable = true, false
})

// describe configures the framework: its validation, and none of its links,
// docs pages and formats.
func (s *server) describe() huma.Config {
	setUpFramework()
	c := huma.DefaultConfig("Toolcrib", s.cfg.Version)
	c.Formats = map[string]huma.Format{
		jsonType: {Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: unmarshal},
		"json":   {Marshal: huma.DefaultJSONFormat.Marshal, Unmarshal: unmarshal},
	}
	c.Info.Description = "Tools for agents: registered, resolved, run durably, and recorded.\n\n" +
		"An optional member of a request's body may be `null`, which means the same as leaving it out."
	c.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	c.CreateHooks = nil
	c.DocsPath, c.SchemasPath = "", ""
	c.RejectUnknownQueryParameters = true
	c.Transformers = []huma.Transformer{s.transform}
	c.Servers = []*huma.Server{{URL: s.root(), Description: "The server that this description comes from"}}
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"key": {
			Type: "http", Scheme: "bearer", Description: "An API key, tck_…, or a token of an issuer that the server accepts",
		},
	}
	return c
}

// root is the path that the API is under, where people reach the server.
func (s *server) root() string {
	u, err := url.Parse(s.cfg.PublicURL)
	if err != nil {
		return "/"
	}
	return cmp.Or(strings.TrimRight(u.Path, "/"), "/")
}

// schemaName names a type in the description: types of the wire by their own
// name, those of the vocabulary with their package before it.
func schemaName(t reflect.Type, hint string) string {
	name := huma.DefaultSchemaNamer(t, hint)
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch path.Base(t.PkgPath()) {
	case "agent":
		return "Agent" + name
	case "tool":
		return "Tool" + name
	default:
		return name
	}
}
