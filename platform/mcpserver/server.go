package mcpserver

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.opentelemetry.io/otel/trace"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/runs"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolset"
	"github.com/toolcrib/toolcrib/wait"
)

// Path is where the server is mounted.
const Path = "/mcp"

// Tools decides which tools a principal may use. [resolver.Resolver] implements it.
type Tools interface {
	List(
		ctx context.Context, p tool.Principal, mode tool.Mode, f resolver.Filter, page resolver.Page,
	) (items []resolver.Item, next string, err error)
	Resolve(ctx context.Context, req resolver.Request) (*resolver.Resolved, error)
	Explain(ctx context.Context, req resolver.Request) (resolver.Explanation, error)
	Versions(ctx context.Context, tenant tool.TenantID, items []resolver.Item) ([]*tool.Version, error)
}

// Runs makes calls. [runs.Service] implements it.
type Runs interface {
	Call(ctx context.Context, n runs.NewCall) (runs.Call, error)
	Wait(ctx context.Context, c runs.Call, timeout time.Duration, wakes runs.Wakes) (*tool.Result, bool, error)
	Cancel(ctx context.Context, tenant tool.TenantID, runID string) (agent.Run, error)
	Decide(ctx context.Context, d runs.Decision) (wait.Approval, error)
	SubmitResult(ctx context.Context, sub runs.Submission) (runs.Submitted, error)
}

// Record has what is recorded of runs, and toolsets. [store.Store] implements it.
type Record interface {
	FindOffer(ctx context.Context, tenant tool.TenantID, slug string) (toolset.Offer, error)
	FindRun(ctx context.Context, tenant tool.TenantID, id string) (agent.Run, error)
	FindCallEnd(ctx context.Context, tenant tool.TenantID, runID string) (agent.CallEnd, error)
	ReadStream(ctx context.Context, tenant tool.TenantID, runID string, after int64, limit int) (store.StreamPage, error)
	FindApproval(ctx context.Context, tenant tool.TenantID, id string) (wait.Approval, error)
	FindCall(ctx context.Context, tenant tool.TenantID, id string) (wait.Call, error)
	ListRuns(ctx context.Context, tenant tool.TenantID, q store.RunQuery) ([]agent.Run, error)
	ListApprovals(ctx context.Context, q wait.Query) ([]wait.Approval, error)
	ListCalls(ctx context.Context, q wait.CallQuery) ([]wait.Call, error)
	ListAgents(ctx context.Context, tenant tool.TenantID, afterSlug string, limit int) ([]agent.Agent, error)
	FindAgent(ctx context.Context, tenant tool.TenantID, slugOrID string) (agent.Agent, error)
	FindAgentVersions(ctx context.Context, tenant tool.TenantID, id string) (agent.Agent, []agent.Version, error)
}

// Config holds the dependencies and settings of a [Server].
type Config struct {
	Tools  Tools      // Required.
	Runs   Runs       // Required.
	Record Record     // Required.
	Wakes  runs.Wakes // Wakes waiters when runs change. Required.
	// Views publishes views, for callers whose tenant allows it. Without it, no client is offered the tools that do.
	Views Views
	// ListPermission and CallPermission are those that listing and calling tools take. None when
	// empty.
	ListPermission, CallPermission string
	// PublishPermission is the one that the tools for views take, beside CallPermission. None when empty.
	PublishPermission string
	// AgentPermission is the one that seeing the instructions of agents, as prompts, takes. None when empty.
	AgentPermission string
	// DecidePermission is the one that deciding on approvals takes, beside those of the approval. None when
	// empty.
	DecidePermission string
	// AuthorizationServers are the issuers whose tokens are accepted beside keys, as the metadata names
	// them. None when empty.
	AuthorizationServers []string
	// Stopping returns the channel that is closed when the process that serves a request begins to
	// stop. Defaults to one that never is.
	Stopping func(ctx context.Context) <-chan struct{}
	// MaxListed is how many tools a key may have before its clients are offered the tools that find others
	// instead of all of them, unless their address asks for another way. Defaults to [DefaultMaxListed].
	MaxListed int
	// Version of the platform, as clients see it. Defaults to "dev".
	Version string
	// CallWait is how long a call is waited for; it goes on beyond. Defaults to [DefaultCallWait].
	CallWait time.Duration
	// ElicitWait is how long the person at a client is asked before a call that waits for them answers with
	// where to answer. Defaults to [DefaultElicitWait].
	ElicitWait time.Duration
	// TaskAfter is how long a call is waited for before a client that takes tasks, in 2026-07-28, gets one. Defaults to
	// [DefaultTaskAfter].
	TaskAfter time.Duration
	// SessionIdle is after what time without a request a session ends. Defaults to
	// [DefaultSessionIdle].
	SessionIdle time.Duration
	// MaxSessions bounds the sessions of one key at this process: a further one ends the one that is
	// idle for longest. Defaults to [DefaultMaxSessions].
	MaxSessions int
	// MaxBodyBytes bounds a request. Defaults to [DefaultMaxBodyBytes].
	MaxBodyBytes int64
	// Heartbeat is how often an open answer sends a comment, and the key behind it is checked again.
	// Defaults to 15 s.
	Heartbeat time.Duration
	// Watch is how often the list of tools of a client that follows its session is looked at, to tell it of
	// changes. Defaults to 5 s.
	Watch time.Duration
	// WriteTimeout is how long a write to a client may take. Defaults to 10 s.
	WriteTimeout time.Duration
	Logger       *slog.Logger // Defaults to discarding.
}

