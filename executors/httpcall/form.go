package httpcall

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

const formType = "application/x-www-form-urlencoded"

// formBody is a body of type form: fields, or an argument that holds them.
type formBody struct {
	fields Values
	whole  *Pointer
}

func compileForm(raw json.RawMessage) (payloader, int, error) {
	if p, ok, err := reference(raw); err != nil {
		return nil, 0, fault("/body/from", messageOf(err))
	} else if ok {
		return formBody{whole: p}, 1, nil
	}
	b, references := formBody{}, 0
	if err := readValue("/body", raw, &b.fields); err != nil {
		return nil, 0, err
	}
	for _, name := range b.fields.names() {
		switch v := b.fields[name]; {
		case v.From != nil:
			references++
		case v.Literal != "" && secret.SensitiveKey(name):
			return nil, 0, fault("/body/"+jsonpointer.Escape(name), noLiteralSecret)
		}
	}
	return b, references, b.fields.checkStyles("/body", styles)
}

func (b formBody) payload(ctx context.Context, args *arguments) (*payload, error) {
	var f fields
	left := bodyRoom()
	if b.whole != nil {
		raw, ok := args.find(*b.whole)
		if !ok {
			return nil, nil // An absent body is none.
		}
		if kind(raw) != '{' {
			return nil, argument(b.whole.String(), "can't be a form: want an object")
		}
		object, err := readArguments(raw)
		if err != nil {
			return nil, err
		}
		for _, name := range object.names {
			if isNull(object.members[name]) {
				continue
			}
			if err := f.add(ctx, left, name, b.whole.String()+"/"+jsonpointer.Escape(name), "",
				object.members[name]); err != nil {
				return nil, err
			}
		}
		return f.payload()
	}
	for _, name := range b.fields.names() {
		v := b.fields[name]
		if v.From == nil {
			f.addLiteral(name, v.Literal)
			continue
		}
		if raw, ok := args.find(*v.From); ok {
			if err := f.add(ctx, left, name, v.From.String(), v.Style, raw); err != nil {
				return nil, err
			}
		}
	}
	return f.payload()
}

// payload returns fields as a body.
func (f fields) payload() (*payload, error) {
	text := f.encode()
	if len(text) > maxBodyBytes {
		return nil, argument("", fmt.Sprintf("the request's body would be more than %d bytes", maxBodyBytes))
	}
	return &payload{[]byte(text), formType}, nil
}
