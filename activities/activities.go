// Package activities adapts the platform to Temporal: each activity decodes its
// input, calls a port, and encodes the failure.
//
// Decisions about a call are made in packages resolver, schema, policy and
// ledger, and in executors; this package only calls them in order. The payloads
// and names are in package wire.
package activities

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/confirm"
	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/internal/cache"
	"github.com/toolcrib/toolcrib/ledger"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/retrieval/ingest"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
	"github.com/toolcrib/toolcrib/wire"
)

// Agents finds agents and their versions.
type Agents interface {
	FindAgent(ctx context.Context, tenant tool.TenantID, slugOrID string) (agent.Agent, error)
	ListAgentVersions(ctx context.Context, tenant tool.TenantID, agentID string) ([]agent.Version, error)
	// FindAgentVersions is both, in one round trip.
	FindAgentVersions(ctx context.Context, tenant tool.TenantID, id string) (agent.Agent, []agent.Version, error)
}

// Policies reads the policies of tools as they are now.
type Policies interface {
	Policies(ctx context.Context, tenant tool.TenantID, toolIDs []string) (map[string]tool.Policy, error)
}

// Targets is what implementation types say of their calls: executors.Types.
type Targets interface {
	// Target returns what the approval of a call is bound to beside its arguments.
	Target(ctx context.Context, aim wait.Aim) (wait.Target, error)
	// Aims returns those of the arguments that say where a call goes; nil where none do.
	Aims(i tool.Implementation, builtin string, config, arguments json.RawMessage) json.RawMessage
	// Taints reports whether the results of a tool's calls taint the runs that get them.
	Taints(ctx context.Context, aim wait.Aim, trust tool.Trust) bool
	// Secret reports whether the calls of a version use a credential.
	Secret(ctx context.Context, aim wait.Aim) bool
	// CheckArguments checks the arguments of a call that is answered from outside.
	CheckArguments(i tool.Implementation, arguments json.RawMessage) error
}

// Config holds the dependencies of the activities. Every field but Journal,
// NestedResultMiddleware, Models, Outputs, Ingester, Control, Approvals, Targets, Slots, Grants, Calls,
// Graphs, Spaces and Scheduled is required.
type Config struct {
	Ledger ledger.Ledger
	Runs   agent.Runs
	// Journal records several steps of a run at once. Nil to record each by Ledger and Runs.
	Journal  loop.Journal
	Agents   Agents
	Policies Policies
	Resolver *resolver.Resolver
	Schemas  *schema.Cache
	// Types are the implementation types of calls.
	Types []tool.Traits
	// Executor runs a call of any of them: an executors.Mux.
	Executor tool.Executor
	// NestedResultMiddleware wraps the answers of nested calls, which have no executor: it
	// applies bounds and output schema. Nil for nothing.
	NestedResultMiddleware tool.Middleware
	// Models are the model providers, by name: an agent's model "scripted/desk"
	// asks Models["scripted"] for "desk".
	Models map[string]agent.Model
	// Hooks are the host's callbacks in runs of agents.
	Hooks agent.Hooks
	// Outputs stores the output of models and tools while they run. When nil,
	// none is stored, and models are not asked to stream.
	Outputs Outputs
	// Ingester ingests documents into pipelines. Nil to ingest none.
	Ingester *ingest.Ingester
	// Control delivers requests to cancel runs that are advanced in place. When nil,
	// heartbeats alone do.
	Control *Control
	// Approvals records requests for approvals. When nil, calls that need one are refused.
	Approvals wait.Approvals
	// Targets tells what approvals are bound to. When nil, the configurations of versions do.
	Targets Targets
	// Slots limits calls across runs. When nil, calls of tools that are limited so fail.
	Slots ledger.Slots
	// Grants finds standing grants. When nil, none counts.
	Grants wait.Grants
	// Calls records calls that are answered from outside. When nil, they fail.
	Calls wait.Calls
	// States keeps the states of runs. When nil, calls have none.
	States ledger.States
	// Graphs keeps the records of runs of graphs. When nil, they fail.
	Graphs graph.Records
	// Spaces keeps where runs of agents are. When nil, agents that work in spaces fail.
	Spaces Spaces
	// Scheduled begins the runs of schedules. When nil, they fail.
	Scheduled Scheduled
}

// Activities are the activities of Toolcrib. They are safe for concurrent use.
type Activities struct {
	Config
	// definitions caches pinned agent definitions, which are immutable.
	definitions *cache.Cache[definitionKey, agent.Definition]
	// graphs caches compiled graphs, which are immutable.
	graphs *cache.Cache[definitionKey, *graph.Graph]
	// confirmations caches the compiled conditions of tools.
	confirmations *confirm.Cache
	// warnings rate-limits the warnings of one tenant's calls.
	warnings warnings
	inline   inline
	// answerTimes are the mean times of models' answers, by "provider/name".
	answerTimes *cache.Cache[string, time.Duration]
}

