package api

import (
	"context"
	"net/http"
	"slices"
	"strings"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/policy"
	"github.com/toolcrib/toolcrib/tool"
)

// mostCounted bounds the tools that are counted, of the tenant and of the platform each; mostCategories the
// categories that are listed.
const (
	mostCounted    = 10000
	mostCategories = 200
)

// registerToolFacets adds the endpoints with what tools are grouped by.
func (s *server) registerToolFacets() {
	handle(s, route{
		id: "getTaxonomy", method: http.MethodGet, path: "/v1/taxonomy", tag: "tools", permission: ToolsRead,
		summary: "Get what tools are grouped and filtered by, in words",
		detail: "Buckets, implementation types, egress classes, risks and statuses. Types that a host added " +
			"are there by name.",
	}, s.getTaxonomy)
	handle(s, route{
		id: "getToolFacets", method: http.MethodGet, path: "/v1/tools/facets", tag: "tools", permission: ToolsRead,
		summary: "Count tools by what they are filtered by",
		detail: "Counts the tools that the caller may know of, archived ones left out: of the first ten thousand of the " +
			"tenant, and as many global ones, in the order of slugs. Of larger registries `complete` is false.",
	}, s.getToolFacets)
}

func (s *server) getTaxonomy(_ context.Context, _ tool.Principal, _ *noInput) (*body[v1.Taxonomy], error) {
	out := v1.Taxonomy{Terms: tool.Taxonomy(), Runnable: []string{}}
	known := map[string]bool{}
	for _, t := range out.Subtypes {
		known[t.Name] = true
	}
	for _, t := range s.cfg.Registry.Types().Names() {
		name := string(t)
		out.Runnable = append(out.Runnable, name)
		if !known[name] {
			out.Subtypes = append(out.Subtypes, tool.Term{Name: name, Label: name, Description: "A type of the host."})
		}
	}
	return answer(out), nil
}

func (s *server) getToolFacets(ctx context.Context, p tool.Principal, _ *noInput) (*body[v1.ToolFacets], error) {
	counts, err := s.cfg.Store.CountTools(ctx, p.Tenant, mostCounted)
	if err != nil {
		return nil, err
	}
	out := v1.ToolFacets{}
	read := map[bool]int{} // By whether they are global.
	facets := map[*[]v1.Facet]map[string]int{
		&out.Buckets: {}, &out.Subtypes: {}, &out.Statuses: {}, &out.EgressClasses: {}, &out.Risks: {}, &out.Categories: {},
	}
	for _, c := range counts {
		read[c.Global] += c.Tools
		permits := policy.Permits(p, tool.Policy{RequiredPermission: c.RequiredPermission})
		if writes := p.May(ToolsWrite); c.Internal && !writes || !permits && (c.Global || !writes) {
			continue
		}
		out.Total += c.Tools
		facets[&out.Buckets][string(c.Bucket)] += c.Tools
		facets[&out.Subtypes][string(c.Implementation)] += c.Tools
		facets[&out.Statuses][string(c.Status)] += c.Tools
		facets[&out.EgressClasses][string(c.Egress)] += c.Tools
		facets[&out.Risks][string(c.Risk)] += c.Tools
		facets[&out.Categories][c.Category] += c.Tools
	}
	out.Complete = read[false] < mostCounted && read[true] < mostCounted
	for list, by := range facets {
		*list = facetsOf(by)
	}
	out.Categories = out.Categories[:min(len(out.Categories), mostCategories)]
	return answer(out), nil
}

// facetsOf lists counts, the largest first.
func facetsOf(by map[string]int) []v1.Facet {
	out := []v1.Facet{}
	for name, n := range by {
		if name != "" {
			out = append(out, v1.Facet{Name: name, Tools: n})
		}
	}
	slices.SortFunc(out, func(a, b v1.Facet) int {
		if a.Tools != b.Tools {
			return b.Tools - a.Tools
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}
