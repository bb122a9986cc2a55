package file

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/toolcrib/toolcrib/internal/uuid7"
	"github.com/toolcrib/toolcrib/tool"
)

// Defaults and bounds of [Config].
const (
	DefaultMaxBytes    = 10 << 20
	MostBytes          = 64 << 20 // More is refused: a file is checked in memory.
	DefaultTenantBytes = 1 << 30
	DefaultUnused      = 24 * time.Hour
	// maxFilesOfCall and the bytes of as many full files bound what is sent to one request.
	maxFilesOfCall = 64
	fullFiles      = 10
	// full files are in memory at most, of uploads that are read.
	filesInMemory = 16
)

// Config holds what a service needs. Store and Contents are required.
type Config struct {
	Store Store
	// Contents are the places of contents. New files go to the first; the others are read.
	Contents []Contents
	// MaxBytes bounds a file. Defaults to [DefaultMaxBytes]; at most [MostBytes].
	MaxBytes int64
	// TenantBytes bounds the files of a tenant. Defaults to [DefaultTenantBytes].
	TenantBytes int64
	// Unused is how long a file is kept that nothing uses. Defaults to [DefaultUnused].
	Unused time.Duration
	Logger *slog.Logger // Defaults to discarding.
}

// Service stores and serves files. It is safe for concurrent use.
type Service struct {
	cfg    Config
	memory *semaphore.Weighted
}

var errIncomplete = errors.New("file: Store and Contents are required")

