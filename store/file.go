package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/internal/input"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wait"
)

const (
	fileUnknown = "file not found"
	// filePending is how long the record of a file waits for its content.
	filePending = time.Hour
)

// AddFile implements [file.Store].
func (s *Store) AddFile(ctx context.Context, f file.File, most file.Quota) error {
	const op = "store.AddFile"
	if err := checkIDs(op, f.ID, f.RunID, f.RootRunID, f.CallID); err != nil {
		return err
	}
	tenant := string(f.Tenant)
	err := s.inTx(ctx, op, f.Tenant, func(q *db.Queries) error {
		if err := q.LockFiles(ctx, tenant); err != nil {
			return err
		}
		has, err := q.MeasureFiles(ctx, db.MeasureFilesParams{TenantID: tenant, InvocationID: optional(f.CallID)})
		if err != nil {
			return err
		}
		refuse := func(format string, args ...any) error {
			return &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(format, args...)}
		}
		switch {
		case has.Bytes+f.Size > most.TenantBytes:
			return refuse("the tenant's files would have more than %d bytes: delete some first", most.TenantBytes)
		case f.CallID == "":
		case int(has.CallFiles) >= most.CallFiles:
			return refuse("too many files were sent to this request: at most %d", most.CallFiles)
		case has.CallBytes+f.Size > most.CallBytes:
			return refuse("the files of this request would have more than %d bytes", most.CallBytes)
		}
		if f.RunID != "" && f.RootRunID == "" {
			f.RootRunID, err = q.FindRootRun(ctx, db.FindRootRunParams{TenantID: tenant, ID: f.RunID, Most: agent.MaxDepth + 1})
			if err != nil {
				return err
			}
		}
		return q.AddFile(ctx, db.AddFileParams{
			TenantID: tenant, ID: f.ID, Name: text(f.Name), MediaType: f.MediaType, Size: f.Size, Sha256: f.SHA256,
			Width: number(f.Width), Height: number(f.Height), Kind: string(f.Kind), RunID: optional(f.RunID),
			RootRunID: optional(f.RootRunID), InvocationID: optional(f.CallID), Location: f.Location,
			CreatedBy: text(f.CreatedBy), PendingS: filePending.Seconds(),
		})
	})
	return explain(err, tool.NotFound, "run not found")
}

// CompleteFile implements [file.Store].
func (s *Store) CompleteFile(
	ctx context.Context, tenant tool.TenantID, id string, unused time.Duration,
) (file.File, error) {
	const op = "store.CompleteFile"
	if !tool.ValidID(id) {
		return file.File{}, notFound(op, fileUnknown)
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).CompleteFile, db.CompleteFileParams{
		TenantID: string(tenant), ID: id, UnusedS: unused.Seconds(),
	})
	return fileOf(row), explain(err, tool.NotFound, fileUnknown)
}

// FindFile implements [file.Store].
func (s *Store) FindFile(ctx context.Context, tenant tool.TenantID, id string) (file.File, error) {
	const op = "store.FindFile"
	if !tool.ValidID(id) {
		return file.File{}, notFound(op, fileUnknown)
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).FindFile, db.FindFileParams{TenantID: string(tenant), ID: id})
	return fileOf(row), explain(err, tool.NotFound, fileUnknown)
}

// ListFiles implements [file.Store].
func (s *Store) ListFiles(ctx context.Context, query file.Query) ([]file.File, error) {
	const op = "store.ListFiles"
	if err := checkIDs(op, query.RunID, query.CallID, query.Before); err != nil {
		return nil, err
	}
	rows, err := ask(ctx, s.doFiltered, op, query.Tenant, (*db.Queries).ListFiles, db.ListFilesParams{
		TenantID: string(query.Tenant), Before: optional(query.Before), RunID: optional(query.RunID),
		InvocationID: optional(query.CallID), Limit: pageSize(query.Limit),
	})
	return convert(rows, fileOf), err
}

