package openapi

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/executors/httpcall"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// Kinds of pagination in httpcall.
const (
	pagesByLink   = "link"
	pagesByURL    = "next_url"
	pagesByCursor = "cursor"
	pagesByNumber = "page"
)

// pages describes the pagination of an operation.
type pages struct {
	rule   httpcall.Pagination
	items  any // The document's schema of the array of a page.
	itemAt string
}

// nextURLs are the usual places of the URL of the next page in answers.
var nextURLs = []string{
	"/links/pages/next", "/links/next", "/_links/next/href", "/_links/next", "/meta/next_page_url", "/meta/next",
	"/paging/next", "/pagination/next_url",
	"/pagination/next", "/next_page_uri", "/next_page_url", "/next_url", "/nextLink", "/@odata.nextLink", "/next",
}

// envelopes are the members of an answer that hold a cursor beside its items.
var envelopes = []string{
	"response_metadata", "responseMetadata", "meta", "metadata", "paging", "pagination", "cursors", "page_info",
	"pageInfo",
}

// pagingParameters are query parameters that indicate pagination.
var pagingParameters = []string{
	"page", "perpage", "pagesize", "limit", "offset", "cursor", "after", "before", "pagetoken", "size",
}

// paginate derives how to request further pages, if the document defines it
// unambiguously: one array of items, and a Link header, a URL, a cursor, or page
// numbers whose first is declared. Otherwise there is one page.
func (b *builder) paginate() {
	if b.out.Method != http.MethodGet || b.opts.OnePage {
		return
	}
	response, schema, at, ok := b.soleAnswer()
	if !ok {
		return
	}
	items, itemAt, pointer, ok := b.itemsOf(schema, at)
	if !ok {
		return
	}
	p := &pages{items: items, itemAt: itemAt}
	if p.rule.Items, ok = pointerTo(pointer); !ok {
		return
	}
	for _, way := range []func(*pages, object, any) bool{b.byLink, b.byURL, b.byCursor, b.byNumber} {
		if way(p, response, schema) {
			b.pages, b.config.Pagination = p, &p.rule
			b.out.Pagination = p.rule.Type
			return
		}
	}
}

// soleAnswer returns the only successful answer, if it is one of JSON with a
// schema.
func (b *builder) soleAnswer() (response object, schema any, at string, ok bool) {
	responses := b.op.object("responses")
	for _, status := range sortedKeys(responses) {
		if !strings.HasPrefix(status, "2") {
			continue
		}
		found, pointer, err := b.mapper.doc.follow(responses[status], b.pointer+"/responses/"+jsonpointer.Escape(status))
		media := jsonMedia(found.object("content"))
		if err != nil || schema != nil || media == "" || len(found.object("content")) > 1 {
			return nil, nil, "", false
		}
		response, schema = found, found.object("content").object(media)["schema"]
		at = pointer + "/content/" + jsonpointer.Escape(media) + "/schema"
		if schema == nil {
			return nil, nil, "", false
		}
	}
	return response, schema, at, schema != nil
}

// itemsOf returns the schema of the one array of an answer: the answer itself, or
// the only member that is one.
func (b *builder) itemsOf(schema any, at string) (items any, itemAt, pointer string, ok bool) {
	o, to, err := b.mapper.doc.follow(schema, at)
	if err != nil {
		return nil, "", "", false
	}
	if isType(o, "array") {
		return schema, at, "", true
	}
	members := b.membersOf(o, to)
	var found []property
	for _, name := range sortedNames(members) {
		if member, _, err := b.mapper.doc.follow(members[name].schema, ""); err == nil && isType(member, "array") {
			found = append(found, members[name])
		}
	}
	if len(found) > 1 { // There are other lists, such as warnings, errors or facets.
		found = slices.DeleteFunc(found, func(p property) bool { return !b.holdsObjects(p.schema) })
	}
	if len(found) != 1 {
		return nil, "", "", false
	}
	return found[0].schema, found[0].pointer, "/" + jsonpointer.Escape(found[0].name), true
}

// membersOf lists the properties of a schema and of the schemas that it is
// composed of.
func (b *builder) membersOf(schema object, pointer string) map[string]property {
	members := make(map[string]property)
	b.mapper.doc.composed(map[string]any(schema), pointer, true, func(_ any, o object, at string) bool {
		for name, member := range o.object("properties") {
			members[name] = property{name: name, schema: member, pointer: at + "/properties/" + jsonpointer.Escape(name)}
		}
		return true
	})
	return members
}

func (b *builder) holdsObjects(schema any) bool {
	o, _, err := b.mapper.doc.follow(schema, "")
	return err == nil && o["items"] != nil && b.kindOf(o["items"]) == "object"
}

// byLink paginates by a Link header, which lists have for this purpose only.
func (b *builder) byLink(p *pages, response object, _ any) bool {
	p.rule.Type = pagesByLink
	declared := slices.ContainsFunc(sortedKeys(response.object("headers")), func(name string) bool {
		return strings.EqualFold(name, "Link")
	})
	return declared && slices.ContainsFunc(b.arguments, func(a *argument) bool {
		return a.place == "query" && slices.Contains(pagingParameters, plainName(a.wire))
	})
}

