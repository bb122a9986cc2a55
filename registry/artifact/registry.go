package artifact

import (
	"context"
	"encoding/json"

	"github.com/toolcrib/toolcrib/tool"
)

// Rules check uploaded programs. A nil rule accepts everything.
type Rules struct {
	// CheckProgram fails with tool.Invalid for a program of an unknown language, or
	// of invalid size or form.
	CheckProgram func(language string, program []byte) error
	// Compile fails with tool.Invalid for a program that does not compile in the
	// sandbox, and with another kind where the sandbox fails.
	Compile func(ctx context.Context, tenant tool.TenantID, language string, program []byte) error
	// CompileFor does so within the limits in the configuration of a tool that
	// runs the program.
	CompileFor func(
		ctx context.Context, tenant tool.TenantID, language string, program []byte, config json.RawMessage,
	) error
	// CheckConfig checks the configuration of a tool whose program is an artifact.
	CheckConfig func(config json.RawMessage) error
}

// Registry creates and changes artifacts, and pins their versions in tools. It
// is safe for concurrent use.
//
// Every method fails with a [*tool.Error], as those of package registry do.
type Registry struct {
	store    Store
	rules    Rules
	revision int64 // See [Registry.At].
}

// New returns a registry that writes to store.
func New(store Store, rules Rules) *Registry { return &Registry{store: store, rules: rules} }

// At returns a registry that changes only an artifact at the given revision,
// and fails with tool.Conflict, caused by [definition.ErrChanged], for one at
// another. Zero accepts any revision.
func (r *Registry) At(revision int64) *Registry {
	at := *r
	at.revision = revision
	return &at
}
