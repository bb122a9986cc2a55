package serve

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/executors/artifact"
	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/internal/payload"
	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/platform/api"
	"github.com/toolcrib/toolcrib/platform/appframe"
	"github.com/toolcrib/toolcrib/platform/console"
	"github.com/toolcrib/toolcrib/platform/embeds"
	"github.com/toolcrib/toolcrib/platform/identity"
	"github.com/toolcrib/toolcrib/platform/inputpage"
	"github.com/toolcrib/toolcrib/platform/observe"
	"github.com/toolcrib/toolcrib/platform/publiccall"
	"github.com/toolcrib/toolcrib/platform/sessions"
	"github.com/toolcrib/toolcrib/platform/views"
	"github.com/toolcrib/toolcrib/registry"
	artifacts "github.com/toolcrib/toolcrib/registry/artifact"
	"github.com/toolcrib/toolcrib/registry/mcpserver"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/runs/scheduler"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolembed"
	"github.com/toolcrib/toolcrib/toolsession"
	"github.com/toolcrib/toolcrib/view"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/wire"
	"github.com/toolcrib/toolcrib/worker"
)

// DefaultTaskQueue is the task queue of workflows and activities, unless
// configured otherwise.
const DefaultTaskQueue = "toolcrib"

// HandlerConfig holds the dependencies and settings of the API.
type HandlerConfig struct {
	Store    *store.Store  // Required. The caller closes it.
	Temporal client.Client // Required. The caller closes it.
	// Namespace is the client's. Defaults to [client.DefaultNamespace].
	Namespace string
	// TaskQueue is the workers' task queue. Defaults to [DefaultTaskQueue].
	TaskQueue string
	// MaxUnfinishedRuns bounds the pending and running runs of each tenant, as
	// [runs.Config] has it.
	MaxUnfinishedRuns int
	// MaxQueuedRuns and MaxTenantQueuedRuns bound the runs that have not begun, and MaxQueueAge
	// how long a tenant's may wait, as [runs.Config] has it.
	MaxQueuedRuns, MaxTenantQueuedRuns int
	MaxQueueAge                        time.Duration
	// MaxRequests and MaxTenantRequests bound the requests that are served at
	// once, as [api.Config] has it.
	MaxRequests, MaxTenantRequests int
	// Issuers verify tokens of people, which are accepted beside API keys. The caller closes it.
	Issuers *identity.Issuers
	// KeyLimits bound what each key may send that has no limits of its own, as [api.Config] has it.
	KeyLimits store.Limits
	// PublicURL is where people reach the server: links to pages begin with it. It may have a path, which a proxy passes
	// on or takes off.
	PublicURL string
	// ContentOrigin is another origin of the same server, such as https://content.example.com, for
	// the page in which the console shows apps of tools, and nothing else. PublicURL is required
	// with it. Empty for that page at the console's own origin.
	ContentOrigin string
	// Browsers says how browsers sign in to the console, as [api.Config] has it.
	Browsers api.BrowserConfig
	// CodecOrigins are those of the Temporal UI, whose pages may have payloads decrypted.
	CodecOrigins []string
	// TemporalUI is where people find the workflows of the namespace, as [api.Config] has it.
	TemporalUI string
	// AllowedOrigins are those of pages that may call the API from a browser.
	AllowedOrigins []string
	// ElicitWait is how long the person at an MCP client is asked, as [api.Config] has it.
	ElicitWait time.Duration
	// TaskAfter is how long a call of an MCP client that takes tasks is waited for, as [api.Config] has it.
	TaskAfter time.Duration
	// Runs starts, calls, waits for and cancels runs; see [Runs]. Defaults to one
	// of the handler's own. Another component has to dispatch the starts that
	// it records.
	Runs *runs.Service
	// Schedules runs agents at certain times; see [Schedules]. The caller runs it beside the
	// handler. Defaults to one of the handler's own, which tells Temporal of changes once.
	Schedules *scheduler.Service
	// Files stores files; see [Files]. The caller runs it beside the handler, which sweeps.
	// Defaults to one of the handler's own, with contents in Store.
	Files *file.Service
	// FileConfig configures [Files]; its Store, and PostgreSQL as the last place, are filled in.
	FileConfig file.Config
	// Resolver chooses the versions that calls and runs use; see [Resolver].
	// Defaults to one of the handler's own, and one of Runs's own.
	Resolver *resolver.Resolver
	// Types are the implementation types that tools may have, as [worker.Plugin]
	// has them, which then refuses definitions that name what its workers lack.
	// Defaults to the platform's own, without knowledge of the workers.
	Types executors.Types
	// PayloadKeys encrypt what goes through Temporal, as those of the client and the workers do; nil
	// for none. The API decrypts payloads by them for those who may.
	PayloadKeys *payload.Keyring
	// Keys encrypt credentials. Without any, the API stores none.
	Keys *vault.Keyring
	// Discoverer lists the tools of attached MCP servers; [worker.Plugin] has one.
	// Without one, no server can be attached.
	Discoverer mcpserver.Discoverer
	// Apps reads the pages that MCP servers have for the results of their tools;
	// [worker.Plugin] has one. Without one, none are shown.
	Apps api.Apps
	// CheckWebhook refuses URLs that a tenant's webhooks may not be sent to;
	// [worker.Plugin] has one. Without one, everything but https is refused.
	CheckWebhook func(tenant tool.TenantID, url string) error
	// Artifacts decides whether artifact tools may be published and programs
	// uploaded; [worker.Plugin] has one. The zero value refuses uploads.
	Artifacts artifact.Judge
	// ModelProviders lists the model providers of the workers. If nil, they are
	// unknown, and an agent's model is not checked.
	ModelProviders []string
	// Searcher searches pipelines for the API; [worker.Plugin] has one. Without
	// one, only full-text search works.
	Searcher retrieval.Searcher
	// Middleware lists the names of the workers' middleware. If empty, tools may
	// name any, and the workers refuse unknown names.
	Middleware []string
	// Version of the platform, for the API's description.
	Version string
	// Observer records traces and metrics of requests and of the process.
	// Defaults to none.
	Observer *observe.Observer
	// ShowMetrics serves the observer's metrics at /metrics of the API, without
	// authentication.
	ShowMetrics bool
	Logger      *slog.Logger // Defaults to discarding.
}

