package tool

import (
	"bytes"
	"cmp"
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
	// MinInlineResult is the least that a tool may lower it to.
	MinInlineResult = 1 << 10
	// PreviewHead and PreviewTail are what a model is shown of a larger one: its beginning and
	// its end. Where a tool's own limit is less than both, they are three quarters and one of it.
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
// it. Of content with more than limit bytes of text and JSON, [MaxInlineResult] for zero, the model
// is shown the beginning and the end, how much is left out, and how to read the rest; images and
// other binary data follow unchanged.
func Preview(content []Content, invocationID string, limit int) (shown []Content, cut bool) {
	if limit = cmp.Or(limit, MaxInlineResult); !Exceeds(content, limit) {
		return content, false
	}
	text := ReadableText(content)
	from, to := Ends(text, limit)
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

// Exceeds reports whether content has more than limit bytes of text and JSON.
func Exceeds(content []Content, limit int) bool {
	size := 0
	for _, c := range content {
		size += len(c.Text) + len(c.JSON)
	}
	return size > limit
}

// Ends returns what is left out of a text of which a model is shown the ends, with a limit of
// the bytes that it is shown whole.
func Ends(text string, limit int) (from, to int) {
	_, from = CutText(text, 0, min(PreviewHead, limit*3/4))
	tail := min(PreviewTail, limit/4)
	to, _ = CutText(text, len(text)-tail, tail)
	return from, max(from, to)
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
