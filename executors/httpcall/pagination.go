package httpcall

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Pagination declares how further pages are requested: by GET, or by POST of a pure
// tool. The result is
//
//	{"items": […], "pages": 3, "complete": true}
//
// When MaxPages or MaxBytes is reached, complete is false and next is where to
// continue: the cursor, URL, page or offset. Pages are never cut, and a page that
// fails ends the call with its failure.
type Pagination struct {
	// Type is cursor, next_url (a URL in the answer), link (a Link header with
	// rel="next"), page (numbers) or offset.
	Type string `json:"type"`
	// Items points at the array of items in each answer; empty where the answer
	// is that array.
	Items Pointer `json:"items"`
	// Next points at the next cursor or URL in an answer, for cursor and
	// next_url. An absent, null, false or empty value ends the pages. URLs must
	// have the origin of the tool's URL.
	Next *Pointer `json:"next,omitempty"`
	// Parameter is the query parameter that takes the cursor, page or offset.
	// A call that sets it by an argument starts there.
	Parameter string `json:"parameter,omitempty"`
	// Body points at the place of the cursor in a JSON body, instead of a
	// parameter.
	Body *Pointer `json:"body,omitempty"`
	// First is the number of the first page; 1 when nil. Offsets begin at 0.
	First *int `json:"first,omitempty"`
	// PageSize is the number of items of a full page: one with fewer is the last.
	// When zero, page and offset end at an empty page.
	PageSize int `json:"page_size,omitempty"`
	// MaxPages bounds the pages of a call; 10 when zero, at most 100.
	MaxPages int `json:"max_pages,omitempty"`
}

// Pagination types.
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
		return fault("/items", "want the pointer to the array of items in an answer; empty where the answer is that array")
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
			c.Method + " requests have no pagination: want GET, or POST of a pure tool",
		},
		{p.points() && p.Next == nil, "/next", "want the pointer to the next cursor or URL"},
		{!p.points() && p.Next != nil, "/next", "only for the types cursor and next_url"},
		{p.Body != nil && p.Type != pagesByCursor, "/body", "only for the type cursor"},
		{p.Body != nil && (!c.mayHaveBody() || c.BodyType != bodyJSON), "/body", "only for methods with a body of type json"},
		{p.Body != nil && len(p.Body.Tokens()) == 0, "/body", "a cursor can't be the whole body"},
		{p.Body != nil && p.Parameter != "", "/parameter", "the cursor goes to the body or to a parameter, not to both"},
		{p.counts() && p.Parameter == "", "/parameter", "want the query parameter for the page or offset"},
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

// points reports whether the answer has the cursor or URL of the next page.
func (p *Pagination) points() bool { return p.Type == pagesByCursor || p.Type == pagesByURL }

// counts reports whether pages are requested by a number in the query.
func (p *Pagination) counts() bool {
	return p.Type == pagesByNumber || p.Type == pagesByOffset || p.Type == pagesByCursor && p.Body == nil
}

// limit is the maximum number of pages of a call.
func (p *Pagination) limit() int {
	if p.MaxPages == 0 {
		return defaultPages
	}
	return p.MaxPages
}
