package confirm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"

	"github.com/toolcrib/toolcrib/internal/cache"
	"github.com/toolcrib/toolcrib/tool"
)

const (
	maxExpression = 4 << 10 // Bytes of an expression, and of a message.
	maxCost       = 100_000 // Of one evaluation, in CEL's units.
	maxTime       = 100 * time.Millisecond
	interruptStep = 100 // Iterations of a comprehension between looks at the time.
	maxMessage    = 2000
	cacheSize     = 1024
)

// Program is a compiled confirmation. It is safe for concurrent use.
type Program struct {
	when   cel.Program // Nil for every call.
	parts  []part
	fields []Field // See [Program.Fields].
}

// inputVariable is the name of the arguments in expressions.
const inputVariable = "input"

// part is a piece of a message: a text, or an expression.
type part struct {
	text  string
	value cel.Program
}

// Cache compiles confirmations and caches them by content. It is safe for concurrent use.
type Cache struct {
	programs *cache.Cache[key, *Program]
}

type key struct{ when, message string }

// NewCache returns an empty cache.
func NewCache() *Cache {
	return &Cache{programs: cache.New[key, *Program](cache.Options{Entries: cacheSize})}
}

// Compile returns the compiled form of a confirmation, possibly from the cache.
func (c *Cache) Compile(of tool.Confirmation) (*Program, error) {
	k := key{of.When, of.Message}
	if p, ok := c.programs.Get(k); ok {
		return p, nil
	}
	p, err := Compile(of)
	if err == nil {
		c.programs.Set(k, p)
	}
	return p, err
}

// Compile compiles a confirmation. It fails with tool.Invalid, with the path and place of the
// fault.
func Compile(of tool.Confirmation) (*Program, error) {
	env, err := environment()
	if err != nil {
		return nil, err
	}
	p := &Program{}
	if of.When != "" {
		if p.when, err = p.compile(env, of.When, "/when", true); err != nil {
			return nil, err
		}
	}
	p.parts, err = p.template(env, of.Message)
	return p, err
}

