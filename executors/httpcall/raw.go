package httpcall

import (
	"context"
	"encoding/json"
)

// rawBody is a body of type raw.
type rawBody struct{ part Part }

func compileRaw(raw json.RawMessage) (payloader, int, error) {
	var p Part
	if err := readValue("/body", raw, &p); err != nil {
		return nil, 0, err
	}
	switch {
	case p.From == nil:
		return nil, 0, fault("/body", `want {"from": "/pointer", "content_type": "…"}`)
	case p.FileName != nil:
		return nil, 0, fault("/body/file_name", "only for parts of the type multipart")
	case p.ContentType == "":
		return nil, 0, fault("/body/content_type", "want the content type of what is sent")
	}
	return rawBody{p}, p.references(), p.check("/body")
}

func (b rawBody) payload(ctx context.Context, args *arguments) (*payload, error) {
	if err := ended(ctx); err != nil {
		return nil, err
	}
	raw, ok := args.find(*b.part.From)
	if !ok {
		return nil, nil // An absent body is none.
	}
	text, err := b.part.bytes(bodyRoom(), raw)
	if err != nil {
		return nil, err
	}
	return &payload{text, b.part.ContentType}, nil
}
