package artifact

import (
	"context"
	"encoding/json"

	"github.com/toolcrib/toolcrib/tool"
)

// Rules judge programs that are uploaded. A rule that is nil lets
// everything pass.
type Rules struct {
	// CheckProgram refuses, as tool.Invalid, a program that could not be one:
	// for its language, its size or its form.
	CheckProgram func(language string, program []byte) error
	// Compile checks, in the sandbox, that a program compiles. It fails as
	// CheckProgram does, or with another kind where the check could not be
	// made.
	Compile func(ctx context.Context, tenant tool.TenantID, language string, program []byte) error
	// CompileFor does so within the limits in the configuration of a tool that
	// runs the program.
	CompileFor func(
		ctx context.Context, tenant tool.TenantID, language string, program []byte, config json.RawMessage,
	) error
	// CheckConfig judges the configuration of a tool whose program was uploaded.
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
