package toolcrib_test

import (
	"fmt"
	"go/ast"
	"path"
	"slices"
	"strings"
)

// httpClients: a client, transport or default of net/http would bypass the
// guard that decides what may be called.
func httpClients(r *repository) []string {
	forbidden := []string{
		"Client", "Transport", "DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm",
	}
	var out []string
	for _, dir := range r.directories() {
		if dir == "internal/egress" {
			continue
		}
		for _, f := range r.packages[dir] {
			constructs(f.syntax, func(expr ast.Expr) {
				if p, name := f.selected(expr); p == "net/http" && slices.Contains(forbidden, name) {
					out = append(out, fmt.Sprintf("%s: http.%s: use the client of internal/egress", f.name, name))
				}
			})
		}
	}
	return out
}

// dialing lists what connects, by package: whoever wants a connection that is
// none of PostgreSQL's or Temporal's asks internal/egress. Names are looked up
// by those who dial.
var dialing = map[string][]string{
	"net": {
		"Dial", "DialTimeout", "DialTCP", "DialUDP", "DialIP", "DialUnix", "Dialer", "DefaultResolver", "Resolver",
		"LookupAddr", "LookupCNAME", "LookupHost", "LookupIP", "LookupMX", "LookupNS", "LookupSRV", "LookupTXT",
	},
	"crypto/tls":        {"Dial", "DialWithDialer", "Dialer"},
	"net/http/httputil": {"ReverseProxy", "NewSingleHostReverseProxy"},
	"net/rpc":           {"Dial", "DialHTTP", "DialHTTPPath"},
	"net/rpc/jsonrpc":   {"Dial"},
	"net/smtp":          {"Dial", "SendMail"},
	"syscall":           {"Connect", "Sendto"},
}

// dialers: a connection that nobody judged may lead anywhere.
func dialers(r *repository) []string {
	var out []string
	for _, dir := range r.directories() {
		if dir == "internal/egress" || helpsTests(dir) {
			continue
		}
		for _, f := range r.packages[dir] {
			constructs(f.syntax, func(expr ast.Expr) {
				if p, name := f.selected(expr); slices.Contains(dialing[p], name) {
					out = append(out, fmt.Sprintf("%s: %s.%s: connections are made by internal/egress", f.name, path.Base(p), name))
				}
			})
		}
	}
	return out
}

// clientFields name the member by which a library's type is given its HTTP
// client, and without which it makes one of its own.
var clientFields = map[string]map[string]string{
	"github.com/modelcontextprotocol/go-sdk/mcp": {
		"StreamableClientTransport": "HTTPClient", "SSEClientTransport": "HTTPClient",
	},
}

// libraryClients: what a library does when it is given no client passes no guard.
func libraryClients(r *repository) []string {
	var out []string
	for _, dir := range r.directories() {
		for _, f := range r.packages[dir] {
			ast.Inspect(f.syntax, func(n ast.Node) bool {
				literal, ok := n.(*ast.CompositeLit)
				if !ok {
					return true
				}
				p, name := f.selected(literal.Type)
				if field := clientFields[p][name]; field != "" && !sets(literal, field) {
					out = append(
						out, fmt.Sprintf("%s: %s.%s without %s: give it a client of internal/egress", f.name, path.Base(p), name, field),
					)
				}
				return true
			})
		}
	}
	return out
}

// sets reports whether a literal names a field.
func sets(literal *ast.CompositeLit, field string) bool {
	return slices.ContainsFunc(literal.Elts, func(e ast.Expr) bool {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return false
		}
		key, ok := pair.Key.(*ast.Ident)
		return ok && key.Name == field
	})
}

// constructs calls visit with the type of each composite literal, the argument
// of each new, the type of each variable, and every other selector that is used
// as a value. Mentioning a type, as a parameter does, constructs nothing.
func constructs(file *ast.File, visit func(ast.Expr)) {
	mentioned := make(map[ast.Expr]bool)
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field: // Of a struct, parameter or result.
			mentioned[n.Type] = true
			if star, ok := n.Type.(*ast.StarExpr); ok {
				mentioned[star.X] = true
			}
		case *ast.TypeSpec:
			mentioned[n.Type] = true
		case *ast.TypeAssertExpr:
			if star, ok := n.Type.(*ast.StarExpr); ok {
				mentioned[star.X] = true
			}
		case *ast.SelectorExpr:
			if !mentioned[n] {
				visit(n)
			}
		}
		return true
	})
}

