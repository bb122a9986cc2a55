package httpcall

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// defaultAnswerBytes bounds answers by default.
const defaultAnswerBytes = 1 << 20

// pageAccumulator collects the items of pages.
type pageAccumulator struct {
	items bytes.Buffer // Separated by commas.
	pages int
	bytes int64 // Of all responses.
	next  json.RawMessage
}

// page requests all pages of a call in turn, through the same gate, with the same
// credential and deadline.
func (x *exchange) page(ctx context.Context, req *egress.Request) (*tool.Result, error) {
	if err := mayPage(x.call, req.Method); err != nil {
		return nil, err
	}
	turner, err := x.program.turner(req)
	if err != nil {
		return nil, err
	}
	var b pageAccumulator
	seen := make(map[string]bool)
	for {
		req.MaxBytes = x.program.limit() - b.bytes
		resp, err := x.send(ctx, req)
		if err != nil {
			return nil, afterPages(err, b.pages)
		}
		if resp.Truncated && b.pages > 0 && resp.Status < 300 {
			return x.program.finish(ctx, &b) // Leave the page to another call instead of cutting it.
		}
		items, doc, res, err := x.items(ctx, resp)
		if res != nil || err != nil {
			return res, err
		}
		b.add(items, len(resp.Body))
		tool.ReportProgress(ctx, tool.Progress{Message: fmt.Sprintf("page %d", b.pages), Done: float64(b.pages)})
		next, more, err := turner.next(resp, doc, len(items))
		if err != nil {
			return brokenPage(b.pages, err), nil
		}
		b.next = next
		if !more {
			b.next = nil
			return x.program.finish(ctx, &b)
		}
		if b.pages >= x.program.Pagination.limit() || b.bytes >= x.program.limit() {
			return x.program.finish(ctx, &b)
		}
		if seen[string(next)] {
			return brokenPage(b.pages, errRound), nil
		}
		seen[string(next)] = true
		if req, err = x.turn(turner, req, next, b.pages+1); err != nil {
			return brokenPage(b.pages, err), nil
		}
	}
}

var errRound = errors.New("the upstream's next page was read already")

// mayPage refuses further pages for requests that may have effects.
func mayPage(call *tool.Call, method string) error {
	if method == http.MethodGet || call.Version.Snapshot.Execution.Pure {
		return nil
	}
	return &tool.Error{
		Kind: tool.Invalid, Op: "httpcall.Execute",
		Msg: "pagination needs GET or a pure tool: set execution.is_pure, or drop pagination",
	}
}

// turn makes the request for a page, with its own idempotency key, since it is a
// different request.
func (x *exchange) turn(t turner, req *egress.Request, next json.RawMessage, page int) (*egress.Request, error) {
	out := *req
	out.Header = req.Header.Clone()
	if x.call.EffectID != "" {
		out.Header.Set(idempotencyHeader, x.call.EffectID+"-"+strconv.Itoa(page))
	}
	if err := t.turn(&out, next); err != nil {
		return nil, err
	}
	if len(out.URL) > maxURLBytes || len(out.Body) > maxBodyBytes {
		return nil, errors.New("the reference to the next page is too long")
	}
	return &out, nil
}

// items returns the items of a page's response, or the outcome of the call.
func (x *exchange) items(ctx context.Context, resp *egress.Response) ([]json.RawMessage, *part, *tool.Result, error) {
	known := secret.RedactorFrom(ctx)
	doc := document(resp)
	if res, err := x.program.failure(known, resp, doc, time.Now()); res != nil || err != nil {
		return nil, nil, res, err
	}
	if resp.Truncated {
		return nil, nil, tooMuch(resp), nil
	}
	if len(bytes.TrimSpace(resp.Body)) == 0 {
		return nil, doc, nil, nil
	}
	if doc.Raw() == nil {
		return nil, nil, notJSON(known, resp), nil
	}
	at := x.program.Pagination.Items
	var items []json.RawMessage
	raw, ok := doc.at(at)
	ok = ok && (kind(raw) == '[' || isNull(raw)) && json.Unmarshal(raw, &items) == nil
	if !ok {
		return nil, nil, tool.ErrorResult(fmt.Sprintf("the upstream's answer has no array at %q to take items from",
			at.String())), nil
	}
	return items, doc, nil, nil
}

func (b *pageAccumulator) add(items []json.RawMessage, size int) {
	for _, item := range items {
		if b.items.Len() > 0 {
			b.items.WriteByte(',')
		}
		b.items.Write(bytes.TrimSpace(item))
	}
	b.pages++
	b.bytes += int64(size)
}

// finish returns the result of all pages read, and where to continue if there
// are more.
func (p *program) finish(ctx context.Context, b *pageAccumulator) (*tool.Result, error) {
	raw := fmt.Appendf(nil, `{"items":[%s],"pages":%d,"complete":%t`, b.items.Bytes(), b.pages, b.next == nil)
	if b.next != nil {
		raw = append(append(raw, `,"next":`...), b.next...)
	}
	res, err := p.shape(ctx, append(raw, '}'))
	if err == nil && b.next != nil {
		res.Warnings = append(
			res.Warnings, fmt.Sprintf("stopped after %d pages and %d bytes: there is more", b.pages, b.bytes),
		)
	}
	return res, err
}

// limit bounds all responses of a call, in bytes.
func (p *program) limit() int64 {
	if p.MaxBytes > 0 {
		return p.MaxBytes
	}
	return defaultAnswerBytes
}

// afterPages returns the failure of a page. After the first page it has Sent set,
// since a request of the call was sent.
func afterPages(err error, pages int) error {
	if pages == 0 {
		return err
	}
	failed := *tool.AsError(err)
	failed.Sent = true
	failed.Msg = fmt.Sprintf("page %d: %s", pages+1, failed.Msg)
	return &failed
}

func brokenPage(pages int, err error) *tool.Result {
	msg := err.Error()
	if e, ok := errors.AsType[*tool.Error](err); ok {
		msg = e.Msg
	}
	return tool.ErrorResult(fmt.Sprintf("cannot request the page after page %d: %s", pages, msg))
}
