package builtins

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strconv"
)

// SearchProvider is a search service for web_search, called by GET only. Implementations are
// immutable.
type SearchProvider interface {
	// Name is the provider's name in configurations and settings, such as "serper". The
	// environment variable <NAME>_API_KEY has its key for all tenants.
	Name() string
	// Endpoint is the default URL.
	Endpoint() string
	// KeyHeader is the header of the key.
	KeyHeader() string
	// Query returns the URL parameters of a query.
	Query(q SearchQuery) url.Values
	// Results parses a response.
	Results(body []byte) ([]SearchResult, error)
}

// SearchQuery is a query with its defaults.
type SearchQuery struct {
	Query     string `json:"query"`
	Count     int    `json:"count"`
	Page      int    `json:"page"`      // Counted from 1.
	Country   string `json:"country"`   // Two letters in lower case; empty for any.
	Language  string `json:"language"`  // Likewise.
	Freshness string `json:"freshness"` // day, week, month or year; empty for any.
}

// SearchResult is one result.
type SearchResult struct {
	Position int    `json:"position"` // Set by web_search.
	Title    string `json:"title"`
	URL      string `json:"url"`
	Snippet  string `json:"snippet,omitempty"`
	Date     string `json:"date,omitempty"`
}

// SearchProviders returns the built-in search providers, in the order in which they are tried
// by default.
func SearchProviders() []SearchProvider { return []SearchProvider{serper{}, brave{}} }

// serper returns Google's results by serper.dev.
type serper struct{}

func (serper) Name() string      { return "serper" }
func (serper) Endpoint() string  { return "https://google.serper.dev/search" }
func (serper) KeyHeader() string { return "X-API-KEY" }

func (serper) Query(q SearchQuery) url.Values {
	v := url.Values{"q": {q.Query}, "num": {strconv.Itoa(q.Count)}, "page": {strconv.Itoa(q.Page)}}
	add(v, "gl", q.Country)
	add(v, "hl", q.Language)
	if q.Freshness != "" {
		v.Set("tbs", "qdr:"+q.Freshness[:1])
	}
	return v
}

func (serper) Results(body []byte) ([]SearchResult, error) {
	var answer struct {
		Organic []struct {
			Title   string `json:"title"`
			Link    string `json:"link"`
			Snippet string `json:"snippet"`
			Date    string `json:"date"`
		} `json:"organic"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	out := make([]SearchResult, 0, len(answer.Organic))
	for _, r := range answer.Organic {
		out = append(out, SearchResult{Title: r.Title, URL: r.Link, Snippet: r.Snippet, Date: r.Date})
	}
	return out, nil
}

// brave returns results of Brave's own index, by api.search.brave.com.
type brave struct{}

func (brave) Name() string      { return "brave" }
func (brave) Endpoint() string  { return "https://api.search.brave.com/res/v1/web/search" }
func (brave) KeyHeader() string { return "X-Subscription-Token" }

func (brave) Query(q SearchQuery) url.Values {
	v := url.Values{"q": {q.Query}, "count": {strconv.Itoa(q.Count)}, "offset": {strconv.Itoa(q.Page - 1)}}
	add(v, "country", q.Country)
	add(v, "search_lang", q.Language)
	if q.Freshness != "" {
		v.Set("freshness", "p"+q.Freshness[:1])
	}
	return v
}

func (brave) Results(body []byte) ([]SearchResult, error) {
	var answer struct {
		Web struct {
			Results []struct {
				Title       string `json:"title"`
				URL         string `json:"url"`
				Description string `json:"description"`
				PageAge     string `json:"page_age"`
				Age         string `json:"age"`
			} `json:"results"`
		} `json:"web"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("reading results: %w", err)
	}
	out := make([]SearchResult, 0, len(answer.Web.Results))
	for _, r := range answer.Web.Results {
		date := r.PageAge
		if date == "" {
			date = r.Age
		}
		out = append(out, SearchResult{Title: untagged(r.Title), URL: r.URL, Snippet: untagged(r.Description), Date: date})
	}
	return out, nil
}

var tags = regexp.MustCompile(`</?[a-zA-Z][^<>]*>`)

// untagged returns the text of a snippet without its tags around matches.
func untagged(s string) string { return html.UnescapeString(tags.ReplaceAllString(s, "")) }

func add(v url.Values, name, value string) {
	if value != "" {
		v.Set(name, value)
	}
}