var (
	errIncomplete = errors.New("serve: HandlerConfig.Store and Temporal are required")
	errContent    = errors.New("serve: HandlerConfig.ContentOrigin takes a PublicURL of another host")
)

// types returns Types or their default.
func (cfg HandlerConfig) types() executors.Types {
	if cfg.Types == nil {
		return worker.Types(worker.Known{Artifacts: cfg.Artifacts})
	}
	return cfg.Types
}

// resolver returns Resolver or a new one.
func (cfg HandlerConfig) resolver() *resolver.Resolver {
	if cfg.Resolver == nil {
		return Resolver(cfg)
	}
	return cfg.Resolver
}

// Handler assembles the API. Workflows are started with search attributes if
// the namespace has them now.
func Handler(ctx context.Context, cfg HandlerConfig) (http.Handler, error) {
	if cfg.Store == nil || cfg.Temporal == nil {
		return nil, errIncomplete
	}
	if cfg.ContentOrigin != "" && (cfg.PublicURL == "" || host(cfg.PublicURL) == host(cfg.ContentOrigin)) {
		return nil, errContent
	}
	if cfg.TaskQueue == "" {
		cfg.TaskQueue = DefaultTaskQueue
	}
	if cfg.Namespace == "" {
		cfg.Namespace = client.DefaultNamespace
	}
	if cfg.Logger != nil {
		cfg.Logger = slog.New(redact.Handler(cfg.Logger.Handler()))
	}
	cfg.Types, cfg.Resolver = cfg.types(), cfg.resolver()
	if cfg.Files == nil {
		var err error
		if cfg.Files, err = Files(cfg); err != nil {
			return nil, err
		}
	}
	if cfg.Runs == nil {
		var err error
		if cfg.Runs, err = Runs(ctx, cfg); err != nil {
			return nil, err
		}
	}
	if cfg.Schedules == nil {
		var err error
		if cfg.Schedules, err = Schedules(ctx, cfg); err != nil {
			return nil, err
		}
	}
	config := api.Config{
		Store: cfg.Store, Searcher: cfg.Searcher, Registry: newRegistry(cfg.Store, cfg),
		Resolver: cfg.Resolver,
		Temporal: cfg.Temporal, TaskQueue: cfg.TaskQueue, Runs: cfg.Runs, Schedules: cfg.Schedules,
		Files:       cfg.Files,
		Vault:       vault.New(cfg.Store, vault.Options{Keys: cfg.Keys, Logger: cfg.Logger}),
		MaxRequests: cfg.MaxRequests, MaxTenantRequests: cfg.MaxTenantRequests,
		Issuers: cfg.Issuers, KeyLimits: cfg.KeyLimits,
		PublicURL: cfg.PublicURL, CheckWebhook: cfg.CheckWebhook, Browsers: cfg.Browsers, Apps: cfg.Apps,
		AllowedOrigins: cfg.AllowedOrigins, CodecOrigins: cfg.CodecOrigins, PayloadKeys: cfg.PayloadKeys,
		ElicitWait: cfg.ElicitWait, TaskAfter: cfg.TaskAfter, TemporalUI: cfg.TemporalUI,
		Version: cfg.Version, Logger: cfg.Logger,
	}
	if o := cfg.Observer; o != nil {
		o.Collect(observe.Backlog(cfg.Temporal, cfg.Namespace, cfg.TaskQueue))
		config.TracerProvider, config.MeterProvider = o.TracerProvider(), o.MeterProvider()
		if cfg.ShowMetrics {
			config.Metrics = o.Handler()
		}
	}
	answers, err := api.New(config) //nolint:contextcheck // Handlers get theirs with each request.
	if err != nil {
		return nil, err
	}
	pages, err := inputpage.New(inputpage.Config{
		Calls: cfg.Store, Runs: cfg.Runs, Files: cfg.Files, Versions: cfg.Resolver, MeterProvider: config.MeterProvider,
		Logger: cfg.Logger,
	})
	if err != nil {
		return nil, err
	}
	shown, err := views.NewPages(views.Config{Views: cfg.Store, Record: cfg.Store, Tools: cfg.Resolver}, cfg.Logger)
	if err != nil {
		return nil, err
	}
	calls, err := publiccall.New(publiccall.Config{Tools: cfg.Resolver, Runs: cfg.Runs, Logger: cfg.Logger})
	if err != nil {
		return nil, err
	}
	submitted, err := sessions.New(sessions.Config{Sessions: cfg.Store, Record: cfg.Store, Calls: calls})
	if err != nil {
		return nil, err
	}
	framed, err := embeds.New(embeds.Config{Embeds: cfg.Store, Record: cfg.Store, Calls: calls})
	if err != nil {
		return nil, err
	}
	prefix := prefixOf(cfg.PublicURL)
	ours, err := console.Handler(console.Options{
		Prefix: prefix, Development: cfg.Browsers.PlainHTTP, TLS: strings.HasPrefix(cfg.PublicURL, "https://"),
		ContentOrigin: cfg.ContentOrigin,
	})
	if err != nil {
		return nil, err
	}
	all := withPages(answers, pages, shown, sessions.NewPages(submitted, cfg.Store), embeds.NewPages(framed),
		under(prefix, ours))
	return withContent(cfg, mounted(prefix, all)), nil
}

