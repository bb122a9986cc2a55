package registrytest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/registry/artifact"
	"github.com/toolcrib/toolcrib/tool"
)

// program is an uploaded program with its versions, in the order of uploads.
type program struct {
	row      artifact.Artifact
	versions []artifact.Version
	programs map[string][]byte // By number.
}

// CreateArtifact implements [artifact.Store].
func (s *Store) CreateArtifact(_ context.Context, row artifact.Artifact) (artifact.Artifact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if row.Tenant == "" || s.mayWrite(row.Tenant) != nil {
		return artifact.Artifact{}, notFound("tenant", string(row.Tenant))
	}
	if s.artifact(row.Tenant, row.Slug) != nil {
		return artifact.Artifact{}, conflict("an artifact %q exists already", row.Slug)
	}
	if row.ID == "" {
		row.ID = newID()
	}
	row.Revision, row.CreatedAt = 1, time.Now().UTC()
	row.UpdatedAt = row.CreatedAt
	s.artifacts[row.ID] = &program{row: row, programs: make(map[string][]byte)}
	return row, nil
}

// SaveArtifact implements [artifact.Store].
func (s *Store) SaveArtifact(_ context.Context, row artifact.Artifact) (artifact.Artifact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, saved, err := s.saveArtifact(row)
	return saved, err
}

func (s *Store) saveArtifact(row artifact.Artifact) (*program, artifact.Artifact, error) {
	have := s.artifact(row.Tenant, row.ID)
	if have == nil {
		return nil, row, notFound("artifact", row.Slug)
	}
	if have.row.Revision != row.Revision {
		return nil, row, changed("artifact", row.Slug)
	}
	row.Revision++
	row.UpdatedAt = time.Now().UTC()
	have.row = row
	return have, row, nil
}

// FindArtifact implements [artifact.Store].
func (s *Store) FindArtifact(_ context.Context, id tool.TenantID, slugOrID string) (artifact.Artifact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if have := s.artifact(id, slugOrID); have != nil {
		return have.row, nil
	}
	return artifact.Artifact{}, notFound("artifact", slugOrID)
}

// ListArtifacts implements [artifact.Store].
func (s *Store) ListArtifacts(
	_ context.Context, id tool.TenantID, afterSlug string, limit int,
) ([]artifact.Artifact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []artifact.Artifact
	for _, have := range s.artifacts {
		if have.row.Tenant == id && have.row.Slug > afterSlug {
			out = append(out, have.row)
		}
	}
	slices.SortFunc(out, func(a, b artifact.Artifact) int { return cmp.Compare(a.Slug, b.Slug) })
	if limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	return out, nil
}

// AddArtifactVersion implements [artifact.Store].
func (s *Store) AddArtifactVersion(
	_ context.Context, row artifact.Artifact, v artifact.Version, program []byte,
) (artifact.Artifact, artifact.Version, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if have := s.artifact(row.Tenant, row.ID); have != nil && have.programs[v.Number] != nil &&
		have.row.Revision == row.Revision {
		return row, v, conflict("version %s of artifact %q exists; use a new number", v.Number, row.Slug)
	}
	row.Version = v.Number
	have, row, err := s.saveArtifact(row)
	if err != nil {
		return row, v, err
	}
	v.CreatedAt, v.Size = time.Now().UTC(), len(program)
	have.versions, have.programs[v.Number] = append(have.versions, clone(v)), slices.Clone(program)
	return row, clone(v), nil
}

// ListArtifactVersions implements [artifact.Store].
func (s *Store) ListArtifactVersions(
	_ context.Context, id tool.TenantID, artifactID string,
) ([]artifact.Version, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	have := s.artifact(id, artifactID)
	if have == nil {
		return nil, notFound("artifact", artifactID)
	}
	out := clone(have.versions)
	slices.Reverse(out)
	return out, nil
}

// LoadArtifact implements [artifact.Store].
func (s *Store) LoadArtifact(
	_ context.Context, id tool.TenantID, artifactID, version string,
) (tool.ArtifactCode, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	have := s.artifact(id, artifactID)
	if have == nil {
		return tool.ArtifactCode{}, notFound("artifact", artifactID)
	}
	i := slices.IndexFunc(have.versions, func(v artifact.Version) bool { return v.Number == version })
	if i < 0 {
		return tool.ArtifactCode{}, notFound("artifact version", version)
	}
	v := clone(have.versions[i])
	return tool.ArtifactCode{
		Language: have.row.Language, Digest: v.Digest, Inputs: v.Inputs, Content: slices.Clone(have.programs[version]),
	}, nil
}

// artifact returns an artifact of a tenant by slug or id, or nil.
func (s *Store) artifact(id tool.TenantID, slugOrID string) *program {
	for _, have := range s.artifacts {
		if have.row.Tenant == id && (have.row.Slug == slugOrID || have.row.ID == slugOrID) {
			return have
		}
	}
	return nil
}
