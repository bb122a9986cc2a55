package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/toolcrib/toolcrib/internal/cache"
	"github.com/toolcrib/toolcrib/platform/toolsearch"
	"github.com/toolcrib/toolcrib/resolver"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolset"
)

// catalogueQuery is the parameter of the endpoint's address by which a client chooses how tools are listed.
const catalogueQuery = "catalog"

// Ways to list tools.
const (
	catalogueAuto   = string(toolset.CatalogAuto)   // All of them, or the three that find the others where there are many.
	catalogueAll    = string(toolset.CatalogAll)    // Always all.
	catalogueSearch = string(toolset.CatalogSearch) // Always the three.
)

const (
	// maxIndexed bounds the tools of a key that can be searched.
	maxIndexed = 50_000
	// indexLife is how long a key's index is used before it is made anew. What was found is resolved
	// anew all the same: a tool that may not be called any more is not shown.
	indexLife = 15 * time.Second
	// maxIndexWeight bounds all indexes together, in bytes.
	maxIndexWeight = 128 << 20
	// schemaBudget is how long an index waits for schemas that were not read yet. Without them, tools are
	// found by names and descriptions; the next index has more of them.
	schemaBudget = 3 * time.Second
	// maxSchemas bounds the words of schemas that are kept, in bytes.
	maxSchemas = 128 << 20
	// maxSizes bounds the keys of which it is known whether they have many tools.
	maxSizes = 10_000
)

// catalogues are the searchable lists of tools of keys. It is safe for concurrent use.
type catalogues struct {
	tools   Tools
	indexes *cache.Cache[string, *catalogue]
	schemas *cache.Cache[string, []string] // Words by the digest of a version.
	many    *cache.Cache[string, bool]     // Whether a key has too many tools to list.
	making  singleflight.Group
}

// catalogue is the list of the tools that a principal may call, as it was a moment ago.
type catalogue struct {
	index *toolsearch.Index
	slugs []string
}

func newCatalogues(tools Tools) *catalogues {
	return &catalogues{
		tools:   tools,
		indexes: cache.New[string, *catalogue](cache.Options{Weight: maxIndexWeight, Life: indexLife}),
		schemas: cache.New[string, []string](cache.Options{Weight: maxSchemas}),
		many:    cache.New[string, bool](cache.Options{Entries: maxSizes, Life: indexLife}),
	}
}

// key names a caller with all that decides what it may call. Tools that a server of its toolset brings are
// part of it for as long as an index lives.
func (c *Caller) key() (string, error) {
	raw, err := json.Marshal(c.Principal)
	if err != nil {
		return "", fmt.Errorf("naming a principal: %w", err)
	}
	if c.Offer == nil {
		return string(raw), nil
	}
	return fmt.Sprintf("%s %s %d", raw, c.Offer.ID, c.Offer.Revision), nil
}

// of returns the catalogue of a caller.
func (cs *catalogues) of(ctx context.Context, c *Caller) (*catalogue, error) {
	key, err := c.key()
	if err != nil {
		return nil, err
	}
	if found, ok := cs.indexes.Get(key); ok {
		return found, nil
	}
	making := cs.making.DoChan(key, func() (made any, err error) {
		defer func() {
			if v := recover(); v != nil { // Its goroutine is that of no request.
				err = fmt.Errorf("making an index panicked: %T", v)
			}
		}()
		// Others may wait for it, whose requests go on where this one ends.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shortTimeout)
		defer cancel()
		found, err := cs.index(ctx, c)
		if err != nil {
			return nil, err
		}
		cs.indexes.SetWeighing(key, found, uint32(min(found.index.Size(), maxIndexWeight))) //nolint:gosec // Bounded.
		return found, nil
	})
	var made singleflight.Result
	select {
	case made = <-making:
	case <-ctx.Done():
		return nil, fmt.Errorf("waiting for an index: %w", ctx.Err())
	}
	if made.Err != nil {
		return nil, made.Err
	}
	found, ok := made.Val.(*catalogue)
	if !ok {
		return nil, errors.New("an index of another type")
	}
	return found, nil
}

