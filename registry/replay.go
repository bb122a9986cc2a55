package registry

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// ReplayOutcome is how a recorded call compares with a content of its tool.
type ReplayOutcome string

// Outcomes of the replay of a call.
const (
	ReplayRunning   ReplayOutcome = "running" // Its live call has not ended.
	ReplaySame      ReplayOutcome = "same"
	ReplayDifferent ReplayOutcome = "different"
	ReplaySkipped   ReplayOutcome = "skipped" // It cannot be replayed; Reason says why.
)

// ReplayOutcomes lists every outcome.
func ReplayOutcomes() []ReplayOutcome {
	return []ReplayOutcome{ReplayRunning, ReplaySame, ReplayDifferent, ReplaySkipped}
}

// ReplayWay is how a call is replayed.
type ReplayWay string

// Ways to replay a call.
const (
	ReplayLive   ReplayWay = "live"   // The content is called with the recorded arguments.
	ReplayRecord ReplayWay = "record" // The recorded arguments and answer are held against the schemas.
	ReplayNot    ReplayWay = "none"
)

// ReplayedCall is the replay of one recorded call.
type ReplayedCall struct {
	InvocationID string        `json:"invocation_id"`
	Version      string        `json:"version"` // That served it.
	Way          ReplayWay     `json:"way"`
	Outcome      ReplayOutcome `json:"outcome"`
	RunID        string        `json:"run_id,omitempty"` // Of the live call.
	Reason       string        `json:"reason,omitempty"` // Why it is not live, or is skipped.
	// Differences name what differs, without values.
	Differences []string `json:"differences,omitempty"`
	WasMillis   int64    `json:"was_ms,omitempty"`
	IsMillis    int64    `json:"is_ms,omitempty"`

	Arguments json.RawMessage `json:"-"` // Of the live call.
}

// maxDifferences bounds what is listed of one call.
const maxDifferences = 10

// PrepareReplay compares recorded calls of a tool of the tenant with a content of it: that of the version that the
// constraint of ref names, else the draft. Calls of the way [ReplayLive] are still to be made, in debug mode and
// without leave to write. It stores nothing.
func (r *Registry) PrepareReplay(
	ctx context.Context, p tool.Principal, ref tool.Ref, calls []tool.Invocation,
) (Replay, []ReplayedCall, error) {
	t, versions, err := r.ownVersions(ctx, p, tool.Ref{Slug: ref.Slug, ID: ref.ID})
	if err != nil {
		return Replay{}, nil, err
	}
	content, number := &t.Definition, t.Version
	if ref.Constraint != "" {
		i := slices.IndexFunc(versions, func(v tool.Version) bool { return v.Number == ref.Constraint })
		if i < 0 {
			return Replay{}, nil, refusal.New(tool.NotFound, "/version", "tool %q has no version %.40s", t.Slug, ref.Constraint)
		}
		content, number = &versions[i].Snapshot.Definition, ref.Constraint
	} else if _, err := r.pin(ctx, &t); err != nil {
		return Replay{}, nil, err
	}
	digest, err := tool.Snapshot{Definition: *content}.Digest()
	if err != nil {
		return Replay{}, nil, refusal.New(tool.Invalid, "", "tool %q holds malformed JSON", t.Slug)
	}
	of := replayer{definition: content, policy: t.Policy}
	if of.input, err = r.opts.Schemas.Compile(content.InputSchema); err != nil {
		return Replay{}, nil, refusal.Within("/input_schema", err)
	}
	if len(content.OutputSchema) > 0 {
		if of.output, err = r.opts.Schemas.Compile(content.OutputSchema); err != nil {
			return Replay{}, nil, refusal.Within("/output_schema", err)
		}
	}
	out := make([]ReplayedCall, len(calls))
	for i := range calls {
		out[i] = of.replay(ctx, &calls[i])
	}
	return Replay{
		Tenant: t.Tenant, ToolID: t.ID, Version: number, Digest: digest, StartedBy: p.Subject,
	}, out, nil
}

// replayer compares recorded calls with one content.
type replayer struct {
	definition    *tool.Definition
	policy        tool.Policy
	input, output *schema.Schema // The latter is nil where the content has none.
}

func (of *replayer) replay(ctx context.Context, was *tool.Invocation) ReplayedCall {
	c := ReplayedCall{InvocationID: was.InvocationID, Version: was.Version, WasMillis: Took(was)}
	skip := func(why string) ReplayedCall {
		c.Way, c.Outcome, c.Reason = ReplayNot, ReplaySkipped, why
		return c
	}
	switch {
	case len(was.Input) == 0 || string(was.Input) == "null":
		return skip("its arguments are not in the record")
	case marked(was.Input):
		return skip("its arguments were redacted in the record")
	}
	arguments, _, err := of.input.Prepare(ctx, was.Input)
	if err != nil {
		c.Way = ReplayRecord
		return c.end([]string{"the arguments are refused now: " + tool.AsError(err).Msg})
	}
	if why := of.notLive(); why != "" {
		c.Way, c.Reason = ReplayRecord, why
		return c.end(of.answer(ctx, was))
	}
	c.Way, c.Outcome, c.Arguments = ReplayLive, ReplayRunning, arguments
	return c
}

