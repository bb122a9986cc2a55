package function

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/Masterminds/semver/v3"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/toolcrib/toolcrib/tool"
)

// Option configures a function's tool definition, and which tools may run it.
// It is set by the host, which knows the effects of its function, and applies to
// every tool that runs it.
type Option func(*Tool)

// Pure declares that the function has no side effects: its calls are retried and
// run in parallel freely. Tools may set is_pure for no other function.
func Pure() Option { return func(t *Tool) { t.Definition.Execution.Pure = true } }

// Idempotent declares that the function does its work once for each effect id,
// which it gets from [InfoFrom]. Tools may set idempotent only for these
// functions and those that are [Pure].
func Idempotent() Option { return func(t *Tool) { t.Definition.Execution.Idempotent = true } }

// Timeout bounds one attempt, to the millisecond. Defaults to [tool.DefaultTimeout].
func Timeout(d time.Duration) Option {
	d = max(time.Millisecond, d).Round(time.Millisecond)
	return func(t *Tool) { t.Definition.Execution.TimeoutSeconds = d.Seconds() }
}

// Concurrency lets limit calls of the group run at a time within one run.
func Concurrency(group string, limit int) Option {
	return func(t *Tool) {
		t.Definition.Execution.ConcurrencyGroup, t.Definition.Execution.MaxConcurrency = group, limit
	}
}

// Egress declares what the function sends outside the platform. Defaults to
// [tool.EgressNone]. The egress guard does not see a function's own requests.
// Calls of tools with a lesser class are denied.
func Egress(class tool.Egress) Option { return func(t *Tool) { t.Policy.EgressClass = class } }

// Tenants restricts the function to these tenants; calls of others fail as if it
// did not exist. Without this option, all tenants may call it.
func Tenants(ids ...tool.TenantID) Option {
	return func(t *Tool) { t.Tenants = append(t.Tenants, ids...) }
}

// ForUsers hides the tool from models: people and clients call it.
func ForUsers() Option {
	return func(t *Tool) { t.Definition.Interaction.Audience = tool.AudienceUser }
}

// Aliases are further names of the tool; see [tool.Interaction].
func Aliases(names ...string) Option {
	return func(t *Tool) {
		t.Definition.Interaction.Aliases = append(t.Definition.Interaction.Aliases, names...)
	}
}

// FormerName keeps a renamed tool's old name working until the end of the day
// removeBy, in UTC. The function also runs the versions of the tool that were
// published under that name, after that day too. Give [Publish] a greater
// version than the former name had: a worker that starts renames the tool, with
// its versions and policy.
func FormerName(old string, removeBy time.Time) Option {
	return func(t *Tool) { t.Definition.Interaction.Rename(old, removeBy) }
}

// Intent sets the purpose of a call. Defaults to [tool.Compute].
func Intent(i tool.Intent) Option {
	return func(t *Tool) { t.Definition.Interaction.Intent = i }
}

// Publish makes the function a tool, under its own name: a worker that starts
// publishes this version of it to the tenants of worker.Config.PublishTo,
// limited to those among [Tenants]. The definition of a version never changes,
// so a change in the code that changes the derived definition requires a
// greater version. Without this option, a function is a tool only once a tool
// is defined for it.
func Publish(version string) Option { return func(t *Tool) { t.Version = version } }

// Define registers a function under a name. Both schemas derive from In, which
// must be a struct or a map with string keys, and Out. Define fails when the
// name is taken or not a valid tool name, and when a type has no schema.
//
// The function must return soon after its context ends: the call waits for it.
// Use [DefineSync] for one that cannot. Arguments are decoded strictly: unknown
// members are refused, and numbers that In cannot hold. The return value becomes
// the structured content; a *tool.Result is passed on unchanged. An error becomes
// an error result, whose text the model reads; only a [*tool.Error] fails the call.
// [*tool.Error] means that the platform got no answer.
func Define[In, Out any](
	reg *Registry, name, description string, fn func(context.Context, In) (Out, error), opts ...Option,
) error {
	return define(reg, name, description, fn, false, opts)
}

// DefineWith is [Define] for a function that depends on its caller: the tenant's
// sandbox, a connection of the run. Before each call, provide makes or finds the
// dependency; concurrent calls call it concurrently.
//
// The context of provide ends with the call, so [context.AfterFunc] can release
// the dependency. An error of provide fails the call, with [tool.Unavailable]
// unless it is a [*tool.Error]. Called directly, without an [Info], the function
// fails with [tool.Invalid]: add one by [WithInfo].
func DefineWith[D, In, Out any](
	reg *Registry, name, description string,
	provide func(context.Context, Info) (D, error), fn func(context.Context, D, In) (Out, error), opts ...Option,
) error {
	return define(reg, name, description, func(ctx context.Context, in In) (out Out, err error) {
		deps, err := provided(ctx, name, provide)
		if err != nil {
			return out, err
		}
		return fn(ctx, deps, in)
	}, false, opts)
}

