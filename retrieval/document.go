package retrieval

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// MediaType is the media type of a document's content.
type MediaType string

// Media types.
const (
	Plain    MediaType = "text/plain"
	Markdown MediaType = "text/markdown"
	HTML     MediaType = "text/html"
	PDF      MediaType = "application/pdf"
)

// MediaTypes lists every media type.
func MediaTypes() []MediaType { return []MediaType{Plain, Markdown, HTML, PDF} }

// DocumentStatus is the ingestion status of a document's newest content.
type DocumentStatus string

// Statuses of documents.
const (
	Pending   DocumentStatus = "pending"   // Stored; ingestion has not begun.
	Ingesting DocumentStatus = "ingesting" // Being extracted, cut and embedded.
	Ready     DocumentStatus = "ready"     // Searchable.
	Failed    DocumentStatus = "failed"    // See Error. The previous version stays searchable.
)

// DocumentStatuses lists every status.
func DocumentStatuses() []DocumentStatus {
	return []DocumentStatus{Pending, Ingesting, Ready, Failed}
}

// Bounds of documents.
const (
	MaxDocumentBytes  = 10 << 20 // Of its content.
	MaxDocumentKey    = 512      // Bytes.
	MaxDocumentTitle  = 500      // Characters.
	MaxDocumentSource = 2048     // Bytes.
	MaxDocumentChunks = 20_000   // Of one content.
	MaxDocumentError  = 1000     // Bytes.
)

// Document is a document of a pipeline.
type Document struct {
	ID         string        `json:"id"`
	Tenant     tool.TenantID `json:"tenant_id"`
	PipelineID string        `json:"pipeline_id"`
	// Key is the caller's own id, unique in the pipeline. Putting a document under an
	// existing key replaces its content, and keeps the document's ID.
	Key       string    `json:"key"`
	Title     string    `json:"title,omitempty"` // Defaults to the title in the content.
	MediaType MediaType `json:"media_type"`
	Source    string    `json:"source,omitempty"` // A URL or path to cite.
	Metadata  Metadata  `json:"metadata,omitempty"`
	Digest    string    `json:"digest"` // The sha256 of the content, in hexadecimal.
	Bytes     int       `json:"bytes"`  // Of the content.
	// Version counts replacements. It is the fence of ingestion: a step for an older
	// version fails with [tool.Conflict].
	Version int64 `json:"version"`
	// LiveVersion is the searchable version; 0 for none.
	LiveVersion int64          `json:"live_version"`
	Status      DocumentStatus `json:"status"` // Of Version.
	Error       string         `json:"error,omitempty"`
	// Chunks and Embedded are the progress of Version: its chunks, and those embedded
	// in every generation of the pipeline.
	Chunks    int        `json:"chunks"`
	Embedded  int        `json:"embedded"`
	CreatedBy string     `json:"created_by,omitempty"`
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt time.Time  `json:"updated_at"`
	ReadyAt   *time.Time `json:"ready_at,omitempty"` // When LiveVersion became so.
}

// DocumentRef identifies one version of a document, for its ingestion.
type DocumentRef struct {
	Tenant   tool.TenantID `json:"tenant_id"`
	Document string        `json:"document_id"`
	Version  int64         `json:"version"`
}

// Ref names the newest version of the document.
func (d *Document) Ref() DocumentRef {
	return DocumentRef{Tenant: d.Tenant, Document: d.ID, Version: d.Version}
}

// Digest returns the digest of a document's content.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// Check checks the fields that people set, and the size of the content. It fails with
// [tool.Invalid] and the JSON Pointer of the fault.
func (d *Document) Check(content []byte) error {
	switch {
	case d.Key == "" || len(d.Key) > MaxDocumentKey || !printable(d.Key):
		return invalid("/key", "want a name of your own for the document, at most %d bytes, no control characters",
			MaxDocumentKey)
	case !fits(d.Title, MaxDocumentTitle) || !printable(d.Title):
		return invalid("/title", "want at most %d characters, no control characters", MaxDocumentTitle)
	case len(d.Source) > MaxDocumentSource || !printable(d.Source):
		return invalid("/source", "want at most %d bytes, no control characters", MaxDocumentSource)
	case !slices.Contains(MediaTypes(), d.MediaType):
		return invalid("/media_type", "media type %.80q: want one of %s", string(d.MediaType), joined(MediaTypes()))
	case len(content) == 0:
		return invalid("/content", "the document is empty")
	case len(content) > MaxDocumentBytes:
		return invalid("/content", "the document has %d bytes: want at most %d (10 MiB); cut it into several", len(content),
			MaxDocumentBytes)
	}
	if err := d.MediaType.CheckContent(content); err != nil {
		return err
	}
	return d.Metadata.Check("/metadata")
}

// Extracted is the text of a document.
type Extracted struct {
	Title string // From the content; may be empty.
	// Text is the whole text, front matter included, as UTF-8 with lines that end in
	// "\n". For documents ingested before texts were stored, stores return the chunks,
	// separated by blank lines.
	Text string
}

// Chunk is a passage of a document.
type Chunk struct {
	ID         string   `json:"id"` // Set by stores; derived from version and position.
	DocumentID string   `json:"document_id"`
	Position   int      `json:"position"` // From 0.
	Text       string   `json:"text"`     // At most [MaxChunkBytes].
	Headings   []string `json:"headings,omitempty"`
	// Start and End are the range of the text in the document's text, in bytes:
	// [Extracted.Text][Start:End].
	Start int `json:"start"`
	End   int `json:"end"`
	Page  int `json:"page,omitempty"` // Of a PDF, where the chunk begins, from 1; 0 otherwise.
}