// byURL paginates by a URL in the answer.
func (b *builder) byURL(p *pages, _ object, schema any) bool {
	p.rule.Type = pagesByURL
	for _, pointer := range nextURLs {
		o, ok := b.memberAt(schema, pointer)
		if !ok || !isType(o, "string") {
			continue
		}
		name := strings.ToLower(pointer)
		if format := o.text("format"); format != "uri" && format != "url" && format != "uri-reference" &&
			!strings.Contains(name, "uri") && !strings.Contains(name, "url") && !strings.Contains(name, "link") {
			continue
		}
		next, ok := pointerTo(pointer)
		p.rule.Next = &next
		return ok
	}
	return false
}

// byCursor paginates by a cursor: a parameter, and the member of the answer whose
// name is that of the parameter after "next".
func (b *builder) byCursor(p *pages, _ object, schema any) bool {
	var found []string
	for _, a := range b.arguments {
		if a.place != "query" {
			continue
		}
		name := plainName(a.wire)
		if !strings.Contains(name, "cursor") && !strings.Contains(name, "token") {
			continue
		}
		for _, pointer := range b.cursorsOf(schema, "next"+strings.TrimPrefix(name, "next")) {
			found = append(found, pointer)
			p.rule.Parameter = a.wire
		}
	}
	if len(found) != 1 {
		p.rule.Parameter = ""
		return false
	}
	next, ok := pointerTo(found[0])
	p.rule.Type, p.rule.Next = pagesByCursor, &next
	return ok
}

// cursorsOf lists the places of a member in an answer, at its top or in an
// envelope.
func (b *builder) cursorsOf(schema any, wanted string) []string {
	var found []string
	look := func(o object, at, above string) {
		members := b.membersOf(o, at)
		for _, name := range sortedNames(members) {
			if member, _, err := b.mapper.doc.follow(members[name].schema, ""); err == nil && plainName(name) == wanted &&
				isType(member, "string") {
				found = append(found, above+"/"+jsonpointer.Escape(name))
			}
		}
	}
	top, at, err := b.mapper.doc.follow(schema, "")
	if err != nil {
		return nil
	}
	look(top, at, "")
	for _, envelope := range envelopes {
		if o, ok := b.memberAt(schema, "/"+envelope); ok {
			look(o, "", "/"+envelope)
		}
	}
	return found
}

// byNumber paginates by page numbers, if the document declares the first.
func (b *builder) byNumber(p *pages, _ object, _ any) bool {
	var page *argument
	sized := false
	for _, a := range b.arguments {
		switch name := plainName(a.wire); {
		case a.place != "query":
		case name == "page" || name == "pagenumber":
			page = a
		case slices.Contains([]string{"perpage", "pagesize", "limit", "size"}, name):
			sized = true
		}
	}
	if page == nil || !sized {
		return false
	}
	schema, _ := page.schema.(map[string]any)
	if !slices.Contains(typeNames(schema), "integer") && !slices.Contains(typeNames(schema), "number") {
		return false
	}
	first, ok := numberOf(schema["default"])
	if !ok {
		first, ok = numberOf(schema["minimum"])
	}
	if !ok || first != 0 && first != 1 {
		return false
	}
	p.rule.Type, p.rule.Parameter, p.rule.First = pagesByNumber, page.wire, &first
	return true
}

// memberAt returns the schema at a pointer of an answer.
func (b *builder) memberAt(schema any, pointer string) (object, bool) {
	for name := range strings.SplitSeq(pointer[1:], "/") {
		o, at, err := b.mapper.doc.follow(schema, "")
		if err != nil {
			return nil, false
		}
		member, ok := b.membersOf(o, at)[name]
		if !ok {
			return nil, false
		}
		schema = member.schema
	}
	o, _, err := b.mapper.doc.follow(schema, "")
	return o, err == nil
}

// paged returns the schema of the joined pages of an operation.
func (b *builder) paged() (any, error) {
	items, err := b.received.schema(b.pages.items, b.pages.itemAt, &b.lost)
	if err != nil {
		return nil, err
	}
	return map[string]any{
		"type": "object", "required": []any{"items", "pages", "complete"}, "properties": map[string]any{
			"items": items, "pages": map[string]any{"type": "integer", "description": "How many pages were joined."},
			"complete": map[string]any{"type": "boolean", "description": "False where more is left."},
			"next":     map[string]any{"description": "Where it goes on, if more is left."},
		},
	}, nil
}

// isType reports whether a schema admits a type, or has its keywords.
func isType(o object, name string) bool {
	names := typeNames(o)
	return slices.Contains(names, name) || len(names) == 0 && name == "array" && o["items"] != nil
}

// plainName normalizes the spelling of a name.
func plainName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

func pointerTo(text string) (httpcall.Pointer, bool) {
	p, err := httpcall.ParsePointer(text)
	return p, err == nil
}

// numberOf reads a small whole number of a document.
func numberOf(v any) (int, bool) {
	number, ok := v.(json.Number)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(number.String())
	return n, err == nil
}

func sortedNames(members map[string]property) []string { return slices.Sorted(maps.Keys(members)) }
