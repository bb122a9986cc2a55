package api

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/tool"
)

// Every error is returned as a problem of a class that is listed: kinds of
// failures, errors of no kind, and every status the framework knows.
func TestEveryProblemIsListed(t *testing.T) {
	t.Parallel()
	listed := func(p *v1.Problem) {
		t.Helper()
		class, ok := v1.FindProblemClass(strings.TrimPrefix(p.Type, v1.ProblemsPath+"/"))
		require.True(t, ok, p.Type)
		require.Equal(t, class.Status, p.Status)
		require.Equal(t, class.Code, p.Code)
		require.Equal(t, class.Retryable, p.Retryable)
		require.NotEmpty(t, p.Title)
	}
	for _, kind := range tool.Kinds() {
		p := problemOf(&tool.Error{Kind: kind})
		require.Equal(t, kind, p.Code)
		listed(p)
	}
	listed(problemOf(errors.New("of no kind")))
	listed(problemOf(&tool.Error{Kind: "of no kind that there is"}))
	for status := http.StatusBadRequest; status < 600; status++ {
		p := frameworkProblem(&huma.Operation{}, nil, &huma.ErrorModel{Status: status})
		listed(&p)
	}
	for status, name := range refused {
		class, ok := v1.FindProblemClass(name)
		require.True(t, ok, name)
		require.Equal(t, status, class.Status, name)
	}
	require.Equal(t, tool.InternalError, refusal("of no class", "secret").Code)
	require.NotContains(t, refusal("of no class", "secret").Detail, "secret")
}

// Problems are made by the list and nowhere else, so that none can be of
// another class; and every name that is refused with is one of the list.
func TestProblemsAreMadeByTheList(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	require.Greater(t, len(files), 20)
	refusals := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		parsed, err := parser.ParseFile(token.NewFileSet(), file, raw, 0)
		require.NoError(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				selector, ok := n.Type.(*ast.SelectorExpr)
				require.False(t, ok && selector.Sel.Name == "Problem", "%s makes a problem by itself: use refusal", file)
			case *ast.CallExpr:
				if name, ok := n.Fun.(*ast.Ident); ok && name.Name == "refusal" {
					refusals++
					_, text := n.Args[0].(*ast.BasicLit)
					require.False(t, text, "%s names a problem by a text: use a constant of the list", file)
				}
			}
			return true
		})
	}
	require.Greater(t, refusals, 10)
}

// Every class of problem that says to come back later says when.
func TestPassingProblemsSayWhen(t *testing.T) {
	t.Parallel()

	for _, class := range v1.ProblemClasses() {
		if !class.Retryable || class.Status != http.StatusServiceUnavailable && class.Status != http.StatusTooManyRequests {
			continue
		}
		p := problemOf(&tool.Error{Kind: class.Code, Msg: "not now"})
		require.NotEmpty(t, p.GetHeaders().Get("Retry-After"), class.Name)
	}
	p := problemOf(&tool.Error{Kind: tool.Unavailable, RetryAfter: 7 * time.Second})
	require.Equal(t, "7", p.GetHeaders().Get("Retry-After"), "the cause knows better")
}
