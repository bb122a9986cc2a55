package worker

import (
	"fmt"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/executors/artifact"
	"github.com/toolcrib/toolcrib/executors/custom"
	"github.com/toolcrib/toolcrib/executors/external"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/executors/internalcall"
	"github.com/toolcrib/toolcrib/executors/mcpcall"
	"github.com/toolcrib/toolcrib/executors/promptcall"
	"github.com/toolcrib/toolcrib/executors/ragcall"
	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/nested"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/retrieval"
)

// parts is what executors are made of, and what is known of the workers' host.
// All of it is nil in a process that only judges definitions.
type parts struct {
	gate      *egress.Gate
	secrets   secret.Resolver
	searcher  retrieval.Searcher
	servers   *mcpcall.Client
	builtins  internalcall.Builtins
	authority internalcall.Authority
	functions *function.Executor
	known     []string // Functions.
	custom    *custom.Mux
	prompts   *promptcall.Executor
	models    promptcall.Models
	judge     artifact.Judge
	box       artifact.Sandbox
	programs  artifact.Programs
}

// types is the list of the platform's implementation types. Whatever depends on
// the type of a tool derives from it.
func (p parts) types() executors.Types {
	return executors.Types{
		internalcall.Type(p.builtins, p.authority, p.remotes()),
		httpcall.Type(p.gate, p.secrets),
		function.Type(p.functions, p.known),
		ragcall.Type(p.searcher),
		nested.AgentCall(),
		artifact.Type(p.judge, p.box, p.programs),
		mcpcall.Type(p.servers),
		custom.Type(p.custom),
		promptcall.Type(p.prompts, p.models),
		nested.Task(),
		nested.Composition(),
		nested.Graph(),
		external.Client(),
		external.Input(),
		external.Provider(),
	}
}

// remotes returns the client of MCP servers; nil where there is none.
func (p parts) remotes() internalcall.Servers {
	if p.servers == nil {
		return nil
	}
	return p.servers
}

// Known is what a process that only judges definitions knows of the workers. The
// zero Known knows nothing: what definitions name is for the workers to refuse.
type Known struct {
	Artifacts artifact.Judge // Decides about programs; the zero one compiles none.
	// Functions lists the functions of the workers; nil when they are not known.
	Functions []string
	// ModelProviders lists the model providers of the workers; empty when they are
	// not known.
	ModelProviders []string
	// LocalModelProviders lists those that answer within the workers: prompts of
	// the egress class none may use these only. Nil defaults to "scripted".
	LocalModelProviders []string
}

// Types describes the platform's implementation types for a process that only
// judges definitions.
func Types(k Known) executors.Types {
	return parts{
		judge: k.Artifacts, known: k.Functions,
		models: promptcall.Models{Known: k.ModelProviders, Local: k.LocalModelProviders},
	}.types()
}

// Types describes the implementation types that calls of this worker can have,
// those of the host included, for the registry that checks and publishes tools.
func (p *Plugin) Types() executors.Types { return p.types }

// hosted returns the types with the host's own, and the host's executors in the
// place of the platform's.
func (c Config) hosted(types executors.Types) (executors.Types, error) {
	types = types.With(c.Types...)
	for impl, e := range c.Executors {
		t, known := types.Find(impl)
		if !known {
			return nil, fmt.Errorf(
				"worker: Config.Executors[%q]: unknown implementation type: describe it in Config.Types",
				impl,
			)
		}
		t.Executor, t.CheckWorkers, t.InputSchema, t.Unavailable = e, nil, nil, ""
		types = types.With(t)
	}
	if err := types.Check(); err != nil {
		return nil, fmt.Errorf("worker: Config.Types: %w", err)
	}
	return types, nil
}
