package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Limits of what a model is shown of a result, in bytes.
const (
	// MaxInlineResult is the largest result that a model is shown whole. Images and other
	// binary data do not count.
	MaxInlineResult = 64 << 10
	// PreviewHead and PreviewTail are what a model is shown of a larger one: its beginning and
	// its end.
	PreviewHead = 6 << 10
	PreviewTail = 2 << 10
)

// ReadResult is the key of the built-in that reads a part of a result.
const ReadResult = "read_result"

// ResultURI returns the reference to the whole result of an invocation.
func ResultURI(invocationID string) string { return "toolcrib://invocations/" + invocationID }

// ReadableText returns the text of content as previews cut it and [ReadResult] reads it: text as
// it is, JSON indented by two spaces, blocks one after the other on lines of their own. Binary
// data is left out.
func ReadableText(content []Content) string {
	var b strings.Builder
	for _, c := range content {
		text := c.Text
		if len(c.JSON) > 0 {
			text = ReadableJSON(c.JSON)
		}
		if text == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(text)
	}
	return b.String()
}

// ReadableJSON returns a JSON value indented by two spaces.
func ReadableJSON(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, raw, "", "  ") != nil {
		return string(raw)
	}
	return b.String()
}

// Preview returns what a model is shown in place of content, and whether that is less than all of
// it. Of content with more than [MaxInlineResult] bytes of text and JSON, the model is shown the
// beginning and the end, how much is left out, and how to read the rest; images and other binary
// data follow unchanged.
func Preview(content []Content, invocationID string) (shown []Content, cut bool) {
	size := 0
	for _, c := range content {
		size += len(c.Text) + len(c.JSON)
	}
	if size <= MaxInlineResult {
		return content, false
	}
	text := ReadableText(content)
	_, from := CutText(text, 0, PreviewHead)
	to, _ := CutText(text, len(text)-PreviewTail, PreviewTail)
	shown = []Content{
		Text(fmt.Sprintf(
			"The result has %d bytes in %d lines, too many to be shown. Its beginning and end follow; the %d bytes from "+
				"offset %d to %d are left out. To read them, call %s with {\"invocation_id\": %q, \"offset\": %d}; it can also "+
				"search, and select a value by its JSON Pointer. Without that tool, ask for less.",
			len(text), Lines(text), to-from, from, to, ReadResult, invocationID, from)),
		Text(text[:from]), Text(fmt.Sprintf("[… %d bytes are left out …]", to-from)), Text(text[to:]),
		{Type: ContentResource, URI: ResultURI(invocationID), MIMEType: "application/json"},
	}
	binary := slices.DeleteFunc(slices.Clone(content), func(c Content) bool { return len(c.Data) == 0 || c.Text != "" })
	return append(shown, binary...), true
}

// Lines returns how many lines a text has.
func Lines(text string) int {
	if text == "" {
		return 0
	}
	n := strings.Count(text, "\n")
	if !strings.HasSuffix(text, "\n") {
		n++
	}
	return n
}

// CutText returns the bounds of at most limit bytes of a text from an offset on, which are
// between characters. They enclose the whole character at the offset even where it has more
// bytes than the limit.
func CutText(text string, offset, limit int) (from, to int) {
	from = runeStart(text, offset)
	to = runeStart(text, from+min(max(limit, 0), len(text)-from))
	if to == from && from < len(text) {
		_, n := utf8.DecodeRuneInString(text[from:])
		to += n
	}
	return from, to
}

// runeStart returns the offset of the character that the byte at an offset belongs to.
func runeStart(text string, offset int) int {
	offset = min(max(offset, 0), len(text))
	for offset > 0 && offset < len(text) && !utf8.RuneStart(text[offset]) {
		offset--
	}
	return offset
}
