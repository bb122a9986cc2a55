package store

import (
	"context"
	"io"

	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

const (
	// postgresFiles names the place in the records of files. A trigger knows it.
	postgresFiles = "postgres"
	// fileChunk is the size of the chunks of a content.
	fileChunk = 256 << 10
)

// FileContents keeps the contents of files in PostgreSQL, in chunks that go with their file's
// record. It implements [file.Contents].
type FileContents struct{ store *Store }

var _ file.Contents = (*FileContents)(nil)

// FileContents returns the place for contents of files that this database is.
func (s *Store) FileContents() *FileContents { return &FileContents{s} }

// Location implements [file.Contents].
func (c *FileContents) Location() string { return postgresFiles }

// Put implements [file.Contents]. The record of the file is there before, and the whole content is
// written in one transaction.
func (c *FileContents) Put(ctx context.Context, ref file.Ref, content []byte) error {
	const op = "store.PutFile"
	if !tool.ValidID(ref.ID) {
		return notFound(op, fileUnknown)
	}
	err := c.store.inTx(ctx, op, ref.Tenant, func(q *db.Queries) error {
		for position := int32(0); len(content) > 0; position++ {
			chunk := content[:min(len(content), fileChunk)]
			content = content[len(chunk):]
			if err := q.AddFileChunk(ctx, db.AddFileChunkParams{
				TenantID: string(ref.Tenant), FileID: ref.ID, Position: position, Content: chunk,
			}); err != nil {
				return err
			}
		}
		return nil
	})
	return explain(err, tool.NotFound, fileUnknown)
}

// Open implements [file.Contents].
func (c *FileContents) Open(ctx context.Context, ref file.Ref) (io.ReadCloser, error) {
	r := &chunkReader{ctx: ctx, store: c.store, ref: ref}
	if err := r.fill(); err != nil {
		return nil, err
	}
	return r, nil
}

// Delete implements [file.Contents].
func (c *FileContents) Delete(ctx context.Context, ref file.Ref) error {
	const op = "store.DeleteFileContent"
	if !tool.ValidID(ref.ID) {
		return notFound(op, fileUnknown)
	}
	return c.store.do(ctx, op, ref.Tenant, func(q *db.Queries) error {
		return q.DeleteFileChunks(ctx, db.DeleteFileChunksParams{TenantID: string(ref.Tenant), FileID: ref.ID})
	})
}

// chunkReader reads a content chunk by chunk: no connection is held between two reads.
type chunkReader struct {
	ctx   context.Context //nolint:containedctx // Of the one who reads, as that of a file is.
	store *Store
	ref   file.Ref
	next  int32
	left  []byte
	ended bool
}

// fill reads the next chunk. There is at least one: a file is not empty.
func (r *chunkReader) fill() error {
	const op = "store.OpenFile"
	if !tool.ValidID(r.ref.ID) {
		return notFound(op, fileUnknown)
	}
	var err error
	r.left, err = ask(r.ctx, r.store.do, op, r.ref.Tenant, (*db.Queries).FindFileChunk, db.FindFileChunkParams{
		TenantID: string(r.ref.Tenant), FileID: r.ref.ID, Position: r.next,
	})
	gone := tool.KindOf(err) == tool.NotFound
	switch {
	case gone && r.next > 0:
		r.ended = true
		return nil
	case gone:
		return notFound(op, fileUnknown)
	}
	r.next++
	return err
}

// Read implements [io.Reader].
func (r *chunkReader) Read(p []byte) (int, error) {
	if len(r.left) == 0 && !r.ended {
		if err := r.fill(); err != nil {
			return 0, err
		}
	}
	if r.ended {
		return 0, io.EOF
	}
	n := copy(p, r.left)
	r.left = r.left[n:]
	return n, nil
}

// Close implements [io.Closer].
func (r *chunkReader) Close() error { return nil }
