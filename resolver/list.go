package resolver

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// Filter filters a list. Zero fields do not filter.
type Filter struct {
	Implementation tool.Implementation
	Bucket         tool.Bucket
	Search         string // In slug, name and description, ignoring case.
	Outside        bool   // As in [Request].
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
}

const (
	defaultPage = 50
	maxPage     = 200
	sourcePage  = 200 // Entries read at a time.
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
	l := lister{resolver: r, principal: p, cursor: after}
	for {
		group, c, err := l.next(ctx)
		if err != nil {
			return nil, "", fmt.Errorf("listing tools: %w", err)
		}
		if len(group) == 0 {
			return items, "", nil
		}
		c.Entries, c.Types = group, r.types
		s := Select(c, Request{Principal: p, Ref: tool.Ref{Slug: group[0].Tool.Slug}, Mode: mode, Outside: f.Outside})
		if s.Err == nil && f.matches(s.Tool) {
			items = append(items, Item{
				Tool: *s.Tool, Version: s.Version.Number, Digest: s.Version.Digest, Draft: s.Draft, Shadows: s.Shadows,
			})
		}
		if len(items) == limit {
			return items, formatCursor(l.passed), nil
		}
	}
}

// lister reads entries slug by slug: a tenant's tool and the global one it hides are decided
// together, even across the source's pages.
type lister struct {
	resolver  *Resolver
	principal tool.Principal
	cursor    Cursor // After the last entry read.
	passed    Cursor // After the last entry returned.
	read      Candidates
	ended     bool
}

// next returns the entries of the next slug; none at the end.
func (l *lister) next(ctx context.Context) ([]Entry, Candidates, error) {
	for !l.ended && !l.complete() {
		c, err := l.resolver.source.Page(ctx, l.principal.Tenant, l.cursor, sourcePage)
		if err != nil {
			return nil, c, err
		}
		if !c.TenantActive {
			return nil, c, &tool.Error{Kind: tool.Denied, Op: "resolver.List", Msg: "the tenant is suspended"}
		}
		l.ended = len(c.Entries) < sourcePage
		if n := len(c.Entries); n > 0 {
			l.cursor = Cursor{c.Entries[n-1].Tool.Slug, c.Entries[n-1].Tool.ID}
		}
		c.Entries = append(l.read.Entries, c.Entries...)
		l.read = c
	}
	n := l.group()
	group := l.read.Entries[:n:n]
	l.read.Entries = l.read.Entries[n:]
	if n > 0 {
		l.passed = Cursor{group[n-1].Tool.Slug, group[n-1].Tool.ID}
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

// complete reports whether all entries of the first slug were read.
func (l *lister) complete() bool { return l.group() < len(l.read.Entries) }

func (f Filter) matches(t *tool.Tool) bool {
	if f.Implementation != "" && t.ImplementationType() != f.Implementation || f.Bucket != "" && t.Bucket() != f.Bucket {
		return false
	}
	text := strings.ToLower(t.Slug + "\n" + t.Name + "\n" + t.Description)
	return strings.Contains(text, strings.ToLower(f.Search))
}

func formatCursor(c Cursor) string {
	return base64.RawURLEncoding.EncodeToString([]byte(c.Slug + "\n" + c.ID))
}

func parseCursor(text string) (Cursor, error) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	slug, id, ok := strings.Cut(string(raw), "\n")
	if err != nil || !ok && text != "" {
		return Cursor{}, &tool.Error{
			Kind: tool.Invalid, Op: "resolver.List", Msg: "malformed cursor: expected the cursor of the previous page",
		}
	}
	return Cursor{Slug: slug, ID: id}, nil
}
