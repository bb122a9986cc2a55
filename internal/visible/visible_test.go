package visible_test

import (
	"encoding/json"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/visible"
)

// The ranges of Default_Ignorable_Code_Point in DerivedCoreProperties.txt of
// Unicode 15, and the bidirectional controls, written out.
var ignorable = [][2]rune{
	{0xad, 0xad},
	{0x34f, 0x34f},
	{0x61c, 0x61c},
	{0x115f, 0x1160},
	{0x17b4, 0x17b5},
	{0x180b, 0x180f},
	{0x200b, 0x200f},
	{0x202a, 0x202e},
	{0x2060, 0x206f},
	{0x3164, 0x3164},
	{0xfe00, 0xfe0f},
	{0xfeff, 0xfeff},
	{0xffa0, 0xffa0},
	{0xfff0, 0xfff8},
	{0x1bca0, 0x1bca3},
	{0x1d173, 0x1d17a},
	{0xe0000, 0xe0fff},
}

func TestDefaultIgnorablesAreHidden(t *testing.T) {
	t.Parallel()

	for _, span := range ignorable {
		for r := span[0]; r <= span[1]; r++ {
			require.True(t, visible.Hidden(r), "%U", r)
			require.Equal(t, "ab", visible.Text("a"+string(r)+"b"), "%U", r)
		}
	}
	for _, r := range []rune{0xfff9, 0xfffb, 0xe000, 0x10fffd} {
		require.True(t, visible.Hidden(r), "%U", r)
	}
}

func TestLettersStay(t *testing.T) {
	t.Parallel()

	for _, text := range []string{
		"Zürich, naïve — “quoted” €5", "日本語のテキスト", "العربية", "עברית", "हिन्दी", "ไทย", "🙂 and 👍🏽", "a\tb\nc", "e\u0301",
	} {
		require.Equal(t, text, visible.Text(text))
	}
	for r := rune(0x20); r < 0xad; r++ {
		if !unicode.Is(unicode.Cc, r) {
			require.False(t, visible.Hidden(r), "%U", r)
		}
	}
	require.Equal(t, "a\nb", visible.Text("a\u2028b"))
	require.Equal(t, "ab", visible.Text("a\x00\x1b\xffb"))
}

func TestSchemaLosesHiddenCharactersInProse(t *testing.T) {
	t.Parallel()

	raw := json.RawMessage(`{"type":"object","description":"Send\u200b mail.","properties":{
		"description":{"type":"string","title":"Tex\udb40\udc41t","maxLength":12345678901234567890},"plain":{"$comment":"ok"}}}`)
	cleaned, removed, err := visible.Schema(raw)
	require.NoError(t, err)
	require.Equal(t, []string{"/description", "/properties/description/title"}, removed)
	require.JSONEq(t, `{"type":"object","description":"Send mail.","properties":{
		"description":{"type":"string","title":"Text","maxLength":12345678901234567890},"plain":{"$comment":"ok"}}}`,
		string(cleaned))
	require.Contains(t, string(cleaned), "12345678901234567890", "numbers keep their digits")

	same := json.RawMessage(`{ "description" : "as it is" }`)
	cleaned, removed, err = visible.Schema(same)
	require.NoError(t, err)
	require.Empty(t, removed)
	require.Equal(t, string(same), string(cleaned))
}

func TestSchemaWithHiddenCharactersInValuesIsRefused(t *testing.T) {
	t.Parallel()

	for where, raw := range map[string]string{
		"/properties/to":              `{"properties":{"to\u2060":{"type":"string"}}}`,
		"/properties/a/enum/1":        `{"properties":{"a":{"enum":["x","y\u202e"]}}}`,
		"/properties/a/const":         `{"properties":{"a":{"const":"\ufeffx"}}}`,
		"/properties/a/default/title": `{"properties":{"a":{"default":{"title":"x\u200b"}}}}`,
		"/required/0":                 `{"required":["a\u00ad"]}`,
		"/pattern":                    `{"pattern":"^a\u180e$"}`,
		"/$ref":                       `{"$ref":"#/$defs/a\ufe0f"}`,
	} {
		_, _, err := visible.Schema(json.RawMessage(raw))
		var hidden *visible.HiddenError
		require.ErrorAs(t, err, &hidden, raw)
		require.Equal(t, where, hidden.Pointer)
		require.Contains(t, err.Error(), "U+")
	}
	_, _, err := visible.Schema(json.RawMessage(`{"a":`))
	require.Error(t, err)
}
