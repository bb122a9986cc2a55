package httpcall_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// words in several scripts, with characters of one to four bytes.
var words = map[string]string{
	"Latin": "Zürich", "Polish": "Łódź", "Greek": "Αθήνα", "Cyrillic": "Москва", "Arabic": "القاهرة", "Hebrew": "ירושלים",
	"Devanagari": "दिल्ली", "Han": "日本", "Hangul": "서울", "Emoji": "a🧰b", "Replacement": "a\ufffdb", "Combining": "e\u0301",
}

// What a template makes of a value is its UTF-8, percent-encoded (RFC 6570,
// section 3.2.1), wherever it stands; a prefix counts characters.
func TestScripts(t *testing.T) {
	t.Parallel()

	for name, word := range words {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setup(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{}`)) })
			first := string([]rune(word)[:2])
			for template, want := range map[string]string{
				"/p/{q}":     "/p/" + url.PathEscape(word),
				"/p{/q}":     "/p/" + url.PathEscape(word),
				"/p/{+q}":    "/p/" + url.PathEscape(word),
				"/p?x=1{&q}": "/p?x=1&q=" + url.QueryEscape(word),
				"/p{?q,list*,map*}": "/p?q=" + url.QueryEscape(word) + "&list=a&list=" + url.QueryEscape(word) + "&" +
					url.QueryEscape(word) + "=" + url.QueryEscape(word),
				"/p/{list}":          "/p/a," + url.PathEscape(word),
				"/p/{q:2}":           "/p/" + url.PathEscape(first),
				"/p/{q:2}{?q,ascii}": "/p/" + url.PathEscape(first) + "?q=" + url.QueryEscape(word) + "&ascii=abc",
				"/p/{q:500}":         "/p/" + url.PathEscape(word),
				"/p/{ascii:2}":       "/p/ab",
			} {
				given := map[string]any{
					"q": word, "ascii": "abc", "list": []string{"a", word}, "map": map[string]string{word: word},
				}
				for variable := range given { // What the template does not take goes into the query.
					if !strings.Contains(template, variable) {
						delete(given, variable)
					}
				}
				arguments, err := json.Marshal(given)
				require.NoError(t, err)
				_, err = b.executor.Execute(t.Context(), b.call(`{"url":"$URL`+template+`"}`, string(arguments)))
				require.NoError(t, err, template)
				seen := b.requests()
				require.Equal(t, want, seen[len(seen)-1].Target, template)
			}
		})
	}
}

// The name of a pair adds no parameter, and ends no other.
func TestNamesOfPairsAreEncoded(t *testing.T) {
	t.Parallel()

	b := setup(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{}`)) })
	for template, want := range map[string]string{
		"/p{?map*}":     "/p?a%26admin%3D1%23=x",
		"/p?x=1{&map*}": "/p?x=1&a%26admin%3D1%23=x",
		"/p{;map*}":     "/p;a%26admin%3D1%23=x",
		"/p{?map}":      "/p?map=a%26admin%3D1%23,x",
	} {
		_, err := b.executor.Execute(t.Context(), b.call(`{"url":"$URL`+template+`"}`, `{"map":{"a&admin=1#":"x"}}`))
		require.NoError(t, err, template)
		seen := b.requests()
		require.Equal(t, want, seen[len(seen)-1].Target, template)
	}
}

// What comes of a prefix is never another value: one that cannot be cut to its
// size is refused.
func TestLongPrefix(t *testing.T) {
	t.Parallel()

	b := setup(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{}`)) })
	_, err := b.executor.Execute(
		t.Context(), b.call(`{"url":"$URL/{q:9000}"}`, fmt.Sprintf(`{"q":%q}`, strings.Repeat("日", 5000))),
	)
	require.Error(t, err)
	require.Empty(t, b.requests())
}

// Fields of a form are the UTF-8 of their names and values, percent-encoded, in
// every script and in every style; so are parameters of the query.
func TestScriptsInForms(t *testing.T) {
	t.Parallel()

	for name, word := range words {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setup(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{}`)) })
			sent := func() string { // By the last request: its body, or its query.
				seen := b.requests()
				last := seen[len(seen)-1]
				_, query, _ := strings.Cut(last.Target, "?")
				return last.Body + query
			}
			given := map[string]any{"q": word, "list": []string{"a", word}, "map": map[string]string{word: word}}
			arguments, err := json.Marshal(given)
			require.NoError(t, err)
			field := strings.ReplaceAll(url.QueryEscape(word), "+", "%20")
			for style, want := range map[string]string{
				`{"from":"/q"}`:                    "f%C3%AB=" + field,
				`{"from":"/list"}`:                 "f%C3%AB=a&f%C3%AB=" + field,
				`{"from":"/list","style":"comma"}`: "f%C3%AB=a," + field,
				`{"from":"/list","style":"pipe"}`:  "f%C3%AB=a%7C" + field,
				`{"from":"/map","style":"deep"}`:   "f%C3%AB[" + field + "]=" + field,
				`{"from":"/map","style":"pairs"}`:  field + "=" + field,
				`{"from":"/list","style":"json"}`:  "f%C3%AB=" + url.QueryEscape(`["a","`+word+`"]`),
			} {
				for _, config := range []string{
					`{"method":"POST","url":"$URL/p","body_type":"form","body":{"f\u00eb":` + style + `}}`,
					`{"method":"GET","url":"$URL/p","query":{"f\u00eb":` + style + `}}`,
				} {
					_, err = b.executor.Execute(t.Context(), b.call(config, string(arguments)))
					require.NoError(t, err, config)
					text := sent()
					require.False(t, strings.ContainsFunc(text, func(r rune) bool { return r > '~' || r <= ' ' }), text)
					require.Equal(t, decoded(t, want), decoded(t, text), config)
				}
			}
			_, err = b.executor.Execute(
				t.Context(),
				b.call(`{"method":"POST","url":"$URL/p","body_type":"form","body":{"from":"/map"}}`, string(arguments)),
			)
			require.NoError(t, err)
			require.Equal(t, url.Values{word: {word}}, decoded(t, sent()))
		})
	}
}

// decoded reads fields as a server does.
func decoded(t *testing.T, text string) url.Values {
	t.Helper()
	values, err := url.ParseQuery(text)
	require.NoError(t, err, text)
	return values
}