func provided[D any](ctx context.Context, name string, provide func(context.Context, Info) (D, error)) (D, error) {
	const op = "function.DefineWith"
	info, ok := InfoFrom(ctx)
	if !ok {
		var none D
		return none, &tool.Error{
			Kind: tool.Invalid, Op: op,
			Msg: fmt.Sprintf("function %q was called directly, so its tenant is unknown: give the context an Info",
				name),
		}
	}
	deps, err := provide(ctx, info)
	if _, typed := errors.AsType[*tool.Error](err); err != nil && !typed && ctx.Err() == nil {
		err = &tool.Error{Kind: tool.Unavailable, Op: op, Msg: "providing the function's dependency", Err: err}
	}
	return deps, err
}

// DefineSync is [Define] for a function without a context. It runs in its own
// goroutine. At the deadline the call ends and the goroutine is abandoned; its
// return value is dropped.
func DefineSync[In, Out any](reg *Registry, name, description string, fn func(In) (Out, error), opts ...Option) error {
	return define(reg, name, description, func(_ context.Context, in In) (Out, error) { return fn(in) }, true, opts)
}

func define[In, Out any](
	reg *Registry, name, description string, fn func(context.Context, In) (Out, error), detach bool, opts []Option,
) error {
	if !tool.ValidSlug(name) {
		return fmt.Errorf("defining function %q: want a letter, then up to 63 letters, digits, _ or -", name)
	}
	input, err := schemaOf[In]()
	if err != nil {
		return fmt.Errorf("defining function %q: deriving input schema: %w", name, err)
	}
	var shape struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(input, &shape); err != nil || shape.Type != "object" {
		return fmt.Errorf("defining function %q: its input is not a JSON object", name)
	}
	var output json.RawMessage
	if reflect.TypeFor[Out]() != reflect.TypeFor[*tool.Result]() {
		if output, err = schemaOf[Out](); err != nil {
			return fmt.Errorf("defining function %q: deriving output schema: %w", name, err)
		}
	}
	config, err := json.Marshal(map[string]string{"function_name": name})
	if err != nil {
		return fmt.Errorf("defining function %q: %w", name, err)
	}
	t := Tool{
		Definition: tool.Definition{
			Name: name, Description: description, InputSchema: input, OutputSchema: output,
			Implementation: tool.Function, Config: config,
		},
		Policy: tool.Policy{EgressClass: tool.EgressNone, PermissionPolicy: tool.PermissionAuto},
	}
	for _, o := range opts {
		o(&t)
	}
	if !t.Policy.EgressClass.Valid() {
		return fmt.Errorf("defining function %q: egress class %q: want none, read_only or write", name, t.Policy.EgressClass)
	}
	if t.Version != "" {
		if _, err := semver.StrictNewVersion(t.Version); err != nil {
			return fmt.Errorf("defining function %q: version %q: want a semantic version such as 1.2.0", name, t.Version)
		}
	}
	prepared, err := reg.schemas.Compile(input)
	if err != nil {
		return fmt.Errorf("defining function %q: compiling input schema: %w", name, err)
	}
	run := func(ctx context.Context, args json.RawMessage) (*tool.Result, error) {
		var in In
		if err := decodeArguments(args, &in); err != nil {
			return nil, err
		}
		out, err := fn(ctx, in)
		if err != nil {
			return nil, err
		}
		return answer(out)
	}
	return reg.add(&function{tool: t, input: prepared, run: run, detach: detach})
}

func schemaOf[T any]() (json.RawMessage, error) {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		return nil, fmt.Errorf("reading Go type: %w", err)
	}
	raw, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("encoding schema: %w", err)
	}
	return raw, nil
}

// answeredNo classifies a function's error: a *tool.Error, its context's, or the
// function's own, which becomes an error result.
func answeredNo(ctx context.Context, err error) (*tool.Result, error) {
	if e, ok := errors.AsType[*tool.Error](err); ok {
		return nil, e
	}
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return nil, stopped(ctx)
	}
	return tool.ErrorResult(err.Error()), nil
}

// answer encodes a function's return value. Strings become text.
func answer(out any) (*tool.Result, error) {
	if res, ok := out.(*tool.Result); ok {
		return res, nil
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return nil, &tool.Error{
			Kind: tool.InternalError, Op: "function.Execute", Msg: "internal error",
			Err: fmt.Errorf("encoding result: %w", err),
		}
	}
	if s, ok := out.(string); ok {
		return &tool.Result{Content: []tool.Content{tool.Text(s)}, Structured: raw}, nil
	}
	return tool.JSONResult(raw), nil
}
