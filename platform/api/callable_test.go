package api_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

// What is listed as callable is what a call gets, by the same rules: drafts in
// debug mode only, disabled tools never.
func TestCallableTools(t *testing.T) {
	t.Parallel()
	b := setup(t)
	definition := func(slug, more string) string {
		return `{"kind":"tool","slug":"` + slug + `","name":"` + slug +
			`","description":"Echoes.","version":"1.0.0","implementation_type":"internal"` + more + `}`
	}
	b.apply(t, definition("echoPublished", `,"publish":true`), definition("echoDraft", ""),
		definition("echoDisabled", `,"publish":true`))
	require.Equal(t, http.StatusOK, b.do(t, http.MethodPost, "/v1/tools/echoDisabled/disable", "").status)

	slugs := func(mode string) []string {
		var page v1.Page[v1.Tool]
		got := b.do(t, http.MethodGet, "/v1/tools?callable="+mode, "")
		require.Equal(t, http.StatusOK, got.status, string(got.body))
		got.into(t, &page)
		var out []string
		for _, item := range page.Items {
			out = append(out, item.Slug)
		}
		return out
	}
	require.Equal(t, []string{"echoPublished"}, slugs("production"))
	require.Equal(t, []string{"echoDraft", "echoPublished"}, slugs("debug"))
	require.Equal(t, "callable", b.do(t, http.MethodGet, "/v1/tools?callable=debug&status=draft", "").problem(t).Path)
}