// DeleteFile implements [file.Store].
func (s *Store) DeleteFile(ctx context.Context, tenant tool.TenantID, id string) (file.File, error) {
	const op = "store.DeleteFile"
	if !tool.ValidID(id) {
		return file.File{}, notFound(op, fileUnknown)
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).DeleteFile, db.DeleteFileParams{
		TenantID: string(tenant), ID: id,
	})
	return fileOf(row), explain(err, tool.NotFound, fileUnknown)
}

// SweepFiles implements [file.Store].
func (s *Store) SweepFiles(ctx context.Context, limit int) (int, error) {
	var swept int32
	err := s.doGlobal(ctx, "store.SweepFiles", func(q *db.Queries) (err error) {
		swept, err = q.SweepFiles(ctx, pageSize(limit))
		return err
	})
	s.sweeps.note(SweepExpiredFiles, int(swept), err)
	return int(swept), err
}

// ClaimLeftFiles implements [file.Store].
func (s *Store) ClaimLeftFiles(
	ctx context.Context, location string, lease time.Duration, limit int,
) ([]file.Ref, error) {
	var raw json.RawMessage
	err := s.doGlobal(ctx, "store.ClaimLeftFiles", func(q *db.Queries) (err error) {
		raw, err = q.ClaimLeftFiles(ctx, db.ClaimLeftFilesParams{
			Location: text(location), LeaseS: lease.Seconds(), Most: pageSize(limit),
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	var rows []struct {
		TenantID tool.TenantID `json:"tenant_id"`
		FileID   string        `json:"file_id"`
	}
	if err := decode(raw, &rows); err != nil {
		return nil, err
	}
	refs := make([]file.Ref, len(rows))
	for i, r := range rows {
		refs[i] = file.Ref{Tenant: r.TenantID, ID: r.FileID}
	}
	return refs, nil
}

// ForgetFile implements [file.Store].
func (s *Store) ForgetFile(ctx context.Context, ref file.Ref) error {
	const op = "store.ForgetFile"
	if !tool.ValidID(ref.ID) {
		return notFound(op, fileUnknown)
	}
	return s.do(ctx, op, ref.Tenant, func(q *db.Queries) error {
		return q.ForgetFile(ctx, db.ForgetFileParams{TenantID: string(ref.Tenant), FileID: ref.ID})
	})
}

// useFiles keeps the files that an answer names. It fails with tool.Conflict if one is gone, or was
// not sent to the request.
func useFiles(ctx context.Context, q *db.Queries, op string, sub wait.Submission) error {
	if len(sub.Files) == 0 {
		return nil
	}
	used, err := q.UseFiles(ctx, db.UseFilesParams{TenantID: string(sub.Tenant), InvocationID: sub.ID, Ids: sub.Files})
	if err == nil && used != int64(len(sub.Files)) {
		err = &tool.Error{Kind: tool.Conflict, Op: op, Msg: "a file of the answer is gone: send it again"}
	}
	return err
}

// keepShown keeps the file that a request for input shows, as long as the request.
func keepShown(ctx context.Context, q *db.Queries, c *wait.Call) error {
	if c.Implementation != tool.Input {
		return nil
	}
	asked, err := input.Read(c.Arguments)
	if err != nil || asked.Markup == nil || asked.Markup.FileID() == "" {
		return nil //nolint:nilerr // It was checked before: the page says what is wrong with it.
	}
	return q.KeepFile(ctx, db.KeepFileParams{
		TenantID: string(c.Principal.Tenant), ID: asked.Markup.FileID(), RootRunID: c.RootRunID,
	})
}

func fileOf(row db.File) file.File {
	return file.File{
		ID: row.ID, Tenant: tool.TenantID(row.TenantID), Name: row.Name, MediaType: row.MediaType, Size: row.Size,
		SHA256: row.Sha256, Width: int(row.Width), Height: int(row.Height), Kind: file.Kind(row.Kind),
		RunID: value(row.RunID), RootRunID: value(row.RootRunID), CallID: value(row.InvocationID), Location: row.Location,
		CreatedBy: row.CreatedBy, CreatedAt: row.CreatedAt, ExpiresAt: row.ExpiresAt,
	}
}
