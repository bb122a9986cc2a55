package api

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humachi"
	"github.com/go-chi/chi/v5"
	"github.com/go-chi/chi/v5/middleware"

	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// OperatorTokenPrefix begins the text of every token of an operator, for secret scanners.
const OperatorTokenPrefix = "tco_"

// OperatorTokens are the names of operators by the digests of their tokens.
type OperatorTokens map[[sha256.Size]byte]string

// OperatorConfig holds the dependencies and settings of the operators' API.
type OperatorConfig struct {
	// Platform is the database as its owner.
	Platform *store.Platform
	// Registry is that of the global tools, as for [registry.Registry.ForPlatform].
	Registry *registry.Registry
	// Tokens are those that are accepted. There must be one.
	Tokens OperatorTokens
	// Version of the platform, as the description states it. Defaults to "dev".
	Version string
	// Logger receives a line for each request. Defaults to discarding it.
	Logger *slog.Logger
}

// operators serves the operators' API, with the framework of the API for tenants.
type operators struct {
	*server
	platform *store.Platform
	tools    *registry.Registry
	tokens   OperatorTokens
}

// NewOperator returns the handler of the API for operators: the tools of the platform, what it decides about them
// for every tenant, and the tenants. It acts as the owner of the database, which the API for tenants
// cannot: it is a server of its own, on an address that operators alone reach. What it changes is in the
// platform's audit log, by the name of the operator's token.
func NewOperator(cfg OperatorConfig) (http.Handler, error) {
	if cfg.Platform == nil || cfg.Registry == nil || len(cfg.Tokens) == 0 {
		return nil, errors.New("api: OperatorConfig.Platform, Registry and Tokens are required")
	}
	s := &server{cfg: Config{
		Version: cfg.Version, Logger: cfg.Logger, RequestTimeout: time.Minute,
	}.withDefaults()}
	s.log = s.cfg.Logger
	var err error
	if s.metrics, err = newMetrics(nil); err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}
	o := &operators{server: s, platform: cfg.Platform, tools: cfg.Registry, tokens: cfg.Tokens}
	router := chi.NewMux()
	router.Use(s.trace, s.logRequests, s.recoverPanics, limitHead, s.limitRequests, s.limitTime, middleware.GetHead)
	router.NotFound(refusePath)
	router.MethodNotAllowed(refuseMethod(router))
	described := s.describe()
	described.Info.Title = "Toolcrib for operators"
	described.OpenAPIPath = "/openapi"
	s.api = humachi.New(router, described)
	router.Get("/healthz", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	o.registerGlobalTools()
	o.registerPlatformTenants()
	for _, name := range []string{"ErrorModel", "ErrorDetail"} { // The framework's; no answer has them.
		delete(s.api.OpenAPI().Components.Schemas.Map(), name)
	}
	return router, nil
}

// operate registers an endpoint for operators. Its principal is the platform's, under the operator's name.
func operate[I, O any](o *operators, r route, fn func(ctx context.Context, p tool.Principal, in *I) (*O, error)) {
	op := huma.Operation{
		OperationID: r.id, Method: r.method, Path: r.path, Summary: r.summary, Description: r.detail,
		Tags: []string{r.tag}, DefaultStatus: r.status, MaxBodyBytes: MaxApplyBytes,
		Security:        []map[string][]string{{"key": {}}},
		Middlewares:     huma.Middlewares{o.authenticate, o.receive},
		Responses:       map[string]*huma.Response{"default": o.problemResponse()},
		BodyReadTimeout: -1, // The body was read before, within the server's time.
	}
	huma.Register(o.api, op, func(ctx context.Context, in *I) (*O, error) {
		p, ok := ctx.Value(principalKey{}).(tool.Principal)
		if !ok {
			return nil, o.problem(ctx, r.id, errors.New("the operation was reached without an operator"))
		}
		out, err := fn(ctx, p, in)
		if err != nil {
			return nil, o.problem(ctx, r.id, err)
		}
		return out, nil
	})
	o.describeProblems(&op, r)
}

// authenticate passes on requests with the token of an operator.
func (o *operators) authenticate(ctx huma.Context, next func(huma.Context)) {
	text, err := bearerOf(ctx.Header("Authorization"))
	if err != nil {
		o.refuse(ctx, err)
		return
	}
	// The digest of what was sent is compared, of which an attacker cannot choose the beginning.
	name, ok := o.tokens[sha256.Sum256([]byte(text))]
	if !ok {
		o.refuse(ctx, unauthenticated("the token is not that of an operator"))
		return
	}
	p := registry.Operator()
	p.Subject = "operator:" + name
	with := audit.With(ctx.Context(), audit.ActorOf(p, traceID(ctx.Context())))
	next(huma.WithValue(huma.WithContext(ctx, with), principalKey{}, p))
}
