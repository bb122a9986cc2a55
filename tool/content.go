package tool

import "encoding/json"

// ContentType is the type of a [Content] block.
type ContentType string

// Content types, named as the Model Context Protocol names them where it does.
const (
	ContentText     ContentType = "text"
	ContentJSON     ContentType = "json"
	ContentImage    ContentType = "image"
	ContentAudio    ContentType = "audio"
	ContentResource ContentType = "resource"
)

// Content is one block of a result or message. Which fields are set follows
// from its Type: Text for text, JSON for json, Data and MIMEType for image and
// audio, URI with optional Text or Data for resource.
type Content struct {
	Type     ContentType     `json:"type"`
	Text     string          `json:"text,omitempty"`
	JSON     json.RawMessage `json:"json,omitempty"`
	Data     []byte          `json:"data,omitempty"` // Base64 in JSON.
	MIMEType string          `json:"mime_type,omitempty"`
	URI      string          `json:"uri,omitempty"`
	Name     string          `json:"name,omitempty"`
}

// Text returns a text block.
func Text(s string) Content { return Content{Type: ContentText, Text: s} }

// JSON returns a block of structured data. The caller must not change raw
// afterwards.
func JSON(raw json.RawMessage) Content { return Content{Type: ContentJSON, JSON: raw} }
