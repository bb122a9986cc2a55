package httpcall

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Pagination is the rule by which the pages after the first are asked for: by
// GET, or by POST of a tool that is pure. The result is
//
//	{"items": […], "pages": 3, "complete": true}
//
// and where more is left than MaxPages or MaxBytes let through, complete is
// false and next says where it goes on: the cursor, URL, page or offset.
// Pages are taken as a whole or not at all, and a page that fails ends the call
// with its failure.
type Pagination struct {
	// Type is cursor, next_url (a URL in the answer), link (a Link header with
	// rel="next"), page (numbers) or offset.
	Type string `json:"type"`
	// Items points at the array in each answer whose items are joined; empty
	// where the answer is that array.
	Items Pointer `json:"items"`
	// Next points at the next cursor or URL in an answer, for cursor and
	// next_url. Where it is absent, null, false or empty, the pages end. URLs
	// lead to the origin of the tool's URL.
	Next *Pointer `json:"next,omitempty"`
	// Parameter is the query parameter that takes the cursor, page or offset.
	// A call whose arguments give it a value begins there.
	Parameter string `json:"parameter,omitempty"`
	// Body points at the place of the cursor in a JSON body, instead of a
	// parameter.
	Body *Pointer `json:"body,omitempty"`
	// First is the number of the first page; 1 when nil. Offsets begin at 0.
	First *int `json:"first,omitempty"`
	// PageSize is how many items a whole page has: one with fewer is the last.
	// When zero, page and offset end at a page without items.
	PageSize int `json:"page_size,omitempty"`
	// MaxPages bounds the pages of a call; 10 when zero, at most 100.
	MaxPages int `json:"max_pages,omitempty"`
}

// Ways to ask for the next page.
const (
	pagesByCursor = "cursor"
	pagesByURL    = "next_url"
	pagesByLink   = "link"
	pagesByNumber = "page"
	pagesByOffset = "offset"
)

// Limits of pagination.
const (
	defaultPages = 10
	maxPages     = 100
	maxPageSize  = 100_000
)

var paginations = []string{pagesByCursor, pagesByURL, pagesByLink, pagesByNumber, pagesByOffset}

// UnmarshalJSON implements [json.Unmarshaler].
func (p *Pagination) UnmarshalJSON(raw []byte) error {
	*p = Pagination{}
	var items *Pointer
	err := readMembers(raw, map[string]any{
		"type": &p.Type, "items": &items, "next": &p.Next, "parameter": &p.Parameter, "body": &p.Body,
		"first": &p.First, "page_size": &p.PageSize, "max_pages": &p.MaxPages,
	})
	if err == nil && items == nil {
		return fault("/items", "want the pointer to the items of an answer; empty where the answer is their array")
	}
	if err == nil {
		p.Items = *items
	}
	return err
}

func (p *Pagination) check(c *Config) error {
	if p == nil {
		return nil
	}
	for _, f := range []struct {
		wrong bool
		path  string
		msg   string
	}{
		{
			!slices.Contains(paginations, p.Type), "/type",
			fmt.Sprintf("%.40q is none of %s", p.Type, strings.Join(paginations, ", ")),
		},
		{
			c.Method != http.MethodGet && c.Method != http.MethodPost, "",
			c.Method + " requests have no further pages: want GET, or POST of a tool that is pure",
		},
		{p.points() && p.Next == nil, "/next", "want the pointer to what leads to the next page"},
		{!p.points() && p.Next != nil, "/next", "only for the types cursor and next_url"},
		{p.Body != nil && p.Type != pagesByCursor, "/body", "only for the type cursor"},
		{p.Body != nil && (!c.mayHaveBody() || c.BodyType != bodyJSON), "/body", "only for methods with a body of type json"},
		{p.Body != nil && len(p.Body.Tokens()) == 0, "/body", "a cursor can't be the whole body"},
		{p.Body != nil && p.Parameter != "", "/parameter", "the cursor goes to the body or to a parameter, not to both"},
		{p.counts() && p.Parameter == "", "/parameter", "want the query parameter for what the page is asked by"},
		{!p.counts() && p.Parameter != "", "/parameter", "only for the types cursor, page and offset"},
		{p.First != nil && p.Type != pagesByNumber, "/first", "only for the type page"},
		{p.First != nil && (*p.First < 0 || *p.First > maxPageSize), "/first", fmt.Sprintf("want 0 to %d", maxPageSize)},
		{p.PageSize < 0 || p.PageSize > maxPageSize, "/page_size", fmt.Sprintf("want 0 to %d", maxPageSize)},
		{
			p.PageSize > 0 && p.Type != pagesByNumber && p.Type != pagesByOffset, "/page_size",
			"only for the types page and offset",
		},
		{p.MaxPages < 0 || p.MaxPages > maxPages, "/max_pages", fmt.Sprintf("want 0 to %d", maxPages)},
	} {
		if f.wrong {
			return fault("/pagination"+f.path, f.msg)
		}
	}
	if c.Answer == answerText || c.Answer == answerBinary {
		return fault("/answer", "pages are read as JSON")
	}
	return nil
}

// points reports whether an answer says what leads to the next page.
func (p *Pagination) points() bool { return p.Type == pagesByCursor || p.Type == pagesByURL }

// counts reports whether a query parameter leads to the next page.
func (p *Pagination) counts() bool {
	return p.Type == pagesByNumber || p.Type == pagesByOffset || p.Type == pagesByCursor && p.Body == nil
}

// limit is how many pages a call may ask for.
func (p *Pagination) limit() int {
	if p.MaxPages == 0 {
		return defaultPages
	}
	return p.MaxPages
}
