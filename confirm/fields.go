package confirm

import (
	"slices"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
)

// Field is a member of input that an expression names.
type Field struct {
	Path string // Of the expression in the confirmation: /when or /message.
	Name string
}

// Fields returns the members of input that the expressions of the confirmation name, in order:
// input.amount, input["amount"] and has(input.amount) name amount. It leaves out expressions
// with a variable of their own that is called input too.
func (p *Program) Fields() []Field { return slices.Clone(p.fields) }

// named adds the members of input that an expression names.
func (p *Program) named(path string, expression *cel.Ast) {
	var found []Field
	shadowed := false
	ast.PreOrderVisit(expression.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		switch e.Kind() { //nolint:exhaustive // Other kinds name no member.
		case ast.SelectKind:
			if isInput(e.AsSelect().Operand()) {
				found = append(found, Field{path, e.AsSelect().FieldName()})
			}
		case ast.CallKind:
			args := e.AsCall().Args()
			if e.AsCall().FunctionName() != operators.Index || len(args) != 2 || !isInput(args[0]) {
				return
			}
			if args[1].Kind() == ast.LiteralKind {
				if name, ok := args[1].AsLiteral().(types.String); ok {
					found = append(found, Field{path, string(name)})
				}
			}
		case ast.ComprehensionKind:
			c := e.AsComprehension()
			shadowed = shadowed || c.IterVar() == inputVariable || c.IterVar2() == inputVariable
		}
	}))
	if !shadowed {
		p.fields = append(p.fields, found...)
	}
}

func isInput(e ast.Expr) bool { return e.Kind() == ast.IdentKind && e.AsIdent() == inputVariable }
