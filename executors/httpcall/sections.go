package httpcall

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"mime/multipart"
	"net/textproto"
)

// section is a part, filled in.
type section struct {
	header textproto.MIMEHeader
	text   []byte
}

// join writes sections with a boundary that occurs in none of them. It is their
// digest, so that equal calls make equal requests.
func join(sections []section) (*payload, error) {
	digest := sha256.New()
	for _, s := range sections {
		_, _ = fmt.Fprintf(digest, "%q %d ", s.header, len(s.text))
		_, _ = digest.Write(s.text)
	}
	boundary := hex.EncodeToString(digest.Sum(nil))
	b := bodySink()
	w := multipart.NewWriter(b)
	if err := w.SetBoundary(boundary); err != nil {
		return nil, fmt.Errorf("writing multipart body: %w", err)
	}
	for _, s := range sections {
		if bytes.Contains(s.text, []byte(boundary)) {
			return nil, argument("", "contains the boundary of the body")
		}
		part, err := w.CreatePart(s.header)
		if err != nil {
			return nil, fmt.Errorf("writing multipart body: %w", err)
		}
		if _, err := part.Write(s.text); err != nil {
			return nil, fmt.Errorf("writing multipart body: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("writing multipart body: %w", err)
	}
	if b.Len() > b.max {
		return nil, b.full
	}
	return &payload{b.Bytes(), w.FormDataContentType()}, nil
}
