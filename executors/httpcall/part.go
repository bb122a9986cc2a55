package httpcall

import (
	"encoding/json"
	"fmt"
	"mime"
	"strings"
)

// Part is a part of a multipart body, or a whole raw body: the text or the bytes
// of an argument. As a JSON string it is a literal field. An array gives one part
// for each item; objects and nested arrays are sent as JSON.
type Part struct {
	Literal string // Without From.
	From    *Pointer
	// Encoding is how the argument's text is encoded: "text", or "base64" for
	// binary data. Defaults to text.
	Encoding string
	// FileName makes the part a file. A value from an argument must not be a path.
	FileName *Value
	// ContentType is the part's; a literal.
	ContentType string
}

// Encodings of parts.
const (
	encodingText   = "text"
	encodingBase64 = "base64"
)

// partJSON is the JSON form of a part that is not a lone string.
type partJSON struct {
	From        *Pointer `json:"from"`
	Encoding    string   `json:"encoding,omitempty"`
	FileName    *Value   `json:"file_name,omitempty"`
	ContentType string   `json:"content_type,omitempty"`
}

// MarshalJSON implements [json.Marshaler].
func (p Part) MarshalJSON() ([]byte, error) {
	if p.From == nil {
		return json.Marshal(p.Literal)
	}
	return json.Marshal(partJSON{p.From, p.Encoding, p.FileName, p.ContentType})
}

// UnmarshalJSON implements [json.Unmarshaler].
func (p *Part) UnmarshalJSON(raw []byte) error {
	*p = Part{}
	if kind(raw) != '{' {
		text, ok := scalar(raw)
		if !ok {
			return errNoValue
		}
		p.Literal = text
		return nil
	}
	err := readMembers(raw, map[string]any{
		"from": &p.From, "encoding": &p.Encoding, "file_name": &p.FileName, "content_type": &p.ContentType,
	})
	if err == nil && p.From == nil {
		return errNoValue
	}
	return err
}

func (p *Part) check(path string) error {
	switch {
	case p.Encoding != "" && p.Encoding != encodingText && p.Encoding != encodingBase64:
		return fault(path+"/encoding", fmt.Sprintf("%.40q is none of text, base64", p.Encoding))
	case p.FileName != nil && p.FileName.Style != "":
		return fault(path+"/file_name/style", "a file name has no style")
	case p.FileName != nil && p.FileName.From == nil && !validFileName(p.FileName.Literal):
		return fault(path+"/file_name", "want a name without slashes, line breaks and control characters")
	case p.ContentType != "" && !validMediaType(p.ContentType):
		return fault(path+"/content_type", fmt.Sprintf("%.40q is not a content type", p.ContentType))
	}
	return nil
}

func validFileName(name string) bool {
	return name != "" && validHeaderValue(name) && !strings.ContainsAny(name, "/\\\t") && name != "." && name != ".."
}

func validMediaType(s string) bool {
	_, _, err := mime.ParseMediaType(s)
	return err == nil && validHeaderValue(s) && strings.Contains(s, "/")
}
