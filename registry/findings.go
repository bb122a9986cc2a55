package registry

import (
	"context"
	"strings"

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
	siblings := []quality.Sibling{}
	q := ToolQuery{Limit: 200}
	for len(siblings) < maxSiblings {
		page, err := r.List(ctx, p, q)
		if err != nil {
			return nil, err
		}
		for i := range page {
			if page[i].ID != t.ID {
				siblings = append(siblings, quality.SiblingOf(subject(&page[i])))
			}
		}
		if len(page) < q.Limit {
			break
		}
		q.AfterSlug, q.AfterID = page[len(page)-1].Slug, page[len(page)-1].ID
	}
	return quality.Check(subject(t), siblings), nil
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
