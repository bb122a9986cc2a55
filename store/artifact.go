package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/toolcrib/toolcrib/registry/artifact"
	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/store/internal/db"
	"github.com/toolcrib/toolcrib/tool"
)

// CreateArtifact implements [artifact.Store].
func (s *Store) CreateArtifact(ctx context.Context, a artifact.Artifact) (artifact.Artifact, error) {
	const op = "store.CreateArtifact"
	id, err := idOrNew(a.ID)
	if err != nil {
		return artifact.Artifact{}, err
	}
	row, err := ask(ctx, s.do, op, a.Tenant, (*db.Queries).CreateArtifact, db.CreateArtifactParams{
		ID: id, TenantID: string(a.Tenant), Slug: text(a.Slug), Name: text(a.Name), Description: text(a.Description),
		Language: a.Language, Status: string(a.Status), CreatedBy: text(a.CreatedBy),
	})
	if err != nil {
		err = explain(err, tool.NotFound, "tenant not found")
		return artifact.Artifact{}, explain(err, tool.Conflict, fmt.Sprintf("an artifact %q exists already", a.Slug))
	}
	return artifactOf(row), nil
}

// SaveArtifact implements [artifact.Store].
func (s *Store) SaveArtifact(ctx context.Context, a artifact.Artifact) (artifact.Artifact, error) {
	const op = "store.SaveArtifact"
	var saved artifact.Artifact
	err := s.do(ctx, op, a.Tenant, func(q *db.Queries) (err error) {
		saved, err = saveArtifact(ctx, q, op, a)
		return err
	})
	return saved, err
}

// saveArtifact stores a changed artifact under the rules of [Store.SaveArtifact].
func saveArtifact(ctx context.Context, q *db.Queries, op string, a artifact.Artifact) (artifact.Artifact, error) {
	if err := checkIDs(op, a.ID); err != nil {
		return artifact.Artifact{}, err
	}
	row, err := q.UpdateArtifact(ctx, db.UpdateArtifactParams{
		TenantID: string(a.Tenant), ID: a.ID, Revision: a.Revision, Name: text(a.Name), Description: text(a.Description),
		Status: string(a.Status), Version: text(a.Version),
	})
	if err == nil {
		return artifactOf(row), nil
	}
	if !errors.Is(err, pgx.ErrNoRows) {
		return artifact.Artifact{}, err
	}
	stored, err := q.FindArtifactByID(ctx, db.FindArtifactByIDParams{TenantID: string(a.Tenant), ID: a.ID})
	if err != nil {
		return artifact.Artifact{}, explain(failure(op, err), tool.NotFound, fmt.Sprintf("artifact %q not found", a.Slug))
	}
	return artifact.Artifact{}, &tool.Error{Kind: tool.Conflict, Op: op, Msg: fmt.Sprintf(
		"artifact %q changed meanwhile: revision %d was asked for, it is at %d; read it again", a.Slug, a.Revision,
		stored.Revision), Err: definition.ErrChanged}
}

// FindArtifact implements [artifact.Store].
func (s *Store) FindArtifact(ctx context.Context, tenant tool.TenantID, slugOrID string) (artifact.Artifact, error) {
	var row db.Artifact
	err := s.do(ctx, "store.FindArtifact", tenant, func(q *db.Queries) (err error) {
		if tool.ValidID(slugOrID) {
			row, err = q.FindArtifactByID(ctx, db.FindArtifactByIDParams{TenantID: string(tenant), ID: slugOrID})
		} else {
			row, err = q.FindArtifactBySlug(ctx, db.FindArtifactBySlugParams{TenantID: string(tenant), Slug: text(slugOrID)})
		}
		return err
	})
	if err != nil {
		return artifact.Artifact{}, explain(err, tool.NotFound, fmt.Sprintf("artifact %q not found", slugOrID))
	}
	return artifactOf(row), nil
}

// ListArtifacts implements [artifact.Store].
func (s *Store) ListArtifacts(
	ctx context.Context, tenant tool.TenantID, afterSlug string, limit int,
) ([]artifact.Artifact, error) {
	rows, err := ask(ctx, s.do, "store.ListArtifacts", tenant, (*db.Queries).ListArtifacts, db.ListArtifactsParams{
		TenantID: string(tenant), AfterSlug: text(afterSlug), Limit: pageSize(limit),
	})
	if err != nil {
		return nil, err
	}
	return convert(rows, artifactOf), nil
}