// withContent serves the page of apps alone at the content origin, and the rest elsewhere.
func withContent(cfg HandlerConfig, rest http.Handler) http.Handler {
	if cfg.ContentOrigin == "" {
		return rest
	}
	return appframe.Origin(host(cfg.ContentOrigin), appframe.Options{
		Around: origin(cfg.PublicURL), TLS: strings.HasPrefix(cfg.ContentOrigin, "https://"),
	}, rest)
}

// withPages serves the pages that people without an account can open, and the console, beside the API.
func withPages(answers, pages, shown, submitted, framed, shell http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, input.Path):
			pages.ServeHTTP(w, r)
		case strings.HasPrefix(r.URL.Path, view.Path):
			shown.ServeHTTP(w, r)
		case strings.HasPrefix(r.URL.Path, toolsession.Path):
			submitted.ServeHTTP(w, r)
		case strings.HasPrefix(r.URL.Path, toolembed.Path):
			framed.ServeHTTP(w, r)
		case console.Serves(r.URL.Path):
			shell.ServeHTTP(w, r)
		default:
			answers.ServeHTTP(w, r)
		}
	})
}

// newRegistry returns the registry with the checks that definitions must pass.
func newRegistry(s registry.Store, cfg HandlerConfig) *registry.Registry {
	judge := cfg.Artifacts
	return registry.New(s, registry.Options{
		Resolver:   cfg.Resolver,
		Types:      cfg.Types,
		Discoverer: cfg.Discoverer,
		Middleware: func(name string) bool { return len(cfg.Middleware) == 0 || slices.Contains(cfg.Middleware, name) },
		Builtins:   described.Complete,
		Pipelines:  pipelines(cfg.Store),
		Artifacts: artifacts.Rules{
			CheckProgram: judge.CheckProgram, Compile: judge.CompileProgram, CompileFor: judge.CompileUploaded,
			CheckConfig: judge.CheckUploaded,
		},
		Advice: advice(cfg.Store, cfg.ModelProviders),
	})
}