// selected returns the import path and the name that a selector stands for.
func (f sourceFile) selected(expr ast.Expr) (importPath, name string) {
	sel, ok := expr.(*ast.SelectorExpr)
	if !ok {
		return "", ""
	}
	pkg, ok := sel.X.(*ast.Ident)
	if !ok {
		return "", ""
	}
	return f.imports[pkg.Name], sel.Sel.Name
}

// initFunctions: what a package does by being imported, nobody can see or stop.
func initFunctions(r *repository) []string {
	var out []string
	for _, dir := range r.directories() {
		for _, f := range r.packages[dir] {
			for _, decl := range f.syntax.Decls {
				if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
					out = append(out, f.name+": func init: wire it where the program is put together")
				}
			}
		}
	}
	return out
}

// fileNames: a name that fits everything tells nothing.
func fileNames(r *repository) []string {
	vague := []string{"util", "utils", "common", "helper", "helpers", "misc", "shared"}
	var out []string
	for _, name := range r.names {
		for part := range strings.SplitSeq(strings.TrimSuffix(strings.TrimSuffix(name, ".go"), "_test"), "/") {
			if slices.Contains(vague, part) {
				out = append(out, name+": name it for what is in it")
			}
		}
	}
	return out
}

// ourAPI are the packages whose exported names speak our vocabulary and the
// standard library's only, with what they may mention beside.
var ourAPI = map[string][]string{
	"tool": nil, "agent": nil, "ledger": nil, "wire": nil, "policy": nil, "schema": nil, "resolver": nil, "registry": nil,
	"registry/artifact": nil, "registry/definition": nil, "registry/mcpserver": nil, "registry/release": nil,
	"registry/manage": nil, "registry/quality": nil,
	"registry/registrytest": nil, "executors": nil, "executors/executortest": nil, "executors/function": nil,
	"executors/httpcall": nil, "executors/internalcall": nil, "builtins": nil, "internal/egress": nil,
	"internal/secret":  nil,
	"internal/failure": {"go.temporal.io/..."}, "workflows": {"go.temporal.io/..."}, "activities": {"go.temporal.io/..."},
	"worker": {"go.temporal.io/...", "go.opentelemetry.io/..."}, "store": {"github.com/jackc/pgx/..."},
}

// foreignTypes: a type of another module in an exported name would make that
// module's changes ours.
func foreignTypes(r *repository) []string {
	var out []string
	for dir, allowed := range ourAPI {
		for _, f := range r.packages[dir] {
			for _, decl := range f.syntax.Decls {
				exported(decl, func(owner string, expr ast.Expr) {
					ast.Inspect(expr, func(n ast.Node) bool {
						e, ok := n.(ast.Expr)
						if !ok {
							return true
						}
						p, name := f.selected(e)
						if p != "" && !isStandard(p) && !matchesPath([]string{module + "/..."}, p) && !matchesPath(allowed, p) {
							out = append(out, fmt.Sprintf("%s: %s mentions %s.%s", f.name, owner, path.Base(p), name))
						}
						return true
					})
				})
			}
		}
	}
	slices.Sort(out)
	return out
}

// exported calls visit with the types that an exported declaration shows.
func exported(decl ast.Decl, visit func(owner string, expr ast.Expr)) {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if d.Name.IsExported() && (d.Recv == nil || receiverExported(d.Recv)) {
			visit(d.Name.Name, d.Type)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					exportedType(s, visit)
				}
			case *ast.ValueSpec:
				if s.Type != nil && slices.ContainsFunc(s.Names, (*ast.Ident).IsExported) {
					visit(s.Names[0].Name, s.Type)
				}
			}
		}
	}
}

// exportedType visits what a type shows: of a struct, its exported fields.
func exportedType(s *ast.TypeSpec, visit func(owner string, expr ast.Expr)) {
	structure, ok := s.Type.(*ast.StructType)
	if !ok {
		visit(s.Name.Name, s.Type)
		return
	}
	for _, field := range structure.Fields.List {
		if len(field.Names) == 0 || slices.ContainsFunc(field.Names, (*ast.Ident).IsExported) {
			visit(s.Name.Name, field.Type)
		}
	}
}

func receiverExported(recv *ast.FieldList) bool {
	t := recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return false
		}
	}
}