// Defaults of [Config].
const (
	DefaultCallWait = 5 * time.Minute
	// DefaultElicitWait is less than the minute after which clients commonly give a call up.
	DefaultElicitWait = 50 * time.Second
	// DefaultTaskAfter is longer than most calls take.
	DefaultTaskAfter    = 5 * time.Second
	DefaultMaxListed    = 200
	DefaultSessionIdle  = 30 * time.Minute
	DefaultMaxSessions  = 64
	DefaultMaxBodyBytes = 1 << 20
)

// maxCompiled bounds the compiled schemas of prompts that are kept.
const maxCompiled = 256

func (c Config) withDefaults() Config {
	if c.Stopping == nil {
		c.Stopping = func(context.Context) <-chan struct{} { return nil }
	}
	if c.MaxListed <= 0 {
		c.MaxListed = DefaultMaxListed
	}
	if c.Version == "" {
		c.Version = "dev"
	}
	if c.CallWait <= 0 {
		c.CallWait = DefaultCallWait
	}
	if c.ElicitWait <= 0 {
		c.ElicitWait = DefaultElicitWait
	}
	if c.TaskAfter <= 0 {
		c.TaskAfter = DefaultTaskAfter
	}
	if c.SessionIdle <= 0 {
		c.SessionIdle = DefaultSessionIdle
	}
	if c.MaxSessions <= 0 {
		c.MaxSessions = DefaultMaxSessions
	}
	if c.MaxBodyBytes <= 0 {
		c.MaxBodyBytes = DefaultMaxBodyBytes
	}
	if c.Heartbeat <= 0 {
		c.Heartbeat = 15 * time.Second
	}
	if c.Watch <= 0 {
		c.Watch = 5 * time.Second
	}
	if c.WriteTimeout <= 0 {
		c.WriteTimeout = 10 * time.Second
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

// Caller is who makes a request.
type Caller struct {
	Principal tool.Principal
	TraceID   string // Of the request.
	Base      string // Scheme and host by which the client reaches the server; empty where that is unknown.
	// Offer is the toolset at whose address the request came; nil for all tools of the key.
	Offer *toolset.Offer
	// Check fails where the key of the request is valid no more. Long answers ask it.
	Check func(ctx context.Context) error
	// Wait, unless nil, takes one of the places of requests that wait, up to leave. It answers the request and
	// reports false where none is free.
	Wait func(w http.ResponseWriter, r *http.Request) (leave func(), ok bool)
	// Refused, unless nil, records that an operation of the API on an object was denied, and returns the
	// failure to answer with.
	Refused func(ctx context.Context, operation, object string, err error) error

	span trace.SpanContext
	gone <-chan struct{} // Closed once the request has ended.
	// handlers are what works on the request.
	handlers *handlers
	out      *stream // The answer.
	// task is the method of tasks that the request has, or tools/call for a call that is to be a task; empty for another
	// request. tasks says that its revision has tasks, extension that task is a method of [tasksExtension].
	task             string
	tasks, extension bool
	// listener is the server of a request that listens to changes, which others do not share; nil for another request.
	listener *mcp.Server
	// catalogue is how the client wants tools to be listed: see [catalogueOf].
	catalogue string
}

// owner names whom a session belongs to: a key, at one address.
func (c *Caller) owner() string {
	owner := string(c.Principal.Tenant) + " " + c.Principal.Subject
	if c.Offer != nil {
		owner += " " + c.Offer.ID
	}
	return owner
}

// within returns the tools that the caller is limited to; nil for all.
func (c *Caller) within() *resolver.Set {
	if c.Offer == nil {
		return nil
	}
	set := resolver.Set(c.Offer.Tools)
	return &set
}

// filter returns the filter of the caller's lists.
func (c *Caller) filter() resolver.Filter { return resolver.Filter{Outside: true, Within: c.within()} }

// Server serves MCP to the tenants of an installation. It is safe for concurrent use.
type Server struct {
	cfg        Config
	log        *slog.Logger
	sessions   *sessions
	watches    *watches
	catalogues *catalogues
	schemas    *schema.Cache
	stateful   http.Handler
	stateless  http.Handler
}

// New returns a server.
func New(cfg Config) (*Server, error) {
	if cfg.Tools == nil || cfg.Runs == nil || cfg.Record == nil || cfg.Wakes == nil {
		return nil, errors.New("mcpserver: Config.Tools, Runs, Record and Wakes are required")
	}
	s := &Server{cfg: cfg.withDefaults()}
	s.log = s.cfg.Logger
	s.sessions = newSessions(s.cfg.MaxSessions, s.cfg.SessionIdle)
	s.watches = newWatches(&s.cfg, s.gateOpen, s.seesAgents)
	s.catalogues = newCatalogues(s.cfg.Tools)
	s.schemas = schema.New(maxCompiled)
	// The library's own messages hold what clients sent.
	quiet := slog.New(slog.DiscardHandler)
	// Servers on loopback addresses are commonly behind a proxy: [CheckPlace] is about pages alone.
	options := mcp.StreamableHTTPOptions{
		Logger: quiet, MaxRequestBodyBytes: s.cfg.MaxBodyBytes, DisableLocalhostProtection: true,
	}
	known := s.protocol(nil) // Answers what needs no session.
	s.stateful = handed(mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		if r.Header.Get(sessionHeader) != "" || r.Method != http.MethodPost {
			return known
		}
		return s.protocol(&session{closing: make(chan struct{})})
	}, &options))
	alone := options
	alone.Stateless, alone.PropagateRequestCancellation = true, true
	s.stateless = handed(mcp.NewStreamableHTTPHandler(func(r *http.Request) *mcp.Server {
		if c, ok := r.Context().Value(callerKey{}).(*Caller); ok && c.listener != nil {
			return c.listener
		}
		return known
	}, &alone))
	return s, nil
}

