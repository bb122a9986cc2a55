package readable

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/tool"
)

// Reader makes pages readable. It is safe for concurrent use.
type Reader struct {
	slots chan struct{} // Pages that are read at a time, including those whose caller has left.
}

var _ builtins.Reader = (*Reader)(nil)

// New returns a reader.
func New() *Reader {
	return &Reader{slots: make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))}
}

// Read implements [builtins.Reader]. A page that is not read when ctx ends is
// left to its goroutine, whose work is bounded as the page is, and which
// counts until it is done.
func (r *Reader) Read(ctx context.Context, p builtins.Page) (builtins.Article, error) {
	select {
	case r.slots <- struct{}{}:
	case <-ctx.Done():
		return builtins.Article{}, ended(ctx)
	}
	type outcome struct {
		article builtins.Article
		err     error
	}
	done := make(chan outcome, 1) // Buffered, for an article whose caller has left.
	go func() {
		defer func() { <-r.slots }()
		article, err := r.guarded(p)
		done <- outcome{article, err}
	}()
	select {
	case o := <-done:
		return o.article, o.err
	case <-ctx.Done():
		return builtins.Article{}, ended(ctx)
	}
}

// guarded reads a page. Libraries that a page makes panic fail on that page.
func (r *Reader) guarded(p builtins.Page) (article builtins.Article, err error) {
	defer func() {
		if caught := recover(); caught != nil {
			article, err = builtins.Article{}, fmt.Errorf("the page can't be read: its markup is beyond repair (%T)", caught)
		}
	}()
	return read(r.Decode(p.Body, p.ContentType), p)
}

func ended(ctx context.Context) error {
	out := &tool.Error{
		Kind: tool.Timeout, Op: "readable.Read", Msg: "the page was not read in time", Sent: true, Answered: true,
		Err: context.Cause(ctx),
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		out.Kind, out.Msg = tool.Cancelled, "the call was cancelled"
	}
	return out
}

// Decode implements [builtins.Reader]. A text that names no character set is
// UTF-8 where it may be, else what browsers would take it for.
func (r *Reader) Decode(body []byte, contentType string) string {
	encoding, name, certain := charset.DetermineEncoding(body, contentType)
	if name == "utf-8" || !certain && utf8.Valid(body) {
		return strings.TrimPrefix(strings.ToValidUTF8(string(body), "\uFFFD"), "\uFEFF")
	}
	text, err := encoding.NewDecoder().Bytes(body)
	if err != nil {
		text = body
	}
	return strings.TrimPrefix(strings.ToValidUTF8(string(text), "\uFFFD"), "\uFEFF")
}
