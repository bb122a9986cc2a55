package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/toolcrib/toolcrib/executors"
	"github.com/toolcrib/toolcrib/executors/function"
	"github.com/toolcrib/toolcrib/executors/middleware"
	"github.com/toolcrib/toolcrib/policy"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// order is the input of a tool with six properties; its arguments take 300 bytes.
type order struct {
	Customer string   `json:"customer"`
	Country  string   `json:"country"`
	Items    []string `json:"items"`
	Note     string   `json:"note,omitempty"`
	Total    int      `json:"total"`
	Express  bool     `json:"express"`
}

type receipt struct {
	Customer string `json:"customer"`
	Total    int    `json:"total"`
	Items    int    `json:"items"`
}

func place(_ context.Context, in order) (receipt, error) {
	return receipt{Customer: in.Customer, Total: in.Total, Items: len(in.Items)}, nil
}

// placeUnchecked has no output schema.
func placeUnchecked(ctx context.Context, in order) (*tool.Result, error) {
	out, err := place(ctx, in)
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(out)
	return tool.JSONResult(raw), err
}

// inProcess measures what a call costs where neither Temporal nor PostgreSQL
// has a part in it, against a compiled schema, the typed function and the
// marshalling of its answer.
func inProcess(ctx context.Context, l *lab) ([]Figure, error) {
	d, err := l.newDatabase(ctx, "bench-inprocess")
	if err != nil {
		return nil, err
	}
	s := &site{database: d, lab: l, functions: function.NewRegistry()}
	if s.principal, err = s.newTenant(ctx, "bench-inprocess"); err != nil {
		return nil, err
	}
	if err := function.Define(
		s.functions,
		"placeOrder",
		"Places an order.",
		placeUnchecked,
		function.Pure(),
	); err != nil {
		return nil, err
	}
	if err := function.Define(s.functions, "placeCheckedOrder", "Places an order.", place, function.Pure()); err != nil {
		return nil, err
	}
	arguments, err := json.Marshal(order{
		Customer: "Ada Lovelace", Country: "GB", Items: []string{"TEAPOT-BLUE", "TEAPOT-RED", "MUG-LARGE", "MUG-SMALL"},
		Note: strings.Repeat("leave it at the door, ", 6), Total: 12_345, Express: true,
	})
	if err != nil {
		return nil, fmt.Errorf("writing arguments: %w", err)
	}
	var figures []Figure
	for _, name := range []string{"placeOrder", "placeCheckedOrder"} {
		f, err := s.inProcessCall(ctx, name, arguments)
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// inProcessCall measures calls of one function tool.
func (s *site) inProcessCall(ctx context.Context, name string, arguments json.RawMessage) (Figure, error) {
	described, ok := s.functions.Tool(name)
	if !ok {
		return Figure{}, fmt.Errorf("there is no function %q", name)
	}
	published, version, err := publishTool(
		ctx,
		s.Store,
		s.principal.Tenant,
		name,
		described.Definition,
		described.Policy,
	)
	if err != nil {
		return Figure{}, err
	}
	ours := s.pipeline(ctx, published, version, arguments)
	floor, err := rawFloor(ctx, described.Definition, arguments)
	if err != nil {
		return Figure{}, err
	}
	a, err := ours()
	if err != nil {
		return Figure{}, err
	}
	b, err := floor()
	if err != nil {
		return Figure{}, err
	}
	if !strings.Contains(string(a), string(b)) {
		return Figure{}, fmt.Errorf("ours answers %s and the floor %s", a, b)
	}
	return s.lab.spin("in_process_"+described.Definition.Name, ours, floor)
}

// pipeline is a call of ours.
func (s *site) pipeline(
	ctx context.Context, t tool.Tool, v tool.Version, arguments json.RawMessage,
) func() ([]byte, error) {
	schemas, resolve, mux := schema.New(0), resolver.New(s.Store, resolver.Options{}), executors.NewMux()
	mux.Use(middleware.Standard(middleware.Options{
		Logger: slog.New(slog.DiscardHandler),
		Validate: func(ctx context.Context, raw, value json.RawMessage) error {
			compiled, err := schemas.Compile(raw)
			if err != nil {
				return err
			}
			return compiled.Validate(ctx, value)
		},
	})...)
	mux.Handle(tool.Function, function.New(s.functions))
	return func() ([]byte, error) {
		version, err := resolve.Version(ctx, s.principal.Tenant, t.ID, v.Digest)
		if err != nil {
			return nil, err
		}
		input, err := schemas.Compile(version.Snapshot.InputSchema)
		if err != nil {
			return nil, err
		}
		prepared, _, err := input.Prepare(ctx, arguments)
		if err != nil {
			return nil, err
		}
		if d := policy.Decide(policy.Input{Principal: s.principal, Policy: t.Policy}); d.Verdict != policy.Allow {
			return nil, fmt.Errorf("the policy says %s", d.Explain())
		}
		result, err := mux.Execute(ctx, &tool.Call{
			CallIdentity: tool.CallIdentity{
				CallID:    "call",
				EffectID:  "effect",
				Principal: s.principal,
				Mode:      tool.Production,
			},
			Attempt:   1,
			Timeout:   version.Snapshot.Execution.Timeout(),
			Version:   version,
			Egress:    tool.EgressNone,
			Arguments: prepared,
		})
		if err != nil {
			return nil, err
		}
		return json.Marshal(result)
	}
}

// rawFloor is the least that a typed function behind a JSON Schema can do.
func rawFloor(ctx context.Context, d tool.Definition, arguments json.RawMessage) (func() ([]byte, error), error) {
	input, err := jsonschema.CompileString("input.json", string(d.InputSchema))
	if err != nil {
		return nil, fmt.Errorf("compiling the input schema: %w", err)
	}
	var output *jsonschema.Schema
	if len(d.OutputSchema) > 0 {
		if output, err = jsonschema.CompileString("output.json", string(d.OutputSchema)); err != nil {
			return nil, fmt.Errorf("compiling the output schema: %w", err)
		}
	}
	return func() ([]byte, error) {
		if err := validateRaw(input, arguments); err != nil {
			return nil, err
		}
		var in order
		if err := json.Unmarshal(arguments, &in); err != nil {
			return nil, err
		}
		out, err := place(ctx, in)
		if err != nil {
			return nil, err
		}
		raw, err := json.Marshal(out)
		if err == nil && output != nil {
			err = validateRaw(output, raw)
		}
		return raw, err
	}, nil
}

func validateRaw(s *jsonschema.Schema, raw []byte) error {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		return err
	}
	return s.Validate(v)
}

// spun is what one call of a function costs on one thread.
type spun struct {
	each           time.Duration
	bytes, objects float64
	n              int
}

// spin measures two functions in turns.
func (l *lab) spin(name string, ours, floor func() ([]byte, error)) (Figure, error) {
	var a, b []spun
	for round := range 2*l.size.Rounds + 1 {
		x, err := spinOne(ours, l.size.Micro)
		if err != nil {
			return Figure{}, err
		}
		y, err := spinOne(floor, l.size.Micro)
		if err != nil {
			return Figure{}, err
		}
		if round > 0 {
			a, b = append(a, x), append(b, y)
		}
	}
	ratios := make([]float64, len(a))
	for i := range a {
		ratios[i] = float64(a[i].each) / float64(b[i].each)
	}
	slices.Sort(ratios)
	byTime := func(x, y spun) int { return int(x.each - y.each) }
	slices.SortFunc(a, byTime)
	slices.SortFunc(b, byTime)
	middle, low := a[len(a)/2], b[len(b)/2]
	return Figure{
		Name: name, Unit: "µs/call", Ratio: percentile(ratios, 0.5), N: middle.n * len(a),
		Ours: float64(middle.each) / float64(time.Microsecond), Floor: float64(low.each) / float64(time.Microsecond),
		Note: fmt.Sprintf("processor time; %.0f allocations and %.0f bytes a call; the floor %.0f and %.0f", middle.objects,
			middle.bytes, low.objects, low.bytes),
	}.aimed(atMost(1.3)), nil
}

// spinOne calls fn for the given time. What a call costs is the processor's
// time, the collection of garbage included: nothing waits here, and so it holds
// on a machine that is busy with other things too.
func spinOne(fn func() ([]byte, error), long time.Duration) (spun, error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n, began, used := 0, time.Now(), ownTime()
	for ; n == 0 || time.Since(began) < long || ownTime() == used; n++ {
		if _, err := fn(); err != nil {
			return spun{}, err
		}
	}
	took := ownTime() - used
	runtime.ReadMemStats(&after)
	return spun{
		each: took / time.Duration(n), n: n, objects: float64(after.Mallocs-before.Mallocs) / float64(n),
		bytes: float64(after.TotalAlloc-before.TotalAlloc) / float64(n),
	}, nil
}
