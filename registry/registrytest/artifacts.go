package registrytest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/toolcrib/toolcrib/registry"
	"github.com/toolcrib/toolcrib/tool"
)

// artifact is an uploaded program with its versions, in the order of uploads.
type artifact struct {
	row      registry.Artifact
	versions []registry.ArtifactVersion
	programs map[string][]byte // By number.
}

// CreateArtifact implements [registry.ArtifactStore].
func (s *Store) CreateArtifact(_ context.Context, row registry.Artifact) (registry.Artifact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if row.Tenant == "" || s.mayWrite(row.Tenant) != nil {
		return registry.Artifact{}, notFound("tenant", string(row.Tenant))
	}
	if s.artifact(row.Tenant, row.Slug) != nil {
		return registry.Artifact{}, conflict("an artifact %q exists already", row.Slug)
	}
	if row.ID == "" {
		row.ID = newID()
	}
	row.Revision, row.CreatedAt = 1, time.Now().UTC()
	row.UpdatedAt = row.CreatedAt
	s.artifacts[row.ID] = &artifact{row: row, programs: make(map[string][]byte)}
	return row, nil
}

// SaveArtifact implements [registry.ArtifactStore].
func (s *Store) SaveArtifact(_ context.Context, row registry.Artifact) (registry.Artifact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, saved, err := s.saveArtifact(row)
	return saved, err
}

func (s *Store) saveArtifact(row registry.Artifact) (*artifact, registry.Artifact, error) {
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

// FindArtifact implements [registry.ArtifactStore].
func (s *Store) FindArtifact(_ context.Context, id tool.TenantID, slugOrID string) (registry.Artifact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if have := s.artifact(id, slugOrID); have != nil {
		return have.row, nil
	}
	return registry.Artifact{}, notFound("artifact", slugOrID)
}

// ListArtifacts implements [registry.ArtifactStore].
func (s *Store) ListArtifacts(
	_ context.Context, id tool.TenantID, afterSlug string, limit int,
) ([]registry.Artifact, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []registry.Artifact
	for _, have := range s.artifacts {
		if have.row.Tenant == id && have.row.Slug > afterSlug {
			out = append(out, have.row)
		}
	}
	slices.SortFunc(out, func(a, b registry.Artifact) int { return cmp.Compare(a.Slug, b.Slug) })
	if limit > 0 && len(out) > limit {
		out = out[:limit]
	}
	return out, nil
}

// AddArtifactVersion implements [registry.ArtifactStore].
func (s *Store) AddArtifactVersion(
	_ context.Context, row registry.Artifact, v registry.ArtifactVersion, program []byte,
) (registry.Artifact, registry.ArtifactVersion, error) {
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

// ListArtifactVersions implements [registry.ArtifactStore].
func (s *Store) ListArtifactVersions(
	_ context.Context, id tool.TenantID, artifactID string,
) ([]registry.ArtifactVersion, error) {
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

// LoadArtifact implements [registry.ArtifactStore].
func (s *Store) LoadArtifact(
	_ context.Context, id tool.TenantID, artifactID, version string,
) (tool.ArtifactCode, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	have := s.artifact(id, artifactID)
	if have == nil {
		return tool.ArtifactCode{}, notFound("artifact", artifactID)
	}
	i := slices.IndexFunc(have.versions, func(v registry.ArtifactVersion) bool { return v.Number == version })
	if i < 0 {
		return tool.ArtifactCode{}, notFound("artifact version", version)
	}
	v := clone(have.versions[i])
	return tool.ArtifactCode{
		Language: have.row.Language, Digest: v.Digest, Inputs: v.Inputs, Content: slices.Clone(have.programs[version]),
	}, nil
}

// artifact returns an artifact of a tenant by slug or id, or nil.
func (s *Store) artifact(id tool.TenantID, slugOrID string) *artifact {
	for _, have := range s.artifacts {
		if have.row.Tenant == id && (have.row.Slug == slugOrID || have.row.ID == slugOrID) {
			return have
		}
	}
	return nil
}
