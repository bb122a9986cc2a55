package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/executors/artifact"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/executors/mcpcall"
	"github.com/toolcrib/toolcrib/executors/middleware"
	"github.com/toolcrib/toolcrib/executors/promptcall"
	"github.com/toolcrib/toolcrib/internal/analytics"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/registry/manage"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// executors assembles the executors: one per implementation type, inside the
// host's middleware, inside the platform's.
func (p *Plugin) executors(schemas *schema.Cache, resolve *resolver.Resolver) (*executors.Mux, error) {
	gate, err := egress.New(egress.Config{
		Policy: p.cfg.policyOf, Proxy: p.cfg.Proxy, Transport: p.telemetry.Transport, Refused: p.telemetry.Refused,
	})
	if err != nil {
		return nil, fmt.Errorf("worker: creating the egress gate: %w", err)
	}
	p.gate = gate
	p.closers = append(p.closers, closer(gate.Close))
	secrets, err := p.secrets()
	if err != nil {
		return nil, err
	}
	mux := executors.NewMux()
	mux.Use(p.telemetry.Middleware())
	if p.cfg.Analytics != nil {
		p.analytics = analytics.New(p.cfg.Analytics, analytics.DefaultSize, p.cfg.Logger)
		p.closers = append(p.closers, p.analytics)
		mux.Use(p.analytics.Middleware(time.Now))
	}
	mux.Use(middleware.Standard(middleware.Options{Logger: p.cfg.Logger, Validate: validator(schemas)})...)
	mux.Use(p.cfg.Middleware...)
	mux.Use(middleware.Named(p.cfg.NamedMiddleware))
	box, err := p.sandbox()
	if err != nil {
		return nil, err
	}
	p.box = box
	if err := p.retrieval(gate, secrets); err != nil {
		return nil, err
	}
	servers := p.servers(gate, secrets)
	functions, remotes := function.New(p.cfg.Functions), mcpcall.New(servers)
	tools := new(toolManager)
	p.builtins = builtins.New(builtins.Config{
		Gate: gate, Reader: p.cfg.Reader, Secrets: secrets, Settings: p.vault, Schemas: schemas,
		MCP: remotes, CheckMCP: mcpcall.CheckConfig, Functions: functions, Sandbox: box, Searcher: p.searcher, Runs: p.store,
		Calls:  p.store,
		Spaces: p.store, Tools: tools,
	})
	all := parts{
		gate: gate, secrets: secrets, searcher: p.searcher, servers: servers, builtins: p.builtins, authority: resolve,
		functions: functions, known: p.cfg.Functions.Reachable(), custom: p.custom,
		prompts: promptcall.New(p.models, schemas, p.LocalModelProviders()...),
		models:  promptcall.Models{Known: p.ModelProviders(), Local: p.LocalModelProviders()},
		judge:   p.Artifacts(), programs: p.store,
	}
	if box != nil {
		all.box = box
	}
	if p.types, err = p.cfg.hosted(all.types()); err != nil {
		return nil, err
	}
	p.types.Handle(mux)
	tools.Manager = manage.New(p.registry(schemas, resolve), p.store)
	return mux, nil
}

// nestedResults is the middleware around results of nested calls, which no executor
// returns: it bounds them.
func nestedResults(schemas *schema.Cache) tool.Middleware {
	size, output := middleware.SizeLimit(0), middleware.Output(validator(schemas))
	return func(next tool.Executor) tool.Executor { return size(output(next)) }
}

// sandbox returns the sandbox for untrusted programs; nil without a command.
func (p *Plugin) sandbox() (builtins.Sandbox, error) {
	if len(p.cfg.SandboxCommand) == 0 {
		return nil, nil //nolint:nilnil // There is none, and what needs it is missing.
	}
	most := p.cfg.SandboxLimits
	pool, err := sandbox.New(sandbox.Config{
		Command: p.cfg.SandboxCommand, Max: most.limits(), MaxProgram: most.Program, Children: most.Children,
		Observer: p.telemetry.Sandbox(), Logger: p.cfg.Logger,
	})
	if err != nil {
		return nil, fmt.Errorf("worker: Config.SandboxCommand: %w", err)
	}
	p.closers = append(p.closers, pool)
	return pool, nil
}

// Artifacts returns the judge of artifact tools and uploaded programs, for the
// registry that publishes them. It applies the limits of the configuration, and
// compiles programs in the sandbox that the plugin's calls run in, unless there
// is no [Config.SandboxCommand].
func (p *Plugin) Artifacts() artifact.Judge {
	most := p.cfg.SandboxLimits
	return artifact.Judge{Box: p.box, Max: most.limits(), MaxProgram: most.Program}
}

// secrets resolves from the database, then from the directory, if there is one,
// and then from the environment.
func (p *Plugin) secrets() (secret.Resolver, error) {
	keys, err := p.cfg.keyring()
	if err != nil {
		return nil, fmt.Errorf("worker: reading the key-encryption keys: %w", err)
	}
	p.vault = vault.New(p.store, vault.Options{Keys: keys, Logger: p.cfg.Logger})
	p.closers = append(p.closers, p.vault)
	if p.cfg.SecretsDir == "" {
		return secret.First(p.vault, secret.Env{}), nil
	}
	files, err := secret.OpenFiles(p.cfg.SecretsDir)
	if err != nil {
		return nil, fmt.Errorf("worker: opening Config.SecretsDir: %w", err)
	}
	p.closers = append(p.closers, files)
	return secret.First(p.vault, files, secret.Env{}), nil
}

// validator checks a tool's answer against its output schema.
func validator(schemas *schema.Cache) func(ctx context.Context, raw, value json.RawMessage) error {
	return func(ctx context.Context, raw, value json.RawMessage) error {
		s, err := schemas.Compile(raw)
		if err != nil {
			return fmt.Errorf("compiling the output schema: %w", err)
		}
		return s.Validate(ctx, value)
	}
}
