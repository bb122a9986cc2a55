package artifact

import (
	"time"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/tool"
)

// Artifact is a program that a tenant uploaded by itself, rather than within the
// configuration of a tool. Tools pin one of its versions when they are published.
type Artifact struct {
	ID          string
	Tenant      tool.TenantID
	Slug        string // Unique in the tenant.
	Name        string
	Description string
	Language    string // jq, javascript or wasm; all its versions are in it.
	Status      definition.ArtifactStatus
	Version     string // Number of the newest version; empty before the first.
	Revision    int64
	CreatedBy   string
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Version is a program under a number. It never changes.
type Version struct {
	Number    string // Semver.
	Digest    string // SHA-256 of the program, in hexadecimal.
	Size      int    // Of the program, in bytes.
	Inputs    []tool.ArtifactInput
	CreatedBy string
	CreatedAt time.Time
}
