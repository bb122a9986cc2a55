package httpcall

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/tool"
)

// document parses a response's JSON for references into it; without a value where
// it is not JSON.
func document(r *egress.Response) *part {
	raw := bytes.TrimSpace(r.Body)
	if r.Truncated || len(raw) == 0 || !json.Valid(raw) || !utf8.Valid(raw) {
		return newPart(nil)
	}
	return newPart(raw)
}

var errResultSize = errors.New("the result is too long")

// shape returns the result that the configuration builds from a response's JSON.
func (p *program) shape(ctx context.Context, raw json.RawMessage) (*tool.Result, error) {
	if p.result == nil {
		return tool.JSONResult(raw), nil
	}
	out, err := p.result.fill(ctx, &sink{max: int(p.limit()), full: errResultSize}, newPart(raw))
	switch {
	case errors.Is(err, errResultSize):
		return tool.ErrorResult(fmt.Sprintf(
			"the result would have more than the limit of %d bytes: ask for less, such as fewer items or fields", p.limit(),
		)), nil
	case err != nil:
		failed := *tool.AsError(err)
		failed.Sent, failed.Answered = true, true
		return nil, &failed
	case out == nil:
		return tool.ErrorResult(fmt.Sprintf("the upstream's answer has nothing at %q", p.result.from.String())), nil
	}
	return tool.JSONResult(out), nil
}
