package registry

import (
	"context"
	"encoding/json"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// ArtifactStatus is where an uploaded program is in its life.
type ArtifactStatus string

// Statuses of an artifact. They are stored: never rename one.
const (
	ArtifactActive     ArtifactStatus = "active"
	ArtifactDeprecated ArtifactStatus = "deprecated" // Runs where it is pinned; no tool pins it anew.
	ArtifactDisabled   ArtifactStatus = "disabled"   // Stopped at its next call, everywhere.
)

// Artifact is a program of a tenant's own that was uploaded for itself, and not
// in the configuration of a tool. What runs is one of its versions, which tools
// pin when they are published.
type Artifact struct {
	ID          string
	Tenant      tool.TenantID
	Slug        string // Unique in the tenant.
	Name        string
	Description string
	Language    string // jq, javascript or wasm; all its versions are in it.
	Status      ArtifactStatus
	Version     string // Number of the newest version; empty before the first.
	Revision    int64
	CreatedBy   string
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// ArtifactVersion is a program under a number. It never changes.
type ArtifactVersion struct {
	Number    string // Semver.
	Digest    string // SHA-256 of the program, in hexadecimal.
	Size      int    // Of the program, in bytes.
	Inputs    []tool.ArtifactInput
	CreatedBy string
	CreatedAt time.Time
}

// ArtifactSpec is the desired state of an artifact, with the program of a
// version where one is to be uploaded.
type ArtifactSpec struct {
	Slug        string         `json:"slug"`
	Name        string         `json:"name,omitempty"` // The slug when empty.
	Description string         `json:"description,omitempty"`
	Language    string         `json:"language,omitempty"` // Cannot be changed.
	Status      ArtifactStatus `json:"status,omitempty"`   // Active when empty.
	Revision    int64          `json:"revision,omitempty"` // Unless zero, it must still be the artifact's.
	ArtifactUpload
}

// ArtifactUpload is the program of a new version: as text in Source, or in
// base64 in Content.
type ArtifactUpload struct {
	Version string               `json:"version,omitempty"` // The next patch when empty.
	Source  string               `json:"source,omitempty"`
	Content []byte               `json:"content_base64,omitempty"`
	Inputs  []tool.ArtifactInput `json:"inputs,omitempty"`
}

// ArtifactRules judge programs that are uploaded. A rule that is nil lets
// everything pass.
type ArtifactRules struct {
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

// ArtifactStore keeps artifacts. Package store implements it. As in [Store],
// what belongs to another tenant is tool.NotFound.
type ArtifactStore interface {
	// CreateArtifact stores a new artifact; Conflict when its slug is taken.
	CreateArtifact(ctx context.Context, a Artifact) (Artifact, error)
	// SaveArtifact stores a changed artifact if its revision is still
	// a.Revision, else fails with Conflict, caused by [ErrChanged].
	SaveArtifact(ctx context.Context, a Artifact) (Artifact, error)
	FindArtifact(ctx context.Context, tenant tool.TenantID, slugOrID string) (Artifact, error)
	// ListArtifacts returns a page in the order of slugs.
	ListArtifacts(ctx context.Context, tenant tool.TenantID, afterSlug string, limit int) ([]Artifact, error)
	// AddArtifactVersion stores a version and the artifact, whose newest it is
	// then, under the rules of SaveArtifact. A number that is taken is a Conflict.
	AddArtifactVersion(
		ctx context.Context, a Artifact, v ArtifactVersion, program []byte,
	) (Artifact, ArtifactVersion, error)
	// ListArtifactVersions returns an artifact's versions, newest first, without
	// their programs.
	ListArtifactVersions(ctx context.Context, tenant tool.TenantID, artifactID string) ([]ArtifactVersion, error)
	// LoadArtifact returns the program of a version.
	LoadArtifact(ctx context.Context, tenant tool.TenantID, artifactID, version string) (tool.ArtifactCode, error)
}
