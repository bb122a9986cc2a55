package extract

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
)

// MaxText bounds the text of one document, in bytes.
const MaxText = 16 << 20

// Text is the text of a document.
type Text struct {
	// Content is UTF-8 without NUL characters, with lines that end in "\n".
	Content string
	// Body is the end of front matter in Content, in bytes: the text before is not
	// cut into chunks.
	Body  int
	Title string // From the document; may be empty.
	Plain bool   // Content is not Markdown.
	// Pages are the offsets of a PDF's pages in Content, in order.
	Pages []int
}

// Page returns the page, from 1, at an offset of Content; 0 for a document without pages.
func (t *Text) Page(offset int) int {
	return sort.Search(len(t.Pages), func(i int) bool { return t.Pages[i] > offset })
}

// Sandbox reads PDF documents, and is a [sandbox.Pool].
type Sandbox interface {
	Run(ctx context.Context, j sandbox.Job) (*sandbox.Outcome, error)
}

// PageReader returns the text of an HTML page as Markdown, and its title. Its work is bounded for any
// page.
type PageReader func(ctx context.Context, page []byte) (title, markdown string, err error)

// Config configures an [Extractor].
type Config struct {
	// HTML reads pages. Nil to refuse them.
	HTML PageReader
	// Sandbox reads PDF documents. Nil to refuse them.
	Sandbox Sandbox
}

// Extractor extracts text from documents. It is safe for concurrent use.
type Extractor struct{ cfg Config }

// New returns an extractor.
func New(cfg Config) *Extractor { return &Extractor{cfg} }

// Extract returns the text of a tenant's document.
//
// It fails with [tool.Invalid] if the document cannot be read or has no text, with a message for its
// uploader; with [tool.Conflict] if there is no reader of its media type; and with the errors of the
// readers.
func (e *Extractor) Extract(
	ctx context.Context, tenant tool.TenantID, media retrieval.MediaType, content []byte,
) (Text, error) {
	if err := media.CheckContent(content); err != nil {
		return Text{}, refused("%s", tool.AsError(err).Msg)
	}
	var t Text
	var err error
	switch media {
	case retrieval.Plain:
		t = Text{Content: clean(retrieval.DecodeText(content)), Plain: true}
	case retrieval.Markdown:
		t = markdown(clean(retrieval.DecodeText(content)))
	case retrieval.HTML:
		t, err = e.html(ctx, content)
	case retrieval.PDF:
		t, err = e.pdf(ctx, tenant, content)
	default:
		err = refused("documents of media type %.80q are not read", string(media))
	}
	switch {
	case err != nil:
		return Text{}, err
	case strings.TrimSpace(t.Content[t.Body:]) == "" && media == retrieval.PDF:
		return Text{}, refused("the PDF has no text: if it was scanned, have its text recognised first")
	case strings.TrimSpace(t.Content[t.Body:]) == "":
		return Text{}, refused("the document has no text")
	case len(t.Content) > MaxText:
		return Text{}, refused("the document has %d bytes of text, more than %d: split it", len(t.Content),
			MaxText)
	}
	t.Title = titled(t.Title)
	return t, nil
}

func (e *Extractor) html(ctx context.Context, content []byte) (Text, error) {
	if e.cfg.HTML == nil {
		return Text{}, missing("HTML", "have a worker with Config.Reader ingest it")
	}
	title, body, err := e.cfg.HTML(ctx, page(content))
	if err != nil {
		return Text{}, fmt.Errorf("reading HTML: %w", err)
	}
	return Text{Content: clean(body), Title: title}, nil
}

// page prepares a page of HTML for its reader, which recognises UTF-16 only by its byte order mark.
func page(content []byte) []byte {
	if !retrieval.IsUTF16(content) {
		return content
	}
	return append([]byte("\ufeff"), retrieval.DecodeText(content)...)
}

func refused(format string, args ...any) error {
	return &tool.Error{Kind: tool.Invalid, Op: "extract", Msg: fmt.Sprintf(format, args...)}
}

func missing(media, remedy string) error {
	return &tool.Error{
		Kind: tool.Conflict, Op: "extract",
		Msg: fmt.Sprintf("this worker reads no %s: %s, or put the document as Markdown", media, remedy),
	}
}

// titled returns a title within the limits of documents.
func titled(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }), " ")
	if runes := []rune(s); len(runes) > retrieval.MaxDocumentTitle {
		s = string(runes[:retrieval.MaxDocumentTitle-1]) + "…"
	}
	return s
}

// clean returns a text in the form of [Text].
func clean(s string) string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\x00", " ").Replace(s)
}
