package httpcall

import (
	"context"

	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// Kinds of body.
const (
	bodyJSON      = "json"
	bodyForm      = "form"
	bodyMultipart = "multipart"
	bodyRaw       = "raw"
)

// payload is a request's body.
type payload struct {
	raw         []byte
	contentType string
}

// payloader is a compiled body. It returns a nil payload for no body.
type payloader interface {
	payload(ctx context.Context, args *arguments) (*payload, error)
}

// compileBody returns the configured body, nil for none, and its number of
// references to arguments.
func compileBody(c *Config) (payloader, int, error) {
	if isNull(c.Body) {
		return nil, 0, nil
	}
	switch c.BodyType {
	case bodyForm:
		return compileForm(c.Body)
	case bodyMultipart:
		return compileMultipart(c.Body)
	case bodyRaw:
		return compileRaw(c.Body)
	default:
		var r bodyReader
		n, err := r.read("/body", c.Body, 0, false)
		return jsonBody{n}, r.references, err
	}
}

// jsonBody is a body of type json.
type jsonBody struct{ node *node }

func (b jsonBody) payload(ctx context.Context, args *arguments) (*payload, error) {
	raw, err := b.node.fill(ctx, bodySink(), &args.root)
	if err != nil || raw == nil {
		return nil, err
	}
	return &payload{raw, "application/json"}, nil
}

// restBody is a body of the arguments that are used nowhere else.
type restBody struct {
	names []string
	form  bool
}

func (b restBody) payload(ctx context.Context, args *arguments) (*payload, error) {
	if b.form {
		var f fields
		left := bodyRoom()
		for _, name := range b.names {
			if raw := args.members[name]; !isNull(raw) {
				if err := f.add(ctx, left, name, "/"+jsonpointer.Escape(name), "", raw); err != nil {
					return nil, err
				}
			}
		}
		return f.payload()
	}
	raw, err := writeMembers(args, b.names)
	if err != nil {
		return nil, err
	}
	return &payload{raw, "application/json"}, nil
}
