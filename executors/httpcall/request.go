package httpcall

import (
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/tool"
)

// idempotencyHeader carries the effect id, the same over all attempts.
const idempotencyHeader = "Idempotency-Key"

// request fills the configuration in. It opens no credential.
func (p *program) request(call *tool.Call) (*egress.Request, error) {
	args, err := readArguments(call.Arguments)
	if err != nil {
		return nil, err
	}
	u, err := p.template.expand(args)
	if err != nil {
		return nil, err
	}
	if err := p.addQuery(u, args); err != nil {
		return nil, err
	}
	header, err := p.header(args)
	if err != nil {
		return nil, err
	}
	if call.EffectID != "" {
		header.Set(idempotencyHeader, call.EffectID)
	}
	body, err := p.body(args)
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

func (p *program) addQuery(u *url.URL, args *arguments) error {
	q := make(url.Values)
	for _, name := range p.query {
		v := p.Query[name]
		if v.From == nil {
			q.Add(name, v.Literal)
			continue
		}
		if raw, ok := args.find(*v.From); ok {
			if err := addParameter(q, name, v.From.String(), raw); err != nil {
				return err
			}
		}
	}
	if p.rest == restToQuery {
		for _, name := range p.unused(args) {
			if raw := args.members[name]; !isNull(raw) {
				if err := addParameter(q, name, "/"+escape(name), raw); err != nil {
					return err
				}
			}
		}
	}
	if len(q) == 0 {
		return nil
	}
	if u.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += q.Encode()
	return nil
}

// addParameter adds a value to a query: one parameter for a scalar, one for
// each item of an array of scalars, and any other value as its JSON text.
func addParameter(q url.Values, name, path string, raw json.RawMessage) error {
	if s, ok := scalar(raw); ok {
		q.Add(name, s)
		return nil
	}
	var array []json.RawMessage
	if json.Unmarshal(raw, &array) == nil {
		for _, item := range array {
			s, ok := scalar(item)
			if !ok {
				return argument(path, "can't be a query parameter: want an array of strings, numbers or booleans")
			}
			q.Add(name, s)
		}
		return nil
	}
	q.Add(name, string(raw))
	return nil
}

func (p *program) header(args *arguments) (http.Header, error) {
	h := make(http.Header)
	if p.Answer != answerText {
		h.Set("Accept", "application/json, */*;q=0.8")
	}
	for _, name := range p.headers {
		v := p.Headers[name]
		if v.From == nil {
			h.Set(name, v.Literal)
			continue
		}
		raw, ok := args.find(*v.From)
		if !ok {
			continue
		}
		s, ok := scalar(raw)
		if !ok {
			return nil, argument(v.From.String(), "can't be a header: want a string, number or boolean")
		}
		if !validHeaderValue(s) {
			return nil, argument(v.From.String(), "can't be a header: holds a line break or another control character")
		}
		h.Set(name, s)
	}
	return h, nil
}

// body returns the request's body; nil for none.
func (p *program) body(args *arguments) (json.RawMessage, error) {
	switch {
	case len(p.Body) > 0 && isNull(p.Body):
		return nil, nil
	case len(p.Body) > 0:
		return fill(p.Body, args)
	case p.rest == restToBody:
		return writeObject(p.unused(args), func(name string) (json.RawMessage, error) { return args.members[name], nil })
	default:
		return nil, nil
	}
}