// index reads and indexes the tools of a caller.
func (cs *catalogues) index(ctx context.Context, c *Caller) (*catalogue, error) {
	var documents []toolsearch.Document
	var items []resolver.Item
	page := resolver.Page{Limit: watchedPage}
	for len(documents) < maxIndexed {
		found, next, err := cs.tools.List(ctx, c.Principal, tool.Production, c.filter(), page)
		if err != nil {
			return nil, err //nolint:wrapcheck // Its words are the client's.
		}
		for i := range found {
			if t := &found[i].Tool; offered(t) {
				documents = append(documents, toolsearch.Document{Name: t.Slug, Title: t.Name, Description: t.Description})
				items = append(items, found[i])
			}
		}
		if next == "" {
			break
		}
		page.After = next
	}
	cs.read(ctx, c.Principal.Tenant, items, documents)
	out := &catalogue{index: toolsearch.New(documents), slugs: make([]string, len(documents))}
	for i := range documents {
		out.slugs[i] = documents[i].Name
	}
	return out, nil
}

// read adds the words of the schemas to documents, for as long as there is time.
func (cs *catalogues) read(
	ctx context.Context, tenant tool.TenantID, items []resolver.Item, documents []toolsearch.Document,
) {
	ctx, cancel := context.WithTimeout(ctx, schemaBudget)
	defer cancel()
	var missing []int
	for i := range items {
		words, ok := cs.schemas.Get(items[i].Digest)
		if documents[i].Words = words; !ok {
			missing = append(missing, i)
		}
	}
	for some := range slices.Chunk(missing, watchedPage) {
		wanted := make([]resolver.Item, len(some))
		for at, i := range some {
			wanted[at] = items[i]
		}
		versions, err := cs.tools.Versions(ctx, tenant, wanted)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			continue // These tools are found by their other words.
		}
		for at, i := range some {
			words := toolsearch.SchemaWords(versions[at].Snapshot.InputSchema)
			weight := min(toolsearch.SizeOf(words)+1, maxSchemas)
			cs.schemas.SetWeighing(items[i].Digest, words, uint32(weight)) //nolint:gosec // Bounded.
			documents[i].Words = words
		}
	}
}

// catalogueOf returns how a request wants tools to be listed: as its address says, else as its toolset does.
func catalogueOf(text string, of *toolset.Offer) (string, error) {
	if text == "" && of != nil {
		text = string(of.Catalog)
	}
	switch text {
	case "", catalogueAuto:
		return catalogueAuto, nil
	case catalogueAll, catalogueSearch:
		return text, nil
	}
	return "", &tool.Error{
		Kind: tool.Invalid, Op: "mcpserver", Msg: fmt.Sprintf("the address ends with %s=%s: expected %s", catalogueQuery,
			clip(text), strings.Join([]string{catalogueAuto, catalogueAll, catalogueSearch}, ", ")),
	}
}

// searches reports whether the caller is offered the tools that find others instead of all.
func (s *Server) searches(ctx context.Context, c *Caller) (bool, error) {
	switch c.catalogue {
	case catalogueAll:
		return false, nil
	case catalogueSearch:
		return true, nil
	}
	key, err := c.key()
	if err != nil {
		return false, err
	}
	if many, ok := s.catalogues.many.Get(key); ok {
		return many, nil
	}
	count, page := 0, resolver.Page{Limit: watchedPage}
	for count <= s.cfg.MaxListed {
		items, next, err := s.cfg.Tools.List(ctx, c.Principal, tool.Production, c.filter(), page)
		if err != nil {
			return false, err //nolint:wrapcheck // Its words are the client's.
		}
		for i := range items {
			if offered(&items[i].Tool) {
				count++
			}
		}
		if next == "" {
			break
		}
		page.After = next
	}
	s.catalogues.many.Set(key, count > s.cfg.MaxListed)
	return count > s.cfg.MaxListed, nil
}
