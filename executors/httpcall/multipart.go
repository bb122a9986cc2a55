package httpcall

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"mime/multipart"
	"net/textproto"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/schema/jsonpointer"
)

// multipartBody is a body of type multipart.
type multipartBody struct {
	names []string // Sorted, so that equal calls make equal requests.
	parts map[string]Part
}

func compileMultipart(raw json.RawMessage) (payloader, int, error) {
	object, err := readObject(raw)
	if err != nil || len(object) == 0 {
		return nil, 0, fault("/body", "want an object of parts by name")
	}
	b, references := multipartBody{names: slices.Sorted(maps.Keys(object)), parts: make(map[string]Part, len(object))}, 0
	for _, name := range b.names {
		path := "/body/" + jsonpointer.Escape(name)
		var p Part
		if isNull(object[name]) {
			return nil, 0, within(path, errNoValue)
		}
		if err := readValue(path, object[name], &p); err != nil {
			return nil, 0, err
		}
		if err := p.check(path); err != nil {
			return nil, 0, err
		}
		if name == "" || !validHeaderValue(name) {
			return nil, 0, fault(path, "want a name without line breaks and control characters")
		}
		if p.From == nil && p.Literal != "" && secret.SensitiveKey(name) {
			return nil, 0, fault(path, noLiteralSecret)
		}
		references += p.references()
		b.parts[name] = p
	}
	return b, references, nil
}

func (p *Part) references() int {
	n := 0
	if p.From != nil {
		n++
	}
	if p.FileName != nil && p.FileName.From != nil {
		n++
	}
	return n
}

func (b multipartBody) payload(ctx context.Context, args *arguments) (*payload, error) {
	var sections []section
	left := bodyRoom()
	for _, name := range b.names {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		more, err := b.fill(name, left, args)
		if err != nil {
			return nil, err
		}
		sections = append(sections, more...)
	}
	return join(sections)
}

// fill returns the sections of a part: none for an absent argument, one for
// each item of an array.
func (b multipartBody) fill(name string, left *room, args *arguments) ([]section, error) {
	p := b.parts[name]
	if p.From == nil {
		return []section{{p.header(name, ""), []byte(p.Literal)}}, nil
	}
	raw, ok := args.find(*p.From)
	if !ok {
		return nil, nil
	}
	file, err := p.fileName(args)
	if err != nil {
		return nil, err
	}
	items := []json.RawMessage{raw}
	if kind(raw) == '[' {
		if err := json.Unmarshal(raw, &items); err != nil {
			return nil, argument(p.From.String(), "malformed JSON")
		}
	}
	sections := make([]section, 0, len(items))
	for _, item := range items {
		text, err := p.bytes(left, item)
		if err != nil {
			return nil, err
		}
		header := p.header(name, file)
		if k := kind(item); header.Get("Content-Type") == "" && (k == '{' || k == '[') {
			header.Set("Content-Type", "application/json")
		}
		if err := left.take(p.From.String(), len(name)+len(file)+sectionOverhead); err != nil {
			return nil, err
		}
		sections = append(sections, section{header, text})
	}
	return sections, nil
}

// sectionOverhead estimates a section's size without its names and text.
const sectionOverhead = 160

// bytes returns the bytes sent for an argument's value.
func (p *Part) bytes(left *room, raw json.RawMessage) ([]byte, error) {
	path := p.From.String()
	if err := left.fits(path, raw); err != nil {
		return nil, err
	}
	text, ok := scalar(raw)
	switch {
	case p.Encoding == encodingBase64 && (!ok || kind(raw) != '"'):
		return nil, argument(path, "want a string of base64")
	case p.Encoding == encodingBase64:
		decoded, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, argument(path, "malformed base64")
		}
		return decoded, left.take(path, len(decoded))
	case !ok:
		return raw, left.take(path, len(raw))
	default:
		return []byte(text), left.take(path, len(text))
	}
}

func (p *Part) fileName(args *arguments) (string, error) {
	switch {
	case p.FileName == nil:
		return "", nil
	case p.FileName.From == nil:
		return p.FileName.Literal, nil
	}
	path := p.FileName.From.String()
	raw, ok := args.find(*p.FileName.From)
	if !ok {
		return "file", nil
	}
	name, ok := scalar(raw)
	if !ok || len(name) > maxFileName || !validFileName(name) {
		return "", argument(
			path,
			fmt.Sprintf("can't be a file's name: want at most %d bytes without slashes and control characters", maxFileName),
		)
	}
	return name, nil
}

const maxFileName = 255

// quotedName escapes a name as [multipart.FileContentDisposition] does.
var quotedName = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

func (p *Part) header(name, file string) textproto.MIMEHeader {
	h := make(textproto.MIMEHeader)
	if file == "" {
		h.Set("Content-Disposition", `form-data; name="`+quotedName.Replace(name)+`"`)
	} else {
		h.Set("Content-Disposition", multipart.FileContentDisposition(name, file))
		h.Set("Content-Type", "application/octet-stream")
	}
	if p.ContentType != "" {
		h.Set("Content-Type", p.ContentType)
	}
	return h
}
