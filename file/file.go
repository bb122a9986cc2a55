package file

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Kind says how a file came to be.
type Kind string

// Kinds of files.
const (
	Uploaded Kind = "upload" // A person or a program sent it.
	Markup   Kind = "markup" // What a person drew on an image, as JSON.
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{Uploaded, Markup} }

// File is the record of a file. Its content never changes.
type File struct {
	ID        string
	Tenant    tool.TenantID
	Name      string // As [CleanName] leaves it.
	MediaType string // As [Detect] finds it.
	Size      int64  // In bytes.
	SHA256    string // Of the content, in hexadecimal.
	// Width and Height are those of an image, in pixels; zero for other files.
	Width, Height int
	Kind          Kind
	// RunID and RootRunID are the run whose artifact it is, and its outermost run; empty for a
	// file of the tenant alone.
	RunID, RootRunID string
	// CallID is the invocation of the request for input that it was sent to; empty for others.
	CallID    string
	Location  string // The [Contents] that has it.
	CreatedBy string // Subject.
	CreatedAt time.Time
	ExpiresAt *time.Time // When it is deleted, unless it is used before; nil for a file that is kept.
}

// IsImage reports whether the file is an image.
func (f *File) IsImage() bool { return f.Width > 0 }

// Reference is what an answer says of a file: never its content.
type Reference struct {
	FileID    string `json:"file_id"`
	Name      string `json:"name"`
	MediaType string `json:"media_type"`
	Size      int64  `json:"size"`
	SHA256    string `json:"sha256"`
}

// Reference returns what an answer says of the file.
func (f *File) Reference() Reference {
	return Reference{FileID: f.ID, Name: f.Name, MediaType: f.MediaType, Size: f.Size, SHA256: f.SHA256}
}

// Query selects files. Tenant is required; the other fields filter where they are set.
type Query struct {
	Tenant tool.TenantID
	RunID  string // Files of a run, or of an outermost run.
	CallID string // Files that were sent to a request for input.
	Before string // Files older than the one of this id.
	Limit  int
}

// Quota bounds what a tenant, and the requests for input of its runs, may have.
type Quota struct {
	TenantBytes int64
	CallBytes   int64 // For each request.
	CallFiles   int   // For each request.
}

// Store keeps the records of files. Files that are being uploaded, and those whose time is over,
// are not found. It is safe for concurrent use. Package store implements it.
type Store interface {
	// AddFile records a file whose content is about to be stored, within a quota. It is found
	// once [Store.CompleteFile] says so, and swept an hour later otherwise. It fails with
	// tool.Conflict where the quota does not allow it, and with tool.NotFound for a run that
	// the tenant does not have.
	AddFile(ctx context.Context, f File, q Quota) error
	// CompleteFile says that the content of a file is stored, and for how long the file is kept
	// while nothing uses it; zero for always. It fails with tool.NotFound.
	CompleteFile(ctx context.Context, tenant tool.TenantID, id string, unused time.Duration) (File, error)
	// FindFile fails with tool.NotFound.
	FindFile(ctx context.Context, tenant tool.TenantID, id string) (File, error)
	// ListFiles returns files, newest first.
	ListFiles(ctx context.Context, q Query) ([]File, error)
	// DeleteFile deletes a file. Content that is elsewhere is remembered as left over, until
	// [Store.ForgetFile]. It fails with tool.NotFound.
	DeleteFile(ctx context.Context, tenant tool.TenantID, id string) (File, error)
	// SweepFiles deletes at most so many files of any tenant whose time is over, as
	// [Store.DeleteFile] does, and returns how many.
	SweepFiles(ctx context.Context, limit int) (int, error)
	// ClaimLeftFiles leases content that was left over in a place, of any tenant.
	ClaimLeftFiles(ctx context.Context, location string, lease time.Duration, limit int) ([]Ref, error)
	// ForgetFile says that left over content is gone.
	ForgetFile(ctx context.Context, ref Ref) error
}

// Ref names the content of a file.
type Ref struct {
	Tenant tool.TenantID
	ID     string
}

// Ref names the file's content.
func (f *File) Ref() Ref { return Ref{f.Tenant, f.ID} }

// Contents is a place for the contents of files. It is safe for concurrent use. Package filetest
// tests implementations.
type Contents interface {
	// Location names the place in the records of files.
	Location() string
	// Put stores a content. What a content that was put halfway leaves is never read.
	Put(ctx context.Context, ref Ref, content []byte) error
	// Open returns a content, which the caller closes. It fails with tool.NotFound for content
	// that is not there, and for that of another tenant.
	Open(ctx context.Context, ref Ref) (io.ReadCloser, error)
	// Delete deletes a content. It is no error if there is none.
	Delete(ctx context.Context, ref Ref) error
}

// Accepts reports whether a list of media types such as "image/*" has one. An empty list has all.
func Accepts(accept []string, mediaType string) bool {
	return len(accept) == 0 || slices.ContainsFunc(accept, func(a string) bool {
		family, ok := cutFamily(a)
		return a == mediaType || a == "*/*" || ok && len(mediaType) > len(family) && mediaType[:len(family)] == family
	})
}

// cutFamily returns the beginning that all types of a family such as "image/*" have.
func cutFamily(accept string) (string, bool) {
	if n := len(accept) - 1; n > 1 && accept[n-1:] == "/*" {
		return accept[:n], true
	}
	return "", false
}
