package offboard

import (
	"time"

	"github.com/toolcrib/toolcrib/audit"
	"github.com/toolcrib/toolcrib/tool"
)

// Format names the layout of an export; another layout has another name.
const Format = "toolcrib.tenant-export.1"

// manifestName is the file of the manifest, which is written last: an export without it is not whole.
const manifestName = "manifest.json"

// Manifest says what an export has, and what it has not.
type Manifest struct {
	Format  string        `json:"format"`
	Tenant  tool.TenantID `json:"tenant_id"`
	Slug    string        `json:"slug"`
	Name    string        `json:"name"`
	TakenAt time.Time     `json:"taken_at"` // Of the snapshot of the database.
	Schema  int           `json:"schema_version"`
	Version string        `json:"version"` // Of the binary.
	Audit   AuditHead     `json:"audit"`
	// Histories are the executions of workflows; absent where they were not asked for.
	Histories *Histories `json:"histories,omitempty"`
	Left      []Left     `json:"left_out"`
	Files     []File     `json:"files"`
}

// AuditHead is where the audit log of an export ends.
type AuditHead struct {
	Seq      int64  `json:"seq"`
	Hash     string `json:"hash,omitempty"`
	Unsealed int    `json:"unsealed"` // Rows that were not part of the chain yet, and are not exported.
}

func (h AuditHead) state() audit.State {
	return audit.State{Head: audit.Head{Seq: h.Seq, Hash: h.Hash}, LastSeq: h.Seq}
}

// Histories counts the histories of an export.
type Histories struct {
	Workflows int `json:"workflows"`
	Open      int `json:"open"` // Of these, had not ended.
	// Undecoded of these have payloads whose key was not given: they are encrypted in the export too.
	Undecoded int `json:"undecoded"`
}

// Left is something that the export has not.
type Left struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// File is a file of an export.
type File struct {
	Path   string `json:"path"`
	Bytes  int64  `json:"bytes"`
	Rows   int64  `json:"rows,omitempty"` // Lines, of files with a row on each.
	SHA256 string `json:"sha256"`
}
