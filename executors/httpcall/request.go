package httpcall

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/tool"
)

// idempotencyHeader carries the effect id, the same over all attempts.
const idempotencyHeader = "Idempotency-Key"

// request fills the configuration in. It opens no credential.
func (p *program) request(ctx context.Context, call *tool.Call) (*egress.Request, error) {
	args, err := readArguments(call.Arguments)
	if err != nil {
		return nil, err
	}
	u, err := p.template.expand(ctx, args)
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
	body, err := p.writeBody(ctx, args)
	if err != nil {
		return nil, err
	}
	if body != nil && header.Get("Content-Type") == "" {
		header.Set("Content-Type", "application/json")
	}
	return &egress.Request{
		Method: p.Method, URL: u.String(), Header: header, Body: body, MaxBytes: p.MaxBytes,
		Repeatable: call.Version.Snapshot.Execution.Repeatable(),
	}, nil
}

func (p *program) addQuery(ctx context.Context, u *url.URL, args *arguments) error {
	q, left := make(url.Values), urlRoom()
	for _, name := range p.query {
		if err := ended(ctx); err != nil {
			return err
		}
		v := p.Query[name]
		if v.From == nil {
			q.Add(name, v.Literal)
			continue
		}
		if raw, ok := args.find(*v.From); ok {
			if err := addParameter(q, left, name, v.From.String(), raw); err != nil {
				return err
			}
		}
	}
	if p.rest == restToQuery {
		for _, name := range p.unused(args) {
			if raw := args.members[name]; !isNull(raw) {
				if err := addParameter(q, left, name, "/"+escape(name), raw); err != nil {
					return err
				}
			}
		}
	}
	if len(q) > 0 {
		if u.RawQuery != "" {
			u.RawQuery += "&"
		}
		u.RawQuery += q.Encode()
	}
	return urlRoom().take("", len(u.String()))
}

// addParameter adds a value to a query: one parameter for a scalar, one for
// each item of an array of scalars, and any other value as its JSON text.
func addParameter(q url.Values, left *room, name, path string, raw json.RawMessage) error {
	if err := left.fits(path, raw); err != nil {
		return err
	}
	add := func(s string) error {
		q.Add(name, s)
		return left.take(path, len(name)+len(s)+len("&="))
	}
	if s, ok := scalar(raw); ok {
		return add(s)
	}
	var array []json.RawMessage
	if json.Unmarshal(raw, &array) != nil {
		return add(string(raw))
	}
	for _, item := range array {
		s, ok := scalar(item)
		if !ok {
			return argument(path, "can't be a query parameter: want an array of strings, numbers or booleans")
		}
		if err := add(s); err != nil {
			return err
		}
	}
	return nil
}

func (p *program) header(ctx context.Context, args *arguments) (http.Header, error) {
	h, left := make(http.Header), headerRoom()
	if p.Answer != answerText {
		h.Set("Accept", "application/json, */*;q=0.8")
	}
	for _, name := range p.headers {
		v := p.Headers[name]
		if v.From == nil {
			h.Set(name, v.Literal)
			continue
		}
		if err := ended(ctx); err != nil {
			return nil, err
		}
		raw, ok := args.find(*v.From)
		if !ok {
			continue
		}
		if err := left.fits(v.From.String(), raw); err != nil {
			return nil, err
		}
		s, ok := scalar(raw)
		if !ok {
			return nil, argument(v.From.String(), "can't be a header: want a string, number or boolean")
		}
		if !validHeaderValue(s) {
			return nil, argument(v.From.String(), "can't be a header: holds a line break or another control character")
		}
		if err := left.take(v.From.String(), len(name)+len(s)); err != nil {
			return nil, err
		}
		h.Set(name, s)
	}
	return h, nil
}

// writeBody returns the request's body; nil for none.
func (p *program) writeBody(ctx context.Context, args *arguments) (json.RawMessage, error) {
	switch {
	case p.body != nil && isNull(p.body.literal):
		return nil, nil
	case p.body != nil:
		return p.body.fill(ctx, args)
	case p.rest == restToBody:
		return writeMembers(args, p.unused(args))
	default:
		return nil, nil
	}
}
