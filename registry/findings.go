package registry

import (
	"context"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/registry/definition"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/registry/quality"
	"github.com/toolcrib/toolcrib/tool"
)

// maxSiblings bounds the tools that [Registry.Findings] looks at beside the one that it checks.
const maxSiblings = 2000

// Findings returns the weak points of a tool's draft, with regard to the other tools that the tenant
// sees.
func (r *Registry) Findings(ctx context.Context, p tool.Principal, ref tool.Ref) ([]quality.Finding, error) {
	t, err := r.Get(ctx, p, ref)
	if err != nil {
		return nil, err
	}
	return r.findings(ctx, p, &t)
}

func (r *Registry) findings(ctx context.Context, p tool.Principal, t *tool.Tool) ([]quality.Finding, error) {
	siblings, err := r.siblings(ctx, p, func(other *tool.Tool) bool { return other.ID == t.ID })
	if err != nil {
		return nil, err
	}
	return quality.Check(subject(t), siblings), nil
}

// siblings returns tools that the tenant sees, but those that are left out.
func (r *Registry) siblings(
	ctx context.Context, p tool.Principal, out func(*tool.Tool) bool,
) ([]quality.Sibling, error) {
	siblings := []quality.Sibling{}
	q := ToolQuery{Limit: 200}
	for len(siblings) < maxSiblings {
		page, err := r.List(ctx, p, q)
		if err != nil {
			return nil, err
		}
		for i := range page {
			if !out(&page[i]) {
				siblings = append(siblings, quality.SiblingOf(subject(&page[i])))
			}
		}
		if len(page) < q.Limit {
			break
		}
		q.AfterSlug, q.AfterID = page[len(page)-1].Slug, page[len(page)-1].ID
	}
	return siblings, nil
}

// FindingsOf returns the weak points of each of the tools that definitions describe, with regard to each other and
// to the tools that the tenant sees beside them.
func (r *Registry) FindingsOf(
	ctx context.Context, p tool.Principal, specs []definition.ToolSpec,
) ([][]quality.Finding, error) {
	described := make(map[string]bool, len(specs))
	subjects := make([]quality.Subject, len(specs))
	for i := range specs {
		described[specs[i].Slug] = true
		subjects[i] = quality.Subject{Slug: specs[i].Slug, Definition: specs[i].Definition, Policy: specs[i].Policy}
	}
	others, err := r.siblings(ctx, p, func(t *tool.Tool) bool { return described[t.Slug] })
	if err != nil {
		return nil, err
	}
	out := make([][]quality.Finding, len(specs))
	for i := range subjects {
		beside := slices.Clone(others)
		for j := range subjects {
			if j != i {
				beside = append(beside, quality.SiblingOf(subjects[j]))
			}
		}
		out[i] = quality.Check(subjects[i], beside)
	}
	return out, nil
}

func subject(t *tool.Tool) quality.Subject {
	return quality.Subject{Slug: t.Slug, Definition: t.Definition, Policy: t.Policy}
}

// RefuseFindings fails with tool.Conflict where there are findings: for a strict publish.
func RefuseFindings(slug string, found []quality.Finding) error {
	if len(found) == 0 {
		return nil
	}
	texts := make([]string, len(found))
	for i, f := range found {
		texts[i] = f.String()
	}
	return refusal.New(tool.Conflict, found[0].Path,
		"tool %q is not published, since strict was asked for and there are findings: %s", slug,
		tool.Clip(strings.Join(texts, "; "), 2000))
}
