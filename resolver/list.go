package resolver

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib/tool"
)

// Filter filters a list. Zero fields do not filter.
type Filter struct {
	Implementation tool.Implementation
	Bucket         tool.Bucket
	Category       string
	Egress         tool.Egress
	Risk           tool.RiskLevel
	Search         string // In slug, name and description, ignoring case.
	Outside        bool   // As in [Request].
	Within         *Set   // As in [Request].
}

// Page is a position in a list and the number of items from there.
type Page struct {
	After string // The cursor of the previous page; empty for the first.
	Limit int    // 50 when zero, at most 200.
}

// Item is a tool that a principal may use, without its content: see
// [Resolver.Version] for that.
type Item struct {
	Tool    tool.Tool
	Version string
	Digest  string
	Draft   bool
	Shadows bool
	// Overrides are those of the tool; the description of Tool is theirs, if they have one.
	Overrides tool.Overrides
}

const (
	defaultPage = 50
	maxPage     = 200
)

// List returns the tools that p may bind in mode, in slug order: exactly those
// that [Resolver.Resolve] returns by slug, at the same version. The cursor is
// empty at the end. It fails with tool.Invalid for a malformed cursor and with
// tool.Denied for a suspended tenant.
func (r *Resolver) List(
	ctx context.Context, p tool.Principal, mode tool.Mode, f Filter, page Page,
) (items []Item, next string, err error) {
	if _, err := check(Request{Principal: p, Ref: tool.Ref{Slug: "any"}, Mode: mode}, &trail{}); err != nil {
		return nil, "", err
	}
	after, err := parseCursor(page.After)
	if err != nil {
		return nil, "", err
	}
	limit := page.Limit
	if limit <= 0 {
		limit = defaultPage
	}
	limit = min(limit, maxPage)
	l := lister{resolver: r, principal: p, query: PageQuery{
		After: after, Limit: max(limit, defaultPage), Implementation: f.Implementation, Bucket: f.Bucket,
		Search: longestASCII(fold(f.Search)),
	}}
	if f.Within != nil {
		l.query.Within = slices.Collect(maps.Keys(*f.Within))
		if len(l.query.Within) == 0 {
			return nil, "", nil
		}
	}
	for {
		group, c, err := l.next(ctx)
		if err != nil {
			return nil, "", fmt.Errorf("listing tools: %w", err)
		}
		if len(group) == 0 {
			return items, "", nil
		}
		c.Entries, c.Types = group, r.types
		s := Select(c, Request{
			Principal: p, Ref: tool.Ref{Slug: group[0].Tool.Slug}, Mode: mode, Outside: f.Outside, Within: f.Within,
		})
		if s.Err == nil && f.matches(s.Tool, s.Overrides) {
			item := Item{
				Tool: *s.Tool, Version: s.Version.Number, Digest: s.Version.Digest, Draft: s.Draft, Shadows: s.Shadows,
				Overrides: s.Overrides,
			}
			item.Tool.Description = shownDescription(s.Tool, s.Overrides)
			items = append(items, item)
		}
		if len(items) == limit {
			return items, formatCursor(l.passed), nil
		}
	}
}

// lister reads entries slug by slug: a tenant's tool and the global one it hides are decided
// together.
type lister struct {
	resolver  *Resolver
	principal tool.Principal
	query     PageQuery // Of the next page.
	passed    Entry     // The last entry returned.
	read      Candidates
	ended     bool
}

// next returns the entries of the next slug; none at the end.
func (l *lister) next(ctx context.Context) ([]Entry, Candidates, error) {
	if !l.ended && len(l.read.Entries) == 0 {
		c, err := l.resolver.source.Page(ctx, l.principal.Tenant, l.query)
		if err != nil {
			return nil, c, err
		}
		if !c.TenantActive {
			return nil, c, &tool.Error{Kind: tool.Denied, Op: "resolver.List", Msg: "the tenant is suspended"}
		}
		slugs := 0
		for i := range c.Entries {
			if i == 0 || c.Entries[i].Tool.Slug != c.Entries[i-1].Tool.Slug {
				slugs++
				l.query.After = c.Entries[i].Tool.Slug
			}
		}
		l.read, l.ended = c, slugs < l.query.Limit
	}
	n := l.group()
	group := l.read.Entries[:n:n]
	l.read.Entries = l.read.Entries[n:]
	if n > 0 {
		l.passed = group[n-1]
	}
	return group, l.read, nil
}

// group counts the entries of the first slug that was read.
func (l *lister) group() int {
	for i := range l.read.Entries {
		if l.read.Entries[i].Tool.Slug != l.read.Entries[0].Tool.Slug {
			return i
		}
	}
	return len(l.read.Entries)
}

// shownDescription returns the description of a tool, or that of its overrides.
func shownDescription(t *tool.Tool, o tool.Overrides) string {
	if o.Revisions() == (tool.OverrideRevisions{}) {
		return t.Description
	}
	return cmp.Or(o.Adaptation().Description, t.Description)
}

func (f Filter) matches(t *tool.Tool, o tool.Overrides) bool {
	if f.Implementation != "" && t.ImplementationType() != f.Implementation || f.Bucket != "" && t.Bucket() != f.Bucket {
		return false
	}
	if f.Category != "" && t.Category != f.Category || f.Egress != "" && t.EgressClass != f.Egress ||
		f.Risk != "" && t.RiskLevel() != f.Risk {
		return false
	}
	return strings.Contains(fold(t.Slug+"\n"+t.Name+"\n"+shownDescription(t, o)), fold(f.Search))
}

// fold lowers a text. No other letter becomes an ASCII one, as the Kelvin sign would, so
// that sources can search for ASCII without folding the rest.
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		if l := unicode.ToLower(r); r <= unicode.MaxASCII || l > unicode.MaxASCII {
			return l
		}
		return r
	}, text)
}

// longestASCII returns the longest run of ASCII characters of a text.
func longestASCII(text string) string {
	longest := ""
	for _, run := range strings.FieldsFunc(text, func(r rune) bool { return r == 0 || r > unicode.MaxASCII }) {
		if len(run) > len(longest) {
			longest = run
		}
	}
	return longest
}

// The cursor of a page is the slug and id of its last entry.
func formatCursor(last Entry) string {
	return base64.RawURLEncoding.EncodeToString([]byte(last.Tool.Slug + "\n" + last.Tool.ID))
}

// parseCursor returns the slug after which a page begins.
func parseCursor(text string) (slug string, err error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	slug, _, ok := strings.Cut(string(raw), "\n")
	if err != nil || !ok && text != "" {
		return "", &tool.Error{
			Kind: tool.Invalid, Op: "resolver.List", Msg: "malformed cursor: expected the cursor of the previous page",
		}
	}
	return slug, nil
}