// New returns a service.
func New(cfg Config) (*Service, error) {
	if cfg.Store == nil || len(cfg.Contents) == 0 {
		return nil, errIncomplete
	}
	cfg.MaxBytes = cmp.Or(cfg.MaxBytes, DefaultMaxBytes)
	cfg.TenantBytes = cmp.Or(cfg.TenantBytes, DefaultTenantBytes)
	cfg.Unused = cmp.Or(cfg.Unused, DefaultUnused)
	if cfg.MaxBytes < 1 || cfg.MaxBytes > MostBytes || cfg.TenantBytes < 1 || cfg.Unused < 0 {
		return nil, &tool.Error{Kind: tool.Invalid, Op: "file.New", Msg: fmt.Sprintf(
			"a file may have 1 to %d bytes, and a tenant more than none", MostBytes)}
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	return &Service{cfg: cfg, memory: semaphore.NewWeighted(filesInMemory * cfg.MaxBytes)}, nil
}

// MaxBytes is the size that a file may have.
func (s *Service) MaxBytes() int64 { return s.cfg.MaxBytes }

// Upload says what is stored.
type Upload struct {
	Tenant           tool.TenantID
	Name             string // As it was sent; it is cleaned.
	Kind             Kind   // Defaults to [Uploaded].
	RunID, RootRunID string
	CallID           string
	CreatedBy        string
	Accept           []string // Media types that are accepted, as [Accepts] has them.
	MaxBytes         int64    // If less than the service's.
	// Unused is how long it is kept while nothing uses it. Defaults to the service's; negative
	// for always.
	Unused time.Duration
}

// bound returns the size that an upload may have.
func (s *Service) bound(u *Upload) int64 {
	if u.MaxBytes > 0 {
		return min(u.MaxBytes, s.cfg.MaxBytes)
	}
	return s.cfg.MaxBytes
}

// Receive reads a file and stores it. Few are read at once: others wait until ctx ends. It fails
// like [Service.Upload], and with the error of the reader.
func (s *Service) Receive(ctx context.Context, u Upload, from io.Reader) (File, error) {
	most := s.bound(&u)
	if err := s.memory.Acquire(ctx, most); err != nil {
		return File{}, &tool.Error{
			Kind: tool.Unavailable, Op: "file.Receive", Msg: "too many files are being sent: try again", Err: err,
		}
	}
	defer s.memory.Release(most)
	content, err := io.ReadAll(io.LimitReader(from, most+1))
	if err != nil {
		return File{}, fmt.Errorf("reading the file: %w", err)
	}
	return s.Upload(ctx, u, content)
}

// Upload stores a file. It fails with tool.Invalid for content that is not accepted or too large,
// with tool.Conflict where the tenant, or the request for input, has too many or too large files,
// and with tool.NotFound for a run that the tenant does not have.
func (s *Service) Upload(ctx context.Context, u Upload, content []byte) (File, error) {
	const op = "file.Upload"
	if most := s.bound(&u); int64(len(content)) > most {
		return File{}, &tool.Error{Kind: tool.Invalid, Op: op, Msg: "the file is too large: at most " + bytesText(most)}
	}
	found, err := Detect(content)
	if err != nil {
		return File{}, err
	}
	if !Accepts(u.Accept, found.MediaType) {
		return File{}, &tool.Error{Kind: tool.Invalid, Op: op, Msg: fmt.Sprintf(
			"the file is %s: expected %s", found.MediaType, strings.Join(u.Accept, ", "))}
	}
	id, err := uuid7.New()
	if err != nil {
		return File{}, fmt.Errorf("making an id: %w", err)
	}
	sum := sha256.Sum256(content)
	place := s.cfg.Contents[0]
	f := File{
		ID: id, Tenant: u.Tenant, Name: CleanName(u.Name, found.MediaType), MediaType: found.MediaType,
		Size: int64(len(content)), SHA256: hex.EncodeToString(sum[:]), Width: found.Width, Height: found.Height,
		Kind: cmp.Or(u.Kind, Uploaded), RunID: u.RunID, RootRunID: u.RootRunID, CallID: u.CallID,
		Location: place.Location(), CreatedBy: u.CreatedBy,
	}
	quota := Quota{
		TenantBytes: s.cfg.TenantBytes, CallBytes: fullFiles * s.cfg.MaxBytes, CallFiles: maxFilesOfCall,
	}
	if err := s.cfg.Store.AddFile(ctx, f, quota); err != nil {
		return File{}, fmt.Errorf("recording the file: %w", err)
	}
	unused := cmp.Or(u.Unused, s.cfg.Unused)
	if err := place.Put(ctx, f.Ref(), content); err != nil {
		s.drop(context.WithoutCancel(ctx), &f)
		return File{}, fmt.Errorf("storing the file: %w", err)
	}
	stored, err := s.cfg.Store.CompleteFile(ctx, f.Tenant, f.ID, max(unused, 0))
	if err != nil {
		return File{}, fmt.Errorf("recording the file: %w", err)
	}
	return stored, nil
}

// OfCall returns the files that were sent to a request for input.
func (s *Service) OfCall(ctx context.Context, tenant tool.TenantID, callID string) ([]File, error) {
	found, err := s.cfg.Store.ListFiles(ctx, Query{Tenant: tenant, CallID: callID, Limit: maxFilesOfCall})
	if err != nil {
		return nil, fmt.Errorf("finding files: %w", err)
	}
	return found, nil
}

// drop deletes what an upload that failed has left. What it cannot delete is swept.
func (s *Service) drop(ctx context.Context, f *File) {
	ctx, cancel := context.WithTimeout(ctx, dropTimeout)
	defer cancel()
	_ = s.Delete(ctx, f.Tenant, f.ID)
}

const dropTimeout = 5 * time.Second

// bytesText writes a number of bytes for people.
func bytesText(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// Open returns a file and its content, which the caller closes. The last of it is only returned
// when all of it has the digest that was recorded; reading fails otherwise. It fails with
// tool.NotFound.
func (s *Service) Open(ctx context.Context, tenant tool.TenantID, id string) (File, io.ReadCloser, error) {
	f, err := s.cfg.Store.FindFile(ctx, tenant, id)
	if err != nil {
		return File{}, nil, fmt.Errorf("finding the file: %w", err)
	}
	place, err := s.place(f.Location)
	if err != nil {
		return File{}, nil, err
	}
	content, err := place.Open(ctx, f.Ref())
	if err != nil {
		return File{}, nil, fmt.Errorf("opening the file: %w", err)
	}
	return f, &verified{from: content, file: f, sum: sha256.New()}, nil
}

// Find returns the record of a file. It fails with tool.NotFound.
func (s *Service) Find(ctx context.Context, tenant tool.TenantID, id string) (File, error) {
	f, err := s.cfg.Store.FindFile(ctx, tenant, id)
	if err != nil {
		return File{}, fmt.Errorf("finding the file: %w", err)
	}
	return f, nil
}

// List returns files, newest first.
func (s *Service) List(ctx context.Context, q Query) ([]File, error) {
	found, err := s.cfg.Store.ListFiles(ctx, q)
	if err != nil {
		return nil, fmt.Errorf("listing files: %w", err)
	}
	return found, nil
}

// place returns the contents at a location.
func (s *Service) place(location string) (Contents, error) {
	i := slices.IndexFunc(s.cfg.Contents, func(c Contents) bool { return c.Location() == location })
	if i < 0 {
		return nil, &tool.Error{
			Kind: tool.Unavailable, Op: "file.Open",
			Msg: fmt.Sprintf("the file is in %q, which this server does not have", location),
		}
	}
	return s.cfg.Contents[i], nil
}

// Delete deletes a file and its content. It fails with tool.NotFound.
func (s *Service) Delete(ctx context.Context, tenant tool.TenantID, id string) error {
	f, err := s.cfg.Store.DeleteFile(ctx, tenant, id)
	if err != nil {
		return fmt.Errorf("deleting the file: %w", err)
	}
	if place, err := s.place(f.Location); err == nil {
		s.remove(ctx, place, f.Ref())
	}
	return nil
}

// remove deletes content that no record has any more. If that fails, it is tried again later.
func (s *Service) remove(ctx context.Context, place Contents, ref Ref) {
	err := place.Delete(ctx, ref)
	if err == nil {
		err = s.cfg.Store.ForgetFile(ctx, ref)
	}
	if err != nil {
		s.cfg.Logger.WarnContext(ctx, "deleting the content of a file failed; it is retried",
			slog.String("file_id", ref.ID), slog.Any("error", err))
	}
}

// verified reads a content and checks it.
type verified struct {
	from io.ReadCloser
	file File
	sum  hash.Hash
	read int64
	next []byte // Read, not returned yet.
	err  error
}

// Read implements [io.Reader].
func (v *verified) Read(p []byte) (int, error) {
	for len(v.next) < 2*readAhead && v.err == nil {
		block := make([]byte, readAhead)
		n, err := io.ReadFull(v.from, block)
		v.sum.Write(block[:n])
		v.read += int64(n)
		v.next = append(v.next, block[:n]...)
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
			v.err = io.EOF
			if v.read != v.file.Size || hex.EncodeToString(v.sum.Sum(nil)) != v.file.SHA256 {
				v.err, v.next = errDamaged, nil
			}
		case err != nil:
			v.err = fmt.Errorf("reading the file: %w", err)
		}
	}
	most := len(v.next)
	if v.err == nil {
		most -= readAhead // Kept back until the end is seen.
	}
	n := copy(p, v.next[:most])
	v.next = v.next[n:]
	if n == 0 && v.err != nil {
		return 0, v.err
	}
	return n, nil
}

const readAhead = 32 << 10

var errDamaged = &tool.Error{
	Kind: tool.InternalError, Op: "file.Open", Msg: "the content of the file is not the one that was stored",
}

// Close implements [io.Closer].
func (v *verified) Close() error {
	if err := v.from.Close(); err != nil {
		return fmt.Errorf("closing the file: %w", err)
	}
	return nil
}

// ReadAll returns a content that was opened.
func ReadAll(content io.ReadCloser) ([]byte, error) {
	defer func() { _ = content.Close() }()
	var b bytes.Buffer
	if _, err := b.ReadFrom(content); err != nil {
		return nil, fmt.Errorf("reading the file: %w", err)
	}
	return b.Bytes(), nil
}
