package tool

import (
	"encoding/json"
	"time"
)

// Status is the stage of a tool in its life cycle.
type Status string

// Statuses of a tool.
const (
	Draft      Status = "draft"      // Editable, never run in production.
	Published  Status = "published"  // At least one version may run.
	Deprecated Status = "deprecated" // Runs where it is pinned; new bindings are refused.
	Disabled   Status = "disabled"   // Stopped at once, everywhere.
)

// Valid reports whether s is one of the statuses.
func (s Status) Valid() bool {
	switch s {
	case Draft, Published, Deprecated, Disabled:
		return true
	default:
		return false
	}
}

// Tool is a named capability of a tenant, or of all tenants: its editable head
// and its state. Calls never run a Tool but one of its [Version]s, or in debug
// mode a snapshot of the head.
type Tool struct {
	ID     string   `json:"id"`
	Tenant TenantID `json:"tenant_id,omitempty"` // Empty for a global tool.
	Slug   string   `json:"slug"`                // What the model sees; unique in its tenant.

	Definition // The draft head.
	Policy     // Authority: read at each call, never pinned.

	Status Status `json:"status"`
	Active bool   `json:"is_active"`
	// Quarantine is why the platform stopped the tool until a person reviews
	// it; empty where it did not.
	Quarantine      string `json:"quarantine,omitempty"`
	System          bool   `json:"is_system,omitempty"`
	BuiltinKey      string `json:"builtin_key,omitempty"`
	ArtifactID      string `json:"artifact_id,omitempty"`
	ArtifactVersion string `json:"artifact_version,omitempty"`
	Version         string `json:"version"` // Version number of the head, semver.
	// ReadsDeclared records who declared that the draft's POST only reads; nil
	// where its configuration does not declare it.
	ReadsDeclared *Declaration `json:"reads_declared,omitempty"`
	// ArchivedAt is when the tool was archived; nil where it was not. An archived tool is disabled.
	ArchivedAt  *time.Time `json:"archived_at,omitempty"`
	ArchivedBy  string     `json:"archived_by,omitempty"`
	Revision    int64      `json:"revision"` // Grows with each change of the row; for optimistic locking.
	PublishedAt *time.Time `json:"published_at,omitempty"`
	CreatedAt   time.Time  `json:"created_at"`
	UpdatedAt   time.Time  `json:"updated_at"`
}

// Global reports whether t belongs to no tenant and is readable by all.
func (t *Tool) Global() bool { return t.Tenant == "" }

// Scope returns "global" or "tenant".
func (t *Tool) Scope() string {
	if t.Global() {
		return "global"
	}
	return "tenant"
}

// Version is an immutable snapshot of a tool's definition under a number.
// Runs pin one by its digest.
type Version struct {
	ID        string   `json:"id"`
	ToolID    string   `json:"tool_id"`
	Tenant    TenantID `json:"tenant_id,omitempty"` // Empty for a version of a global tool.
	Slug      string   `json:"slug"`
	Number    string   `json:"version"` // Semver.
	Digest    string   `json:"digest"`  // See [Snapshot.Digest].
	Published bool     `json:"published"`

	Snapshot Snapshot `json:"snapshot"`

	PublishedAt *time.Time `json:"published_at,omitempty"`
	CreatedAt   time.Time  `json:"created_at"`
	CreatedBy   string     `json:"created_by,omitempty"`
	// ReadsDeclared records who declared that the version's POST only reads;
	// nil where its configuration does not declare it.
	ReadsDeclared *Declaration `json:"reads_declared,omitempty"`

	// Defaults are the arguments that overrides fill in; nil for a version as it is stored. The resolver sets
	// them in the adapted copies that it returns.
	Defaults map[string]json.RawMessage `json:"-"`

	// Withheld is the percent of runs that a canary does not give the version to: 0 for none, 100 for all.
	// Stores set it in lists of versions only.
	Withheld int `json:"withheld,omitempty"`
}

// String returns "slug@number", as people and the Temporal UI read it.
func (v *Version) String() string { return v.Slug + "@" + v.Number }