type definitionKey struct {
	tenant          tool.TenantID
	agentID, digest string
}

const (
	maxDefinitions = 1000
	maxModels      = 1000
)

// New checks the configuration and returns the activities.
func New(c Config) (*Activities, error) {
	for name, missing := range map[string]bool{
		"Ledger": c.Ledger == nil, "Runs": c.Runs == nil, "Agents": c.Agents == nil,
		"Policies": c.Policies == nil, "Resolver": c.Resolver == nil,
		"Schemas": c.Schemas == nil, "Types": len(c.Types) == 0, "Executor": c.Executor == nil,
	} {
		if missing {
			return nil, fmt.Errorf("activities: Config.%s is required", name)
		}
	}
	if c.Control != nil {
		runs := watchedRuns{Runs: c.Runs, control: c.Control}
		c.Runs = runs
		if c.Journal != nil {
			c.Journal = watchedJournal{Journal: c.Journal, runs: runs}
		}
	}
	a := &Activities{
		Config: c, confirmations: confirm.NewCache(),
		definitions: cache.New[definitionKey, agent.Definition](cache.Options{Entries: maxDefinitions}),
		graphs:      cache.New[definitionKey, *graph.Graph](cache.Options{Entries: maxDefinitions}),
		answerTimes: cache.New[string, time.Duration](cache.Options{Entries: maxModels}),
	}
	a.inline.limit = DefaultInlineRuns
	return a, nil
}

// Registry is where activities are registered: a worker, or a test environment.
type Registry interface {
	RegisterActivityWithOptions(a any, options activity.RegisterOptions)
}

// traits returns the traits of an implementation type.
func (a *Activities) traits(i tool.Implementation) tool.Traits {
	for _, t := range a.Types {
		if t.Implementation == i {
			return t
		}
	}
	return tool.Traits{Implementation: i}
}

// Register registers every activity under its wire name. One Invoke type is
// registered for each implementation type, whether an executor runs it or not:
// a call without one fails with a clear error, instead of waiting for a worker
// that knows its activity.
func (a *Activities) Register(r Registry) {
	register := func(name string, fn any) {
		r.RegisterActivityWithOptions(fn, activity.RegisterOptions{Name: name})
	}
	register(wire.LoadPlanActivity, a.LoadPlan)
	register(wire.AdvanceActivity, a.Advance)
	register(wire.ModelTurnActivity, a.Advance)
	register(wire.CancelInlineActivity, a.CancelInline)
	register(wire.NodesActivity, a.Nodes)
	register(wire.AdmitActivity, a.Admit)
	register(wire.AskActivity, a.Ask)
	register(wire.SettleActivity, a.Settle)
	register(wire.FinishRunActivity, a.FinishRun)
	register(wire.AdvanceGraphActivity, a.AdvanceGraph)
	register(wire.EvaluateGraphActivity, a.EvaluateGraph)
	register(wire.OpenNodeActivity, a.OpenNode)
	register(wire.BeginScheduledActivity, a.BeginScheduled)
	register(wire.ScheduledEndedActivity, a.ScheduledEnded)
	a.registerIngestion(register)
	for _, t := range a.Types {
		register(wire.InvokeActivity(t.Implementation), a.Invoke)
	}
}

// checkTenant refuses a workflow id of Toolcrib's own that names another tenant
// than the input does. Ids of host workflows are not checked.
func checkTenant(ctx context.Context, tenant tool.TenantID) error {
	named, ours := wire.TenantOf(activity.GetInfo(ctx).WorkflowExecution.ID)
	if ours && named != tenant {
		return &tool.Error{Kind: tool.Denied, Op: "activities", Msg: "the workflow belongs to another tenant"}
	}
	return nil
}

// callAttrs are the attributes that every log line about a call carries.
func callAttrs(in *wire.InvokeInput) []any {
	return []any{
		slog.String("tenant_id", string(in.Principal.Tenant)), slog.String("run_id", in.RunID),
		slog.String("call_id", in.CallID), slog.String("tool", in.Pin.Slug),
		slog.String("version", in.Pin.Version),
	}
}

// logFailure logs a failure with its cause, which is not encoded.
func logFailure(ctx context.Context, msg string, err error, attrs ...any) {
	e := tool.AsError(err)
	attrs = append(attrs, slog.String("kind", string(e.Kind)), slog.String("op", e.Op), slog.Any("error", err))
	logger := activity.GetLogger(ctx)
	if e.Kind == tool.InternalError {
		logger.Error(msg, attrs...)
		return
	}
	logger.Info(msg, attrs...)
}
