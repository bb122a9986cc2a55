package builtins

import (
	"context"
	"net/url"
	"time"
)

// Reader makes web pages readable. Implementations are safe for concurrent use, bound the
// cost of any page, and return soon after ctx ends.
//
// Read fails with an error whose text is shown to the model where the page cannot be read,
// and with a [*tool.Error] where ctx ended.
type Reader interface {
	Read(ctx context.Context, p Page) (Article, error)
	// Decode returns a text in UTF-8, by the character set in its content type, its
	// byte order mark or the text itself.
	Decode(body []byte, contentType string) string
}

// Page is an HTML page, and how to read it.
type Page struct {
	Body        []byte
	ContentType string   // As the upstream wrote it; may be empty.
	URL         *url.URL // Its URL, for relative links. Never nil.
	Format      Format   // Markdown, PlainText or HTML.
	Whole       bool     // All of the page, rather than its article.
}

// Format is how the content of a page is returned.
type Format string

// Formats.
const (
	Markdown  Format = "markdown"
	PlainText Format = "text"
	HTML      Format = "html" // Without scripts, styles and most attributes.
	RawText   Format = "raw"  // Unchanged, in UTF-8. Not passed to readers.
)

// Article is the readable form of a page. Links and images in Content are absolute http,
// https and mailto URLs; hidden parts of the page are left out.
type Article struct {
	Title     string
	Byline    string
	Site      string
	Language  string
	Published *time.Time // Nil when the page does not state it.
	Content   string     // In the requested format.
	Truncated bool       // The page exceeds the reader's limit.
}
