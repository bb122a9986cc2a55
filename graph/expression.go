package graph

import (
	"context"
	"fmt"
	"time"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of conditions. They are part of what a published graph means: never lower them.
const (
	maxExpression = 4 << 10 // Bytes.
	maxCost       = 1_000_000
	maxEvaluation = 500 * time.Millisecond
	interruptStep = 100
)

// Roots of references, in conditions by name and in bindings as the first token.
const (
	rootInput     = "input"        // The graph's arguments.
	rootSteps     = "steps"        // As nodes, in compositions.
	rootNodes     = "nodes"        // Nodes that have ended, by id.
	rootOutputs   = "tool_outputs" // The results of nodes, by id.
	rootState     = "state"
	rootContext   = "context"   // The run: see [Context].
	rootError     = "error"     // The failure that led to the node.
	rootItem      = "item"      // Of a map.
	rootIndex     = "index"     // Of the item, from 0.
	rootIteration = "iteration" // Of a loop, from 0; in its condition how many have ended.
	rootLast      = "last"      // The output of the iteration before; null in the first.
)

// condition is a compiled condition.
type condition struct {
	program cel.Program
	path    string
	refs    []string // Ids of nodes that it names.
}

// named reports whether a root leads to nodes by their ids.
func named(root string) bool { return root == rootNodes || root == rootOutputs || root == rootSteps }

// environment declares what conditions may name.
func environment() (*cel.Env, error) {
	object := cel.MapType(cel.StringType, cel.DynType)
	return cel.NewEnv(
		cel.Variable(rootInput, cel.DynType), cel.Variable(rootNodes, cel.MapType(cel.StringType, object)),
		cel.Variable(rootOutputs, object), cel.Variable(rootState, object), cel.Variable(rootContext, object),
		cel.Variable(rootError, object), cel.Variable(rootItem, cel.DynType), cel.Variable(rootIndex, cel.IntType),
		cel.Variable(rootIteration, cel.IntType), cel.Variable(rootLast, cel.DynType),
		cel.CrossTypeNumericComparisons(true),
	)
}

// compile compiles a condition. The message of its error is for people.
func compile(env *cel.Env, text, path string) (*condition, error) {
	if len(text) > maxExpression {
		return nil, fmt.Errorf("the condition has more than %d bytes", maxExpression)
	}
	compiled, issues := env.Compile(text)
	if issues.Err() != nil {
		at := issues.Errors()[0]
		return nil, fmt.Errorf("the condition is not CEL: line %d, column %d: %s", at.Location.Line(),
			at.Location.Column()+1, at.Message)
	}
	if out := compiled.OutputType(); out.Kind() != types.BoolKind && out.Kind() != types.DynKind {
		return nil, fmt.Errorf("the condition is a %s: want true or false, such as input.a > 100", out)
	}
	refs, err := namedNodes(compiled)
	if err != nil {
		return nil, err
	}
	program, err := env.Program(compiled, cel.CostLimit(maxCost), cel.InterruptCheckFrequency(interruptStep),
		cel.EvalOptions(cel.OptOptimize))
	if err != nil {
		return nil, fmt.Errorf("the condition cannot be evaluated: %w", err)
	}
	return &condition{program: program, path: path, refs: refs}, nil
}

// namedNodes returns the ids of nodes that an expression names. It must name them one by one, so
// that they can be checked, and read alone.
func namedNodes(compiled *cel.Ast) ([]string, error) {
	var refs []string
	whole, named := 0, 0
	isNodes := func(e ast.Expr) bool {
		return e.Kind() == ast.IdentKind && (e.AsIdent() == rootNodes || e.AsIdent() == rootOutputs)
	}
	ast.PreOrderVisit(compiled.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() { //nolint:exhaustive // Other kinds name nothing.
		case ast.IdentKind:
			if isNodes(e) {
				whole++
			}
		case ast.SelectKind:
			if isNodes(e.AsSelect().Operand()) {
				named, refs = named+1, append(refs, e.AsSelect().FieldName())
			}
		case ast.CallKind:
			args := e.AsCall().Args()
			if e.AsCall().FunctionName() != operators.Index || len(args) != 2 || !isNodes(args[0]) {
				return
			}
			if args[1].Kind() == ast.LiteralKind {
				if name, ok := args[1].AsLiteral().(types.String); ok {
					named, refs = named+1, append(refs, string(name))
				}
			}
		}
	}))
	if whole != named {
		return nil, fmt.Errorf("the condition uses %s as a whole: name each node, as %s.order or %s[\"order-1\"]",
			rootNodes, rootNodes, rootNodes)
	}
	return refs, nil
}

// holds evaluates a condition. Integers are int64, other numbers float64.
func (c *condition) holds(ctx context.Context, values map[string]any) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, maxEvaluation)
	defer cancel()
	value, _, err := c.program.ContextEval(ctx, values)
	if err != nil {
		return false, c.fault("cannot be evaluated: " + tool.Clip(err.Error(), 300))
	}
	held, ok := value.Value().(bool)
	if !ok {
		return false, c.fault(fmt.Sprintf("is a %s: want true or false", value.Type()))
	}
	return held, nil
}

func (c *condition) fault(msg string) error {
	return &tool.Error{
		Kind: tool.Invalid, Op: "graph.Evaluate", Path: c.path, Msg: "the condition at " + c.path + " " + msg,
	}
}
