package retrieval_test

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
)

// inUTF16 encodes a text, with its low bytes first or last.
func inUTF16(s string, little bool) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(s)) {
		high, low := byte(unit>>8), byte(unit)
		if little {
			high, low = low, high
		}
		b.WriteByte(high)
		b.WriteByte(low)
	}
	return b.String()
}

func TestTextIsDecoded(t *testing.T) {
	t.Parallel()

	const text = "# Überschrift\n\nPlain text, and 日本 🧰."
	for name, raw := range map[string]string{
		"UTF8": text, "UTF8Marked": "\ufeff" + text,
		"LittleEndian": "\xff\xfe" + inUTF16(text, true), "BigEndian": "\xfe\xff" + inUTF16(text, false),
		"LittleEndianUnmarked": inUTF16(text, true), "BigEndianUnmarked": inUTF16(text, false),
	} {
		require.Equal(t, text, retrieval.DecodeText([]byte(raw)), name)
		for _, media := range []retrieval.MediaType{retrieval.Plain, retrieval.Markdown, retrieval.HTML} {
			require.NoError(t, media.CheckContent([]byte(raw)), name)
		}
	}
	require.Equal(t, "caf\uFFFD", retrieval.DecodeText([]byte("caf\xe9")))
	require.NoError(t, retrieval.Plain.CheckContent([]byte("un caf\xe9 noir, s'il vous pla\xeet")))
}

func TestContentIsOfItsMediaType(t *testing.T) {
	t.Parallel()

	require.NoError(t, retrieval.PDF.CheckContent([]byte("\n%PDF-1.7\n...")))
	require.NoError(t, retrieval.Markdown.CheckContent([]byte("A text about %PDF- and \x1b[1mcolours\x1b[0m")))
	noise := make([]byte, 4096)
	for i := range noise {
		noise[i] = byte(i*i*31 + i*7 + 1)
	}
	for content, want := range map[string]string{
		"%PDF-1.7\n1 0 obj": "give the media type application/pdf", "\ufeff\n%PDF-1.4": "give the media type application/pdf",
		"\x89PNG\r\n\x1a\n0000": "a PNG image", "PK\x03\x04word/document.xml": "office document", "GIF89a": "a GIF image",
		"text with \x00 in it": "binary", strings.Repeat("a", 20000) + "\x00": "binary", string(noise): "binary",
		"\xff\xfe\x00\x00h\x00\x00\x00": "binary", // UTF-32.
	} {
		for _, media := range []retrieval.MediaType{retrieval.Plain, retrieval.Markdown, retrieval.HTML} {
			err := media.CheckContent([]byte(content))
			require.Equal(t, tool.Invalid, tool.KindOf(err), "%.20q", content)
			require.ErrorContains(t, err, want)
		}
	}
	require.ErrorContains(t, retrieval.PDF.CheckContent([]byte("# Markdown")), "is not a PDF")
	d := retrieval.Document{Key: "a", MediaType: retrieval.Markdown}
	require.ErrorContains(t, d.Check([]byte("%PDF-1.7")), "is a PDF")
}
