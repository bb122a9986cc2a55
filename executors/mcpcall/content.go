package mcpcall

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

// readResult parses the answer of tools/call. It fails where it is malformed.
func readResult(known *secret.Redactor, raw json.RawMessage) (*tool.Result, error) {
	var r struct {
		Type       string            `json:"resultType"` //nolint:tagliatelle // The protocol's name.
		Content    []json.RawMessage `json:"content"`
		Structured json.RawMessage   `json:"structuredContent"` //nolint:tagliatelle // The protocol's name.
		IsError    bool              `json:"isError"`           //nolint:tagliatelle // The protocol's name.
	}
	if !utf8.Valid(raw) {
		return nil, errors.New("it is not valid UTF-8")
	}
	if len(raw) == 0 || json.Unmarshal(raw, &r) != nil || bytes.TrimSpace(raw)[0] != '{' {
		return nil, errors.New("it has members of other types than the protocol's")
	}
	if len(r.Content) > maxBlocks {
		return nil, fmt.Errorf("it has %d content blocks, more than %d", len(r.Content), maxBlocks)
	}
	switch r.Type {
	case "", "complete": // Servers before 2026-07-28 name no type.
	case "input_required":
		return nil, &tool.Error{
			Kind: tool.Denied, Op: "mcpcall",
			Msg:  "the server asks for input from a person or a model, which this platform does not support",
			Sent: true, Answered: true,
		}
	default:
		return nil, fmt.Errorf("its result type %q is unknown, so it may be incomplete",
			redact(known, r.Type, maxNameBytes))
	}
	out := &tool.Result{IsError: r.IsError}
	for i, block := range r.Content {
		c, err := readBlock(known, block)
		if err != nil {
			return nil, fmt.Errorf("its content block %d %w", i, err)
		}
		out.Content = append(out.Content, c)
	}
	if len(r.Structured) > 0 && string(r.Structured) != "null" {
		out.Structured = r.Structured
		if same(out.Content, r.Structured) {
			out.Content = []tool.Content{tool.JSON(r.Structured)}
		}
	}
	if len(out.Content) == 0 {
		text := "done: the server answered without content"
		if out.IsError {
			text = "the tool failed without a message"
		}
		out.Content = []tool.Content{tool.Text(text)}
	}
	return out, nil
}

// same reports whether content only repeats the structured value, as servers often
// do, or is empty.
func same(content []tool.Content, structured json.RawMessage) bool {
	if len(content) == 0 {
		return true
	}
	if len(content) != 1 || content[0].Type != tool.ContentText {
		return false
	}
	a, errA := tool.Canonical(json.RawMessage(content[0].Text))
	b, errB := tool.Canonical(structured)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}

// block is a content block of any type.
type block struct {
	Type     string `json:"type"`
	Text     string `json:"text"`
	Data     string `json:"data"`
	MIMEType string `json:"mimeType"` //nolint:tagliatelle // The protocol's name.
	URI      string `json:"uri"`
	Name     string `json:"name"`
	Resource *struct {
		URI      string  `json:"uri"`
		MIMEType string  `json:"mimeType"` //nolint:tagliatelle // The protocol's name.
		Text     string  `json:"text"`
		Blob     *string `json:"blob"`
	} `json:"resource"`
}

// blockTypes are the types of content blocks of the protocol.
var blockTypes = []string{"text", "image", "audio", "resource_link", "resource"}

func readBlock(known *secret.Redactor, raw json.RawMessage) (tool.Content, error) {
	var kind struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(raw, &kind) != nil || kind.Type == "" {
		return tool.Content{}, errors.New("is not a content block of the protocol")
	}
	var b block // Of an unknown type, members may have any type.
	if err := json.Unmarshal(raw, &b); err != nil && slices.Contains(blockTypes, kind.Type) {
		return tool.Content{}, errors.New("is not a content block of the protocol")
	}
	switch kind.Type {
	case "text":
		return tool.Text(answerText(b.Text)), nil
	case "image":
		return media(tool.ContentImage, b.Data, b.MIMEType)
	case "audio":
		return media(tool.ContentAudio, b.Data, b.MIMEType)
	case "resource_link":
		return tool.Content{
			Type: tool.ContentResource, URI: redact(known, b.URI, maxURIBytes), Name: redact(known, b.Name, maxTitleBytes),
			MIMEType: mimeType(b.MIMEType),
		}, nil
	case "resource":
		if b.Resource == nil {
			return tool.Content{}, errors.New("is a resource block without a resource")
		}
		out := tool.Content{
			Type: tool.ContentResource, URI: redact(known, b.Resource.URI, maxURIBytes), MIMEType: mimeType(b.Resource.MIMEType),
		}
		if b.Resource.Blob == nil {
			out.Text = answerText(b.Resource.Text)
			return out, nil
		}
		data, err := decodeBase64(*b.Resource.Blob)
		out.Data = data
		return out, err
	default:
		// Opaque: kept unchanged as data for readers that know the type, and hidden
		// from models.
		return tool.Content{
			Type: tool.ContentResource, Name: "content of the unknown type " + redact(known, kind.Type, maxNameBytes),
			MIMEType: "application/json", Data: known.JSON(raw),
		}, nil
	}
}

// media returns an image or audio block if its bytes are one, whatever media type
// the server declares. Anything else is a resource.
func media(want tool.ContentType, data, said string) (tool.Content, error) {
	raw, err := decodeBase64(data)
	if err != nil {
		return tool.Content{}, err
	}
	said = mimeType(said)
	is, _, _ := strings.Cut(http.DetectContentType(raw), ";")
	class := string(want) + "/"
	switch {
	case strings.HasPrefix(is, class):
		return tool.Content{Type: want, Data: raw, MIMEType: is}, nil
	case want == tool.ContentAudio && strings.HasPrefix(said, class) &&
		(is == "application/octet-stream" || is == "application/ogg" || is == "video/mp4" || is == "video/webm"):
		return tool.Content{Type: want, Data: raw, MIMEType: said}, nil
	default:
		return tool.Content{Type: tool.ContentResource, Data: raw, MIMEType: "application/octet-stream"}, nil
	}
}

func decodeBase64(s string) ([]byte, error) {
	raw, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return nil, errors.New("has data that is not base64")
	}
	return raw, nil
}

// mimeType returns a media type without parameters, in its normal form; empty if s
// is not one.
func mimeType(s string) string {
	t, _, err := mime.ParseMediaType(s)
	if err != nil || len(t) > maxNameBytes {
		return ""
	}
	return t
}
