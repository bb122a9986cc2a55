package views

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"regexp"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/internal/visible"
	"github.com/toolcrib/toolcrib/platform/publicresult"
	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of a page.
const (
	maxText   = 256 << 10 // Bytes of text and JSON.
	maxImages = 4 << 20   // Bytes of images.
	maxRows   = 100       // Of a table.
)

// shownImages are the types of images that pages show. None of them can hold a script.
var shownImages = []string{"image/png", "image/jpeg", "image/gif", "image/webp"}

// block is a part of what a page shows.
type block struct {
	Heading string
	Text    string
	Code    string // Preformatted.
	Rows    []row
	Image   template.URL // Of its data; empty for none.
	Alt     string       // Of the image.
	Note    string       // Instead of what the page does not show.
}

// row is a line of a table.
type row struct{ Name, Value, Note string }

// clean returns a text as pages show it: without hidden characters and what looks like a secret, whatever the tenant
// has chosen for its own people. Hidden characters go first: with them, a secret does not look like one.
func clean(text string) string { return redact.Text(visible.Text(text)) }

// literal is a string in JSON.
var literal = regexp.MustCompile(`(?s)"(?:[^"\\]|\\.)*"`)

// cleanJSON is clean for JSON, the names of members among it.
func cleanJSON(raw json.RawMessage) json.RawMessage {
	return redact.JSON(literal.ReplaceAllFunc(raw, func(quoted []byte) []byte {
		var text string
		if json.Unmarshal(quoted, &text) != nil {
			return quoted
		}
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if e.Encode(clean(text)) != nil {
			return quoted
		}
		return bytes.TrimSpace(b.Bytes())
	}))
}

// blocksOf returns what is shown of a result: its content, or its structured value where it has no other.
func blocksOf(r *tool.Result) []block {
	out, text, images := []block{}, maxText, maxImages
	content := r.Content
	if len(content) == 0 && len(r.Structured) > 0 {
		content = []tool.Content{tool.JSON(r.Structured)}
	}
	for _, c := range content {
		size := len(c.Text) + len(c.JSON)
		if size > text {
			out = append(out, block{Note: "The result is longer than this page shows."})
			break
		}
		text -= size
		switch {
		case c.Type == tool.ContentImage && slices.Contains(shownImages, c.MIMEType) && len(c.Data) <= images:
			images -= len(c.Data)
			data := "data:" + c.MIMEType + ";base64," + base64.StdEncoding.EncodeToString(c.Data)
			out = append(out, block{Image: template.URL(data), Alt: clean(c.Name)}) //nolint:gosec // Of a listed type.
		case len(c.JSON) > 0:
			out = append(out, ofJSON(c.JSON))
		case c.Text != "":
			out = append(out, block{Text: clean(c.Text)})
		default:
			name := clean(c.Name)
			if name == "" {
				name = "A part"
			}
			out = append(out, block{Note: fmt.Sprintf("%s of the type %s is not shown here.", name, clean(c.MIMEType))})
		}
	}
	return out
}

// drawn returns the parts of a result that the sections of its tool draw, and the others: members without a section,
// and content that does not repeat the structured value. It returns nothing where no section fits.
func drawn(sections json.RawMessage, r *tool.Result) ([]publicresult.Section, []block) {
	if len(r.Structured) > publicresult.MaxResult {
		return nil, nil
	}
	parts, rest := publicresult.Read(sections, cleanJSON(r.Structured))
	if len(parts) == 0 {
		return nil, nil
	}
	others := &tool.Result{}
	for _, c := range r.Content {
		if !sameJSON(c.JSON, r.Structured) && !sameJSON([]byte(c.Text), r.Structured) {
			others.Content = append(others.Content, c)
		}
	}
	blocks := blocksOf(others)
	if rest != nil {
		left := ofJSON(rest)
		left.Heading = "The rest of the result"
		blocks = append([]block{left}, blocks...)
	}
	return parts, blocks
}

// ofJSON shows an object as a table of its members, in their order, and any other value as it is written.
func ofJSON(raw json.RawMessage) block {
	raw = cleanJSON(raw)
	rows, ok := rowsOf(raw)
	if ok {
		return block{Rows: rows}
	}
	return block{Code: clean(tool.ReadableJSON(raw))}
}

func rowsOf(raw json.RawMessage) ([]row, bool) {
	d := json.NewDecoder(bytes.NewReader(raw))
	if opened, err := d.Token(); err != nil || opened != json.Delim('{') {
		return nil, false
	}
	var out []row
	for d.More() {
		key, err := d.Token()
		name, named := key.(string)
		var value json.RawMessage
		if err != nil || !named || d.Decode(&value) != nil || len(out) == maxRows {
			return nil, false
		}
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = tool.ReadableJSON(value)
		}
		out = append(out, row{Name: clean(name), Value: clean(text)})
	}
	return out, len(out) > 0
}

// fieldsOf returns what a tool takes, in the order of its form.
func fieldsOf(schema json.RawMessage) []row {
	form, err := field.Read(schema)
	if err != nil {
		return nil // It was checked when it was published.
	}
	var out []row
	for i := range form.Fields {
		f := &form.Fields[i]
		if f.Hidden || len(out) == maxRows {
			continue
		}
		kind := string(f.Type)
		if f.Required {
			kind += ", required"
		}
		note := f.Description
		if labels := labelsOf(f); labels != "" {
			note = strings.TrimSpace(note + " One of: " + labels + ".")
		}
		out = append(out, row{Name: clean(f.Key), Value: kind, Note: clean(note)})
	}
	return out
}

func labelsOf(f *field.Field) string {
	var labels []string
	for _, o := range f.Options {
		label := o.Label
		if label == "" {
			label = strings.Trim(string(o.Value), `"`)
		}
		labels = append(labels, label)
	}
	return strings.Join(labels, ", ")
}