// protocol returns a server of the protocol, for a session or for requests that stand alone.
func (s *Server) protocol(of *session) *mcp.Server {
	options := &mcp.ServerOptions{
		Instructions: instructions, Logger: slog.New(slog.DiscardHandler),
		Capabilities: &mcp.ServerCapabilities{
			Tools:     &mcp.ToolCapabilities{ListChanged: true},
			Resources: &mcp.ResourceCapabilities{},
			Prompts:   &mcp.PromptCapabilities{ListChanged: true}, Completions: &mcp.CompletionCapabilities{},
		},
	}
	if of != nil {
		options.GetSessionID = of.name
	}
	server := mcp.NewServer(&mcp.Implementation{
		Name: "toolcrib", Title: "Toolcrib", Version: s.cfg.Version,
	}, options)
	server.AddReceivingMiddleware(s.receive(of))
	if of != nil {
		of.server = server
	}
	return server
}

// instructions are what a client may show its model of the server.
const instructions = "Every call is recorded and runs to its end, also where the connection breaks. A call that " +
	"waits for an approval answers with where to give it: do not call the tool again meanwhile. Of a large answer the " +
	"beginning and the end are shown; read the linked resource for all of it."

// callerKey carries the caller of a request to [handed].
type callerKey struct{}

// handed passes the caller of a request on to the library, which keeps sessions apart by it and hands
// it to the functions that answer.
func handed(next http.Handler) http.Handler {
	verify := func(ctx context.Context, _ string, _ *http.Request) (*auth.TokenInfo, error) {
		c, ok := ctx.Value(callerKey{}).(*Caller)
		if !ok {
			return nil, auth.ErrInvalidToken
		}
		return &auth.TokenInfo{UserID: c.owner(), Extra: map[string]any{callerMember: c}}, nil
	}
	return auth.RequireBearerToken(verify, &auth.RequireBearerTokenOptions{AllowMissingExpiration: true})(next)
}

const callerMember = "caller"

// callerOf returns the caller of a request, as [handed] passed it.
func callerOf(req mcp.Request) (*Caller, bool) {
	extra := req.GetExtra()
	if extra == nil || extra.TokenInfo == nil {
		return nil, false
	}
	c, ok := extra.TokenInfo.Extra[callerMember].(*Caller)
	return c, ok
}