// AddArtifactVersion implements [artifact.Store].
func (s *Store) AddArtifactVersion(
	ctx context.Context, a artifact.Artifact, v artifact.Version, program []byte,
) (artifact.Artifact, artifact.Version, error) {
	const op = "store.AddArtifactVersion"
	inputs, err := content(inputsOf(v.Inputs))
	if err != nil {
		return artifact.Artifact{}, artifact.Version{}, err
	}
	var saved artifact.Artifact
	var row db.AddArtifactVersionRow
	err = s.inTx(ctx, op, a.Tenant, func(q *db.Queries) (err error) {
		a.Version = v.Number
		if saved, err = saveArtifact(ctx, q, op, a); err != nil {
			return err
		}
		row, err = q.AddArtifactVersion(ctx, db.AddArtifactVersionParams{
			TenantID: string(a.Tenant), ArtifactID: a.ID, Version: text(v.Number), Digest: v.Digest, Inputs: inputs,
			Content: program, CreatedBy: text(v.CreatedBy),
		})
		return err
	})
	if err != nil {
		return artifact.Artifact{}, artifact.Version{},
			explain(err, tool.Conflict, fmt.Sprintf("version %s of artifact %q exists; use a new number", v.Number, a.Slug))
	}
	stored, err := artifactVersionOf(db.ListArtifactVersionsRow(row))
	return saved, stored, err
}

// ListArtifactVersions implements [artifact.Store].
func (s *Store) ListArtifactVersions(
	ctx context.Context, tenant tool.TenantID, artifactID string,
) ([]artifact.Version, error) {
	const op = "store.ListArtifactVersions"
	if err := checkIDs(op, artifactID); err != nil {
		return nil, err
	}
	var artifacts []db.Artifact
	var rows []db.ListArtifactVersionsRow
	err := s.read(ctx, op, tenant, func(b *pgx.Batch) {
		queue(b, &artifacts, db.FindArtifactByID, string(tenant), artifactID)
		queue(b, &rows, db.ListArtifactVersions, string(tenant), artifactID)
	})
	if err != nil {
		return nil, err
	}
	if len(artifacts) == 0 {
		return nil, notFound(op, "artifact not found")
	}
	return collect(rows, artifactVersionOf)
}

// LoadArtifact implements [artifact.Store] and the executors' port for programs.
func (s *Store) LoadArtifact(
	ctx context.Context, tenant tool.TenantID, artifactID, version string,
) (tool.ArtifactCode, error) {
	const op = "store.LoadArtifact"
	if err := checkIDs(op, artifactID); err != nil {
		return tool.ArtifactCode{}, err
	}
	row, err := ask(ctx, s.do, op, tenant, (*db.Queries).LoadArtifact, db.LoadArtifactParams{
		TenantID: string(tenant), ArtifactID: artifactID, Version: text(version),
	})
	if err != nil {
		return tool.ArtifactCode{}, explain(err, tool.NotFound, "artifact version not found")
	}
	code := tool.ArtifactCode{Language: row.Language, Digest: row.Digest, Content: row.Content}
	return code, decode(row.Inputs, &code.Inputs)
}

func artifactOf(row db.Artifact) artifact.Artifact {
	return artifact.Artifact{
		ID: row.ID, Tenant: tool.TenantID(row.TenantID), Slug: row.Slug, Name: row.Name, Description: row.Description,
		Language: row.Language, Status: definition.ArtifactStatus(row.Status), Version: row.Version, Revision: row.Revision,
		CreatedBy: row.CreatedBy, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt,
	}
}

func artifactVersionOf(row db.ListArtifactVersionsRow) (artifact.Version, error) {
	v := artifact.Version{
		Number: row.Version, Digest: row.Digest, Size: int(row.Size), CreatedBy: row.CreatedBy, CreatedAt: row.CreatedAt,
	}
	return v, decode(row.Inputs, &v.Inputs)
}

// inputsOf returns inputs as an empty list rather than nil.
func inputsOf(inputs []tool.ArtifactInput) []tool.ArtifactInput {
	if inputs == nil {
		return []tool.ArtifactInput{}
	}
	return inputs
}
