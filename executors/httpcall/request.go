package httpcall

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
	"github.com/toolcrib/toolcrib/tool"
)

// idempotencyHeader carries the effect id, the same over all attempts.
const idempotencyHeader = "Idempotency-Key"

// request fills in the configuration. It opens no credential.
func (p *program) request(ctx context.Context, call *tool.Call) (*egress.Request, error) {
	args, err := readArguments(call.Arguments)
	if err != nil {
		return nil, err
	}
	u, err := p.template.expand(ctx, args, p.Variables)
	if err != nil {
		return nil, err
	}
	if err := p.addQuery(ctx, u, args); err != nil {
		return nil, err
	}
	header, err := p.header(ctx, args)
	if err != nil {
		return nil, err
	}
	if call.EffectID != "" {
		header.Set(idempotencyHeader, call.EffectID)
	}
	req := &egress.Request{
		Method: p.Method, URL: u.String(), Header: header, MaxBytes: p.MaxBytes,
		Repeatable: call.Version.Snapshot.Execution.Repeatable(),
	}
	body, err := p.writeBody(ctx, args)
	if err != nil || body == nil {
		return req, err
	}
	req.Body = body.raw
	if header.Get("Content-Type") == "" {
		header.Set("Content-Type", body.contentType)
	}
	return req, nil
}

func (p *program) addQuery(ctx context.Context, u *url.URL, args *arguments) error {
	var q fields
	left := urlRoom()
	for _, name := range p.Query.names() {
		v := p.Query[name]
		if v.From == nil {
			q.addLiteral(name, v.Literal)
			continue
		}
		if raw, ok := args.find(*v.From); ok {
			if err := q.add(ctx, left, name, v.From.String(), v.Style, raw); err != nil {
				return err
			}
		}
	}
	if p.rest == restToQuery {
		for _, name := range p.unused(args) {
			if raw := args.members[name]; !isNull(raw) {
				if err := q.add(ctx, left, name, "/"+jsonpointer.Escape(name), "", raw); err != nil {
					return err
				}
			}
		}
	}
	if len(q) > 0 {
		if u.RawQuery != "" {
			u.RawQuery += "&"
		}
		u.RawQuery += q.encode()
	}
	return urlRoom().take("", len(u.String()))
}

// header returns the request's headers and cookies.
func (p *program) header(ctx context.Context, args *arguments) (http.Header, error) {
	h, left := make(http.Header), headerRoom()
	switch p.Answer {
	case answerText:
	case answerBinary:
		h.Set("Accept", "*/*")
	default:
		h.Set("Accept", "application/json, */*;q=0.8")
	}
	for _, name := range p.Headers.names() {
		text, ok, err := p.Headers[name].line(ctx, left, len(name), args)
		if err != nil {
			return nil, err
		}
		if ok {
			h.Set(name, text)
		}
	}
	var cookies []string
	for _, name := range p.Cookies.names() {
		text, ok, err := p.Cookies[name].line(ctx, left, len(name), args)
		if err != nil {
			return nil, err
		}
		if ok {
			cookies = append(cookies, name+"="+url.PathEscape(text))
		}
	}
	if len(cookies) > 0 {
		line := strings.Join(cookies, "; ")
		h.Set("Cookie", line)
		return h, headerRoom().take("", len(line))
	}
	return h, nil
}

// line returns the text of a header or cookie; false where the argument is
// absent.
func (v Value) line(ctx context.Context, left *room, name int, args *arguments) (string, bool, error) {
	if v.From == nil {
		return v.Literal, true, nil
	}
	if err := ended(ctx); err != nil {
		return "", false, err
	}
	path := v.From.String()
	raw, ok := args.find(*v.From)
	if !ok {
		return "", false, nil
	}
	if err := left.fits(path, raw); err != nil {
		return "", false, err
	}
	text, err := v.text(path, raw)
	if err != nil {
		return "", false, err
	}
	if !validHeaderValue(text) {
		return "", false, argument(path, "can't be a header: holds a line break or another control character")
	}
	return text, true, left.take(path, name+len(text))
}

// text returns an argument in the value's style.
func (v Value) text(path string, raw json.RawMessage) (string, error) {
	if s, ok := scalar(raw); ok {
		return s, nil
	}
	switch v.Style {
	case StyleJSON:
		var line bytes.Buffer
		err := json.Compact(&line, raw)
		return line.String(), err
	case StyleComma, StylePairs:
		texts, err := flatten(path, raw)
		if err != nil || v.Style == StyleComma || kind(raw) == '[' {
			return strings.Join(texts, ","), err
		}
		pairs := make([]string, 0, len(texts)/2)
		for i := 0; i < len(texts); i += 2 {
			pairs = append(pairs, texts[i]+"="+texts[i+1])
		}
		return strings.Join(pairs, ","), nil
	case StyleRepeat, StyleSpace, StylePipe, StyleDeep, "":
	}
	return "", argument(path, "can't be a header: want a string, number or boolean")
}

// writeBody returns the request's body; nil for none.
func (p *program) writeBody(ctx context.Context, args *arguments) (*payload, error) {
	switch {
	case p.body != nil:
		return p.body.payload(ctx, args)
	case p.rest == restToBody:
		return restBody{names: p.unused(args), form: p.BodyType == bodyForm}.payload(ctx, args)
	default:
		return nil, nil // No body is none.
	}
}