func environment() (*cel.Env, error) {
	env, err := cel.NewEnv(
		cel.Variable(inputVariable, cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("principal", cel.MapType(cel.StringType, cel.DynType)),
		cel.CrossTypeNumericComparisons(true),
	)
	if err != nil {
		return nil, fmt.Errorf("confirm: making the environment: %w", err)
	}
	return env, nil
}

// compile compiles an expression, which must be a bool where that is asked for.
func (p *Program) compile(env *cel.Env, text, path string, boolean bool) (cel.Program, error) {
	invalid := func(msg string) error {
		return &tool.Error{Kind: tool.Invalid, Op: "confirm.Compile", Path: path, Msg: msg}
	}
	if len(text) > maxExpression {
		return nil, invalid(fmt.Sprintf("the expression has more than %d bytes", maxExpression))
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		at := issues.Errors()[0]
		return nil, invalid(fmt.Sprintf("the expression is not CEL over input and principal: line %d, column %d: %s",
			at.Location.Line(), at.Location.Column()+1, at.Message))
	}
	if out := ast.OutputType(); boolean && out.Kind() != types.BoolKind && out.Kind() != types.DynKind {
		return nil, invalid(fmt.Sprintf("the expression is a %s: a condition is true or false, such as input.a > 100", out))
	}
	program, err := env.Program(ast, cel.CostLimit(maxCost), cel.InterruptCheckFrequency(interruptStep),
		cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		return nil, invalid("the expression cannot be evaluated: " + err.Error())
	}
	p.named(path, ast)
	return program, nil
}

// template splits a message into texts and expressions.
func (p *Program) template(env *cel.Env, message string) ([]part, error) {
	invalid := func(msg string) error {
		return &tool.Error{Kind: tool.Invalid, Op: "confirm.Compile", Path: "/message", Msg: msg}
	}
	if len(message) > maxExpression {
		return nil, invalid(fmt.Sprintf("the message has more than %d bytes", maxExpression))
	}
	var parts []part
	for message != "" {
		text, rest, found := strings.Cut(message, "{{")
		if text != "" {
			parts = append(parts, part{text: text})
		}
		if !found {
			break
		}
		expression, after, closed := strings.Cut(rest, "}}")
		if !closed {
			return nil, invalid("{{ is not closed by }}")
		}
		value, err := p.compile(env, strings.TrimSpace(expression), "/message", false)
		if err != nil {
			return nil, err
		}
		parts, message = append(parts, part{value: value}), after
	}
	return parts, nil
}

// Asks reports whether a call needs an approval, and why. What cannot be evaluated asks.
func (p *Program) Asks(ctx context.Context, input json.RawMessage, by tool.Principal) (reason string) {
	if p.when == nil {
		return "the tool asks for a confirmation of every call"
	}
	value, err := evaluate(ctx, p.when, input, by)
	asks, ok := value.(bool)
	switch {
	case err != nil:
		return "the tool's condition for a confirmation could not be evaluated: " + tool.Clip(err.Error(), 200)
	case !ok:
		return "the tool's condition for a confirmation is neither true nor false"
	case asks:
		return "the tool asks for a confirmation of such a call"
	default:
		return ""
	}
}

// Holds reports whether the condition is true for a call. It is false where the condition cannot
// be evaluated, and true without one. It is for conditions that spare an approval, as those of
// standing grants; [Program.Asks] is for those that demand one.
func (p *Program) Holds(ctx context.Context, input json.RawMessage, by tool.Principal) bool {
	if p.when == nil {
		return true
	}
	value, err := evaluate(ctx, p.when, input, by)
	holds, ok := value.(bool)
	return err == nil && ok && holds
}

// Message returns what the approver is asked; empty where the tool has no message. A value that
// cannot be evaluated is shown as "?".
func (p *Program) Message(ctx context.Context, input json.RawMessage, by tool.Principal) string {
	var out strings.Builder
	for _, piece := range p.parts {
		if piece.value == nil {
			out.WriteString(piece.text)
			continue
		}
		value, err := evaluate(ctx, piece.value, input, by)
		if err != nil {
			out.WriteString("?")
			continue
		}
		out.WriteString(shown(value))
	}
	return tool.Clip(out.String(), maxMessage)
}

// shown returns a value as text, on one line.
func shown(value any) string {
	text, ok := value.(string)
	if !ok {
		raw, err := json.Marshal(value)
		if err != nil {
			return fmt.Sprint(value)
		}
		text = string(raw)
	}
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == 0x2028 || r == 0x2029 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return ' '
		}
		return r
	}, text)
}

func evaluate(ctx context.Context, program cel.Program, input json.RawMessage, by tool.Principal) (any, error) {
	arguments, err := decoded(input)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, maxTime)
	defer cancel()
	value, _, err := program.ContextEval(ctx, map[string]any{
		inputVariable: arguments,
		"principal": map[string]any{
			"subject": by.Subject, "tenant": string(by.Tenant), "permissions": slices.Clone(by.Permissions),
		},
	})
	if err != nil {
		return nil, err //nolint:wrapcheck // Its text is CEL's.
	}
	return value.Value(), nil
}

// decoded decodes arguments. Integers that fit are int64, other numbers float64.
func decoded(input json.RawMessage) (map[string]any, error) {
	if len(bytes.TrimSpace(input)) == 0 {
		return map[string]any{}, nil
	}
	decoder := json.NewDecoder(bytes.NewReader(input))
	decoder.UseNumber()
	var out map[string]any
	if err := decoder.Decode(&out); err != nil {
		return nil, fmt.Errorf("the arguments are no object: %w", err)
	}
	for name, value := range out {
		out[name] = number(value)
	}
	return out, nil
}

func number(value any) any {
	switch v := value.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, err := v.Float64()
		if err == nil && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			return int64(f)
		}
		return f
	case []any:
		for i := range v {
			v[i] = number(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = number(v[name])
		}
	}
	return value
}