// advice returns the checks that warn authors.
func advice(s *store.Store, models []string) registry.Advice {
	a := registry.Advice{ModelProviders: models}
	if s == nil {
		return a
	}
	a.Approvable = func(ctx context.Context, tenant tool.TenantID) (bool, error) {
		n, err := s.CountApprovers(ctx, tenant, []string{wait.DecidePermission}, "")
		return n > 0, err
	}
	a.HasCredential = func(ctx context.Context, tenant tool.TenantID, ref string) (bool, error) {
		_, err := s.FindCredential(ctx, tenant, ref)
		if tool.KindOf(err) == tool.NotFound {
			return false, nil
		}
		return err == nil, err
	}
	a.Embeds = func(ctx context.Context, tenant tool.TenantID, pipeline, mode string) (bool, error) {
		p, err := s.FindPipeline(ctx, tenant, pipeline)
		return cmp.Or(retrieval.Mode(mode), p.Search).Embeds(), err
	}
	a.Permitted = func(ctx context.Context, tenant tool.TenantID, permission string) (bool, error) {
		keys, err := s.ListKeys(ctx, tenant)
		if err != nil ||
			slices.ContainsFunc(keys, func(k store.Key) bool { return slices.Contains(k.Permissions, permission) }) {
			return true, err
		}
		roles, err := s.ListRoles(ctx, tenant)
		return slices.ContainsFunc(roles, func(r store.Role) bool { return slices.Contains(r.Permissions, permission) }), err
	}
	return a
}

// pipelines returns a function that checks whether a tenant has a pipeline.
func pipelines(s *store.Store) func(ctx context.Context, tenant tool.TenantID, slugOrID string) error {
	if s == nil {
		return nil
	}
	return func(ctx context.Context, tenant tool.TenantID, slugOrID string) error {
		_, err := s.FindPipeline(ctx, tenant, slugOrID)
		return err
	}
}

// searchAttributes returns which search attributes of workflows the namespace has. If that cannot be
// determined, workflows start without them.
func searchAttributes(ctx context.Context, c client.Client, namespace string) wire.Attributes {
	have, err := c.OperatorService().ListSearchAttributes(ctx,
		&operatorservice.ListSearchAttributesRequest{Namespace: namespace})
	if err != nil {
		return wire.Attributes{}
	}
	all := func(names ...string) bool {
		for _, name := range names {
			if have.GetCustomAttributes()[name] != enums.INDEXED_VALUE_TYPE_KEYWORD {
				return false
			}
		}
		return true
	}
	return wire.Attributes{
		Owner: all(wire.TenantAttribute, wire.AgentAttribute),
		Phase: all(wire.GraphAttribute, wire.PhaseAttribute, wire.WaitingAttribute),
	}
}
