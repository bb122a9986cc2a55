package resolver

import (
	"github.com/toolcrib/toolcrib/tool"
)

// Request is a request for the version of a tool that may run.
type Request struct {
	Principal tool.Principal
	Ref       tool.Ref
	Mode      tool.Mode // Production when empty.
	// AllowDeprecated marks an existing binding, such as that of a published
	// agent: a deprecated tool still resolves for it.
	AllowDeprecated bool
	// Outside marks a call by an API key or an MCP client: internal tools are
	// not found for it, see [tool.Visibility].
	Outside bool
	// New marks a new binding: a deprecated tool is refused even at an exact version,
	// which otherwise counts as a pin.
	New bool
	// Run is the id of the run that is to use the version: it decides whether it gets a canary. Without one it
	// does not, unless Ref names exactly that version.
	Run string
	// Within limits the request to the tools of a set: others are not found. Nil does not.
	Within *Set
}

// Set is a choice of tools, by their ids, each with a constraint that its version must meet beside that of
// the reference; empty for none.
type Set map[string]string

// Resolved is the one version that may run, with the tool's state as it is now.
// Version is shared and immutable, and as overrides adapt it; Tool is the caller's own.
type Resolved struct {
	Tool       tool.Tool
	Version    *tool.Version
	Draft      bool     // Version is a snapshot of the head, not a stored one.
	Shadows    bool     // The tenant's own tool hides a global one of the same slug.
	Deprecated bool     // The tool is deprecated and serves existing bindings only.
	Warnings   []string // For people and logs.
	AskedAs    string   // The alias or former name in the reference; empty where it has slug or id.
	// Overrides are the revisions that adapt Version; see [Resolver.Adapted].
	Overrides tool.OverrideRevisions
	// Limits are those of the overrides, which Version is within: what is set for a call is to be within them too.
	Limits tool.CallLimits
}

// Name returns the tool's name for models.
func (r *Resolved) Name() string { return r.Tool.Slug }
