package filetest

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/tool"
)

// Memory keeps records and contents in memory, for unit tests. It knows no quotas and no runs, and
// is safe for concurrent use.
type Memory struct {
	mu       sync.Mutex
	files    map[file.Ref]file.File
	stored   map[file.Ref]bool
	contents map[file.Ref][]byte
	left     []file.Ref
}

var (
	_ file.Store    = (*Memory)(nil)
	_ file.Contents = (*Memory)(nil)
)

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{files: map[file.Ref]file.File{}, stored: map[file.Ref]bool{}, contents: map[file.Ref][]byte{}}
}

// Location implements [file.Contents].
func (m *Memory) Location() string { return "memory" }

// Put implements [file.Contents].
func (m *Memory) Put(ctx context.Context, ref file.Ref, content []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return &tool.Error{Kind: tool.Cancelled, Err: err}
	}
	m.contents[ref] = bytes.Clone(content)
	return nil
}

// Open implements [file.Contents].
func (m *Memory) Open(ctx context.Context, ref file.Ref) (io.ReadCloser, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	content, ok := m.contents[ref]
	switch {
	case ctx.Err() != nil:
		return nil, &tool.Error{Kind: tool.Cancelled, Err: ctx.Err()}
	case !ok:
		return nil, absent()
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

// Delete implements [file.Contents].
func (m *Memory) Delete(_ context.Context, ref file.Ref) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.contents, ref)
	return nil
}

func absent() error { return &tool.Error{Kind: tool.NotFound, Op: "filetest", Msg: "file not found"} }

// AddFile implements [file.Store].
func (m *Memory) AddFile(_ context.Context, f file.File, _ file.Quota) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	f.CreatedAt = time.Now()
	m.files[f.Ref()] = f
	return nil
}

// CompleteFile implements [file.Store].
func (m *Memory) CompleteFile(
	_ context.Context, tenant tool.TenantID, id string, unused time.Duration,
) (file.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ref := file.Ref{Tenant: tenant, ID: id}
	f, ok := m.files[ref]
	if !ok {
		return file.File{}, absent()
	}
	if unused > 0 {
		at := time.Now().Add(unused)
		f.ExpiresAt = &at
	}
	m.files[ref], m.stored[ref] = f, true
	return f, nil
}

// FindFile implements [file.Store].
func (m *Memory) FindFile(_ context.Context, tenant tool.TenantID, id string) (file.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ref := file.Ref{Tenant: tenant, ID: id}
	f, ok := m.files[ref]
	if !ok || !m.stored[ref] || over(f) {
		return file.File{}, absent()
	}
	return f, nil
}

func over(f file.File) bool { return f.ExpiresAt != nil && !time.Now().Before(*f.ExpiresAt) }

// ListFiles implements [file.Store].
func (m *Memory) ListFiles(_ context.Context, q file.Query) ([]file.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := []file.File{}
	for ref, f := range m.files {
		if f.Tenant == q.Tenant && m.stored[ref] && !over(f) && (q.CallID == "" || f.CallID == q.CallID) &&
			(q.RunID == "" || f.RunID == q.RunID || f.RootRunID == q.RunID) && (q.Before == "" || f.ID < q.Before) {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b file.File) int { return cmp.Compare(b.ID, a.ID) })
	if q.Limit > 0 && len(out) > q.Limit {
		out = out[:q.Limit]
	}
	return out, nil
}

// DeleteFile implements [file.Store].
func (m *Memory) DeleteFile(_ context.Context, tenant tool.TenantID, id string) (file.File, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	ref := file.Ref{Tenant: tenant, ID: id}
	f, ok := m.files[ref]
	if !ok {
		return file.File{}, absent()
	}
	delete(m.files, ref)
	m.left = append(m.left, ref)
	return f, nil
}

// SweepFiles implements [file.Store].
func (m *Memory) SweepFiles(_ context.Context, limit int) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	swept := 0
	for ref, f := range m.files {
		if swept < limit && over(f) {
			delete(m.files, ref)
			m.left = append(m.left, ref)
			swept++
		}
	}
	return swept, nil
}

// ClaimLeftFiles implements [file.Store].
func (m *Memory) ClaimLeftFiles(context.Context, string, time.Duration, int) ([]file.Ref, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.left), nil
}

// ForgetFile implements [file.Store].
func (m *Memory) ForgetFile(_ context.Context, ref file.Ref) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.left = slices.DeleteFunc(m.left, func(r file.Ref) bool { return r == ref })
	return nil
}

// Contents returns how many contents there are.
func (m *Memory) Contents() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.contents)
}

// Damage changes a content behind the back of its record.
func (m *Memory) Damage(ref file.Ref, change func([]byte) []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.contents[ref] = change(bytes.Clone(m.contents[ref]))
}
