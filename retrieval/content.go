package retrieval

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

const (
	sniffedBytes = 8 << 10 // Bytes of a content from which its type is detected.
	pdfHeader    = 1024    // Bytes in which a PDF has its signature.
)

// signatures are the first bytes of files of other formats, with their names.
var signatures = []struct{ begin, name string }{
	{"%PDF-", "a PDF"},
	{"PK\x03\x04", "a ZIP archive or an office document"},
	{"\x89PNG\r\n", "a PNG image"},
	{"\xff\xd8\xff", "a JPEG image"},
	{"GIF8", "a GIF image"},
	{"\x1f\x8b", "compressed"},
	{"\xd0\xcf\x11\xe0", "an old office document"},
	{"\x7fELF", "a program"},
	{"BZh", "compressed"},
	{"\xfd7zXZ", "compressed"},
	{"7z\xbc\xaf", "an archive"},
	{"{\\rtf", "rich text"},
	{"SQLite format 3", "a database"},
}

// CheckContent fails with [tool.Invalid] if a content is not of a media type: a PDF declared as
// text, or any binary file.
func (m MediaType) CheckContent(content []byte) error {
	if m == PDF {
		if !bytes.Contains(content[:min(len(content), pdfHeader)], []byte("%PDF-")) {
			return invalid("/content", "the content is not a PDF: give its own media type, one of %s", joined(MediaTypes()))
		}
		return nil
	}
	text := bytes.TrimPrefix(content, []byte("\ufeff"))
	text = bytes.TrimLeft(text, " \t\r\n")
	for _, s := range signatures {
		switch {
		case !bytes.HasPrefix(text, []byte(s.begin)):
		case s.begin == "%PDF-":
			return invalid("/media_type", "the content is a PDF, not %s: give the media type application/pdf", m)
		default:
			return invalid("/content", "the content is %s, not %s: export it as text, Markdown, HTML or PDF", s.name, m)
		}
	}
	if binaryText(DecodeText(content)) {
		return invalid("/content", "the content is binary, not %s, or its text is neither UTF-8 nor UTF-16", m)
	}
	return nil
}

// binaryText reports whether decoded text is binary: it has NUL characters, or many invalid or
// control characters.
func binaryText(s string) bool {
	strange, all := 0, 0
	for i, r := range s {
		if i >= sniffedBytes {
			break
		}
		all++
		switch {
		case r == 0:
			return true
		case r == utf8.RuneError, r < ' ' && !strings.ContainsRune("\t\n\v\f\r\x1b", r), r == 0x7f:
			strange++
		}
	}
	return strings.ContainsRune(s, 0) || strange*10 > 3*all
}

// DecodeText returns a text in UTF-8, without a byte order mark. UTF-16 is
// detected by its byte order mark or, where it has none, by the zero bytes of
// its Latin letters. Invalid characters become U+FFFD.
func DecodeText(raw []byte) string {
	if order := orderUTF16(raw); order != nil {
		units := make([]uint16, len(raw)/2)
		for i := range units {
			units[i] = order.Uint16(raw[2*i:])
		}
		return strings.TrimPrefix(string(utf16.Decode(units)), "\ufeff")
	}
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	return strings.ToValidUTF8(string(raw), string(utf8.RuneError))
}

// IsUTF16 reports whether [DecodeText] reads a text as UTF-16.
func IsUTF16(raw []byte) bool { return orderUTF16(raw) != nil }

// orderUTF16 returns the byte order of a text in UTF-16; nil for any other.
func orderUTF16(raw []byte) binary.ByteOrder {
	switch {
	case bytes.HasPrefix(raw, []byte("\xff\xfe")):
		return binary.LittleEndian
	case bytes.HasPrefix(raw, []byte("\xfe\xff")):
		return binary.BigEndian
	}
	if len(raw) < 4 || len(raw)%2 != 0 {
		return nil
	}
	var zeros [2]int
	sniffed := raw[:min(len(raw), sniffedBytes)]
	for i, b := range sniffed {
		if b == 0 {
			zeros[i%2]++
		}
	}
	units := len(sniffed) / 2
	switch {
	case zeros[1]*10 >= units*7 && zeros[0] == 0:
		return binary.LittleEndian
	case zeros[0]*10 >= units*7 && zeros[1] == 0:
		return binary.BigEndian
	}
	return nil
}
