package openapi_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/openapi"
)

// Descriptions lose markup that carries no information, and keep their text.
func TestDescriptionsAreTrimmed(t *testing.T) {
	t.Parallel()
	for markdown, want := range map[string]string{
		"Get a **bold** thing, see [the docs](https://x.example/a_(b)).": "Get a bold thing, see the docs.",
		"## Title\n\nText `code *stays*` and _this_ snake_case_name.": "Title\n\nText code *stays* and this " +
			"snake_case_name.",
		"> [!NOTE]\n> Mind the gap.\n\n\n\n* one\n+ two": "NOTE:\nMind the gap.\n\n- one\n- two",
		"A <b>b</b>.<br/>Next &amp; last, 1 < 2 and 3 > 2. <owner> stays.": "A b.\nNext & last, 1 < 2 and 3 > 2. " +
			"<owner> stays.",
		"![logo](https://x.example/l.png)Shown. <!-- hidden\ntext --> End.":    "Shown.  End.",
		"| name | type |\n|------|:----:|\n| id | number |\n| tag | string |":  "name, type\n\nid, number\ntag, string",
		"```json\n{\"a\": 1}\n```\nAfter <https://x.example/docs>.":            "{\"a\": 1}\n\nAfter https://x.example/docs.",
		"See [one][1] and \\*this\\*.\n\n[1]: https://x.example/one \"Title\"": "See one and *this*.",
		"2 * 3 * 4 and a_b_c and **unclosed":                                   "2 * 3 * 4 and a_b_c and **unclosed",
		"Setext\n======\n\nBody\n\n---\n\nEnd":                                 "Setext\n\nBody\n\nEnd",
	} {
		raw, err := json.Marshal(m{
			"description": markdown, "responses": m{},
			"parameters": l{m{"name": "q", "in": "query", "description": markdown, "schema": typed("string")}},
		})
		require.NoError(t, err)
		o := mapped(t, smallDocument(string(raw), `{}`), openapi.Options{}).Operations[0]
		require.NotNil(t, o.Spec, o.Reason)
		require.Equal(t, strings.ReplaceAll(want, "  ", " "), o.Spec.Description, markdown)
		var input struct {
			Properties map[string]struct{ Description string }
		}
		require.NoError(t, json.Unmarshal(o.Spec.InputSchema, &input))
		require.Equal(t, o.Spec.Description, input.Properties["q"].Description)
	}
	long, err := json.Marshal(m{"description": strings.Repeat("[x](y) ", 1<<20), "responses": m{}})
	require.NoError(t, err)
	require.LessOrEqual(
		t, len([]rune(mapped(t, smallDocument(string(long), `{}`), openapi.Options{}).Operations[0].Spec.Description)),
		openapi.MaxDescription,
	)
}