// notLive says why the content is not called; empty where it is.
func (of *replayer) notLive() string {
	switch impl := of.definition.ImplementationType(); impl { //nolint:exhaustive // The others are called.
	case tool.Client, tool.Provider, tool.AgentCall, tool.Task, tool.Composition, tool.Graph:
		return "tools of type " + string(impl) + " are compared with the record"
	}
	switch {
	case of.policy.RequiresApproval || of.policy.PermissionPolicy == tool.PermissionAlwaysAsk:
		return "its calls need an approval: they are compared with the record"
	case of.definition.Interaction.Confirmation != nil || of.definition.Interaction.Async:
		return "its calls wait for people or programs: they are compared with the record"
	case of.definition.Execution.Pure || of.policy.EgressClass == tool.EgressReadOnly:
		return ""
	default:
		return "it is neither pure nor of the egress class read_only: its calls are compared with the record"
	}
}

// answer lists why a recorded answer breaks the output schema.
func (of *replayer) answer(ctx context.Context, was *tool.Invocation) []string {
	if of.output == nil || was.Output == nil || was.IsError || of.definition.WarnsOutput() ||
		len(was.Output.Structured) == 0 || marked(was.Output.Structured) {
		return nil
	}
	if err := of.output.Validate(ctx, was.Output.Structured); err != nil {
		return []string{"the recorded answer is refused now: " + tool.AsError(err).Msg}
	}
	return nil
}

// end returns the call with its outcome.
func (c ReplayedCall) end(differences []string) ReplayedCall {
	c.Outcome = ReplaySame
	if len(differences) > 0 {
		c.Outcome = ReplayDifferent
		if len(differences) > maxDifferences {
			differences = append(differences[:maxDifferences:maxDifferences],
				fmt.Sprintf("and %d more", len(differences)-maxDifferences))
		}
		c.Differences = differences
	}
	return c
}

// Compare returns a live call with its outcome, once that has ended.
func (c ReplayedCall) Compare(was, is *tool.Invocation) ReplayedCall {
	c.IsMillis = Took(is)
	var differences []string
	note := func(what string, before, after any) {
		differences = append(differences, fmt.Sprintf("%s was %v and is %v", what, before, after))
	}
	switch {
	case was.Status != is.Status:
		note("the status", was.Status, is.Status)
		if is.Error != "" {
			differences = append(differences, "it fails: "+string(is.ErrorKind))
		}
	case was.ErrorKind != is.ErrorKind:
		note("the kind of failure", was.ErrorKind, is.ErrorKind)
	case was.IsError != is.IsError:
		note("the answer an error", was.IsError, is.IsError)
	case was.Output != nil && is.Output != nil && !was.IsError:
		differences = structure("", decoded(was.Output.Structured), decoded(is.Output.Structured), nil)
		if len(was.Output.Structured)+len(is.Output.Structured) == 0 {
			if before, after := kinds(was.Output), kinds(is.Output); before != after {
				note("the content", before, after)
			}
		}
	}
	return c.end(differences)
}

// Unmade returns a live call that could not be made. It counts as different, so that a gate is not passed by it.
func (c ReplayedCall) Unmade(why string) ReplayedCall {
	c.Way = ReplayNot
	return c.end([]string{why})
}

// Count fills in the counts of a replay, and whether it has ended.
func (r *Replay) Count(calls []ReplayedCall) {
	r.Same, r.Different, r.Skipped, r.Ended = 0, 0, 0, true
	for _, c := range calls {
		switch c.Outcome {
		case ReplayRunning:
			r.Ended = false
		case ReplaySame:
			r.Same++
		case ReplayDifferent:
			r.Different++
		case ReplaySkipped:
			r.Skipped++
		}
	}
}

// Took returns how long a call ran, in milliseconds.
func Took(i *tool.Invocation) int64 {
	if i.StartedAt == nil || i.CompletedAt == nil {
		return 0
	}
	return i.CompletedAt.Sub(*i.StartedAt).Milliseconds()
}

// marked reports whether a JSON value holds a redaction mark.
func marked(raw json.RawMessage) bool { return redacted(decoded(raw)) }

func redacted(v any) bool {
	switch v := v.(type) {
	case string:
		return redact.Stands(v)
	case []any:
		return slices.ContainsFunc(v, redacted)
	case map[string]any:
		for _, item := range v {
			if redacted(item) {
				return true
			}
		}
	}
	return false
}

func decoded(raw json.RawMessage) (v any) {
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil {
		return nil
	}
	return v
}

// structure lists where two JSON values have other members or types. Of an array, the items are compared with its
// first.
func structure(path string, was, is any, out []string) []string {
	at := path
	if at == "" {
		at = "the answer"
	}
	if before, after := typeOf(was), typeOf(is); before != after {
		return append(out, fmt.Sprintf("%s was %s and is %s", at, before, after))
	}
	switch was := was.(type) {
	case map[string]any:
		is, _ := is.(map[string]any)
		names := make([]string, 0, len(was)+len(is))
		for name := range was {
			names = append(names, name)
		}
		for name := range is {
			if _, both := was[name]; !both {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			before, had := was[name]
			after, has := is[name]
			child := path + "/" + name
			switch {
			case !has:
				out = append(out, child+" is missing")
			case !had:
				out = append(out, child+" is new")
			default:
				out = structure(child, before, after, out)
			}
		}
	case []any:
		is, _ := is.([]any)
		if len(was) > 0 && len(is) > 0 {
			out = structure(path+"/0", was[0], is[0], out)
		}
	}
	return out
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case string:
		return "text"
	case []any:
		return "an array"
	default:
		return "an object"
	}
}

// kinds lists the types of the content blocks of an answer.
func kinds(r *tool.Result) string {
	names := make([]string, len(r.Content))
	for i, c := range r.Content {
		names[i] = string(c.Type)
	}
	return strings.Join(names, ", ")
}
