package tool_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/tool"
)

// A result of the limit's size is shown whole; one byte more, and its ends are shown.
func TestPreview(t *testing.T) {
	t.Parallel()

	whole := []tool.Content{tool.Text(strings.Repeat("x", tool.MaxInlineResult))}
	shown, cut := tool.Preview(whole, "call", 0)
	require.False(t, cut)
	require.Equal(t, whole, shown)

	text := "start" + strings.Repeat("é", tool.MaxInlineResult) + "end"
	image := tool.Content{Type: tool.ContentImage, Data: []byte("png"), MIMEType: "image/png"}
	shown, cut = tool.Preview([]tool.Content{tool.Text(text), image}, "call", 0)
	require.True(t, cut)
	require.Len(t, shown, 6)
	require.Contains(t, shown[0].Text, `read_result with {"invocation_id": "call", "offset": 6143}`)
	require.True(t, strings.HasPrefix(shown[1].Text, "start"))
	require.True(t, strings.HasSuffix(shown[3].Text, "end"))
	for _, part := range []string{shown[1].Text, shown[3].Text} {
		require.True(t, utf8.ValidString(part), "cut between characters")
	}
	require.Equal(t, "toolcrib://invocations/call", shown[4].URI)
	require.Equal(t, image, shown[5])
}

// What is left out of a preview is counted in the text that the built-in reads.
func TestPreviewOfJSON(t *testing.T) {
	t.Parallel()

	raw, err := json.Marshal(strings.Split(strings.Repeat("word ", 20_000), " "))
	require.NoError(t, err)
	content := []tool.Content{tool.JSON(raw)}
	shown, cut := tool.Preview(content, "call", 0)
	require.True(t, cut)
	text := tool.ReadableText(content)
	require.Equal(t, shown[1].Text, text[:len(shown[1].Text)])
	require.True(t, strings.HasSuffix(text, shown[3].Text))
	require.JSONEq(t, string(raw), text)
}

// A tool's own limit decides what is shown whole, and how much of the rest.
func TestPreviewByTheToolsOwnLimit(t *testing.T) {
	t.Parallel()

	const limit = tool.MinInlineResult
	whole := []tool.Content{tool.Text(strings.Repeat("x", limit))}
	_, cut := tool.Preview(whole, "call", limit)
	require.False(t, cut)
	shown, cut := tool.Preview([]tool.Content{tool.Text(strings.Repeat("x", limit) + "y")}, "call", limit)
	require.True(t, cut)
	require.Equal(t, strings.Repeat("x", limit*3/4), shown[1].Text)
	require.Equal(t, strings.Repeat("x", limit/4-1)+"y", shown[3].Text)
	require.Contains(t, shown[0].Text, "has 1025 bytes")

	blank := `{"a":` + strings.Repeat(" ", limit) + `1}` // Shorter as it is read.
	shown, cut = tool.Preview([]tool.Content{tool.JSON(json.RawMessage(blank))}, "call", limit)
	require.True(t, cut)
	require.JSONEq(t, `{"a":1}`, shown[1].Text+shown[3].Text)
}

func TestCutText(t *testing.T) {
	t.Parallel()

	cut := func(text string, offset, limit int) string {
		from, to := tool.CutText(text, offset, limit)
		return text[from:to]
	}
	require.Equal(t, "b", cut("abc", 1, 1))
	require.Equal(t, "c", cut("abc", 2, 100))
	require.Empty(t, cut("abc", 3, 1))
	require.Empty(t, cut("abc", 1<<62, 1<<62))
	require.Equal(t, "é", cut("é", 0, 1), "one character is always read")
	require.Equal(t, "é", cut("aéb", 2, 2), "from the character that the offset is in")
}
