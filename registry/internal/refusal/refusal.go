// Package refusal makes the errors of the registry packages.
package refusal

import (
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// New returns an error; path is the JSON Pointer of the invalid field, empty
// where no field is invalid.
func New(kind tool.Kind, path, format string, args ...any) *tool.Error {
	return &tool.Error{Kind: kind, Op: "registry", Path: path, Msg: fmt.Sprintf(format, args...)}
}

// Within prefixes the Path of an error with path, so that it points into the
// whole definition. It returns nil for nil.
func Within(path string, err error) error {
	if err == nil {
		return nil
	}
	e := *tool.AsError(err)
	e.Path = path + e.Path
	return &e
}

// First returns the first error that is not nil.
func First(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// ToolsWrite is the permission that writing tools, MCP servers and artifacts
// requires.
const ToolsWrite = "tools.write"

// TenantsWrite is the permission that changing what is decided for the whole tenant needs.
const TenantsWrite = "tenants.write"

// Unpermitted returns a Denied error for a principal without a tenant or
// without the permission, and nil for any other.
func Unpermitted(p tool.Principal, permission string) error {
	if p.Tenant == "" {
		return New(tool.Denied, "", "the caller belongs to no tenant")
	}
	if !p.May(permission) {
		e := New(tool.Denied, "", "the caller lacks the permission %q", permission)
		e.Err = &tool.PermissionError{Permissions: []string{permission}}
		return e
	}
	return nil
}

// List names the first ten of names in a message, and counts the others.
func List(names []string) string {
	const most = 10
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
