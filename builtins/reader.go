package builtins

import (
	"context"
	"net/url"
	"time"
)

// Reader makes the pages of the web readable. Implementations are safe for
// concurrent use, bound what a page may cost them, whatever is in it, and
// return soon after ctx ends.
//
// Read fails with an error whose text is shown to the model where the page
// can't be read, and with a [*tool.Error] where ctx ended.
type Reader interface {
	Read(ctx context.Context, p Page) (Article, error)
	// Decode returns a text in UTF-8, by the character set that its content
	// type, its byte order mark or the text itself names.
	Decode(body []byte, contentType string) string
}

// Page is an HTML page as it came, and what is wanted of it.
type Page struct {
	Body        []byte
	ContentType string   // As the upstream wrote it; may be empty.
	URL         *url.URL // Where it came from, for relative links. Never nil.
	Format      Format   // Markdown, PlainText or HTML.
	Whole       bool     // All of the page, rather than its article.
}

// Format is how the content of a page is returned.
type Format string

// Formats.
const (
	Markdown  Format = "markdown"
	PlainText Format = "text"
	HTML      Format = "html" // Without scripts, styles and attributes that are not needed to read.
	RawText   Format = "raw"  // As it came, in UTF-8. Readers are not asked for it.
)

// Article is what a reader makes of a page. Links and images in Content are
// absolute http, https and mailto URLs; nothing that the page hides is in it.
type Article struct {
	Title     string
	Byline    string
	Site      string
	Language  string
	Published *time.Time // Nil when the page does not state it.
	Content   string     // In the format that was asked for.
	Truncated bool       // The page had more than the reader reads.
}
