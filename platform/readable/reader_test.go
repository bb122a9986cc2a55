package readable_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/platform/readable"
	"github.com/toolcrib/toolcrib/tool"
)

func readPage(t *testing.T, page string, edit ...func(*builtins.Page)) builtins.Article {
	t.Helper()

	at, err := url.Parse("https://pages.example/blog/post?x=1")
	require.NoError(t, err)
	p := builtins.Page{Body: []byte(page), ContentType: "text/html; charset=utf-8", URL: at, Format: builtins.Markdown}
	for _, e := range edit {
		e(&p)
	}
	a, err := readable.New().Read(t.Context(), p)
	require.NoError(t, err)
	return a
}

func whole(p *builtins.Page) { p.Whole = true }

func in(f builtins.Format) func(*builtins.Page) { return func(p *builtins.Page) { p.Format = f } }

const sentence = "A sentence of the article, which is long enough, has commas, and so counts as something to read. "

var post = `<!doctype html><html lang="de"><head><title>How to read | The Blog</title>
<meta property="og:title" content="How to read"><meta name="author" content="Ada Reader">
<meta property="og:site_name" content="The Blog"><meta property="article:published_time" content="2026-04-30T10:00:00Z"></head>
<body><nav class="menu"><a href="/">Home</a><a href="/about">About us</a></nav>
<article><h1>How to read</h1><p>` + strings.Repeat(sentence, 3) + `See <a href="../docs#top">the docs</a>.</p>
<h2>Steps</h2><ul><li>Open<li>Look<ul><li>closely</ul></ul><p>` + strings.Repeat(sentence, 3) + `</p>
<pre><code class="language-go">fmt.Println("[x]")
</code></pre><table><tr><th>a<th>b<tr><td>1<td>2 | 3</table><p><img src="/i.png" alt="A picture"> ` +
	strings.Repeat(sentence, 2) + `</p></article>
<footer class="footer">Imprint and cookies</footer></body></html>`

func TestArticle(t *testing.T) {
	t.Parallel()

	a := readPage(t, post)
	require.Equal(t, "How to read", a.Title)
	require.Equal(t, "Ada Reader", a.Byline)
	require.Equal(t, "The Blog", a.Site)
	require.Equal(t, "2026-04-30", a.Published.Format("2006-01-02"))
	require.False(t, a.Truncated)
	for _, want := range []string{
		"[the docs](https://pages.example/docs#top)", "## Steps", "- Open", "  - closely", "fmt.Println(\"[x]\")",
		"![A picture](https://pages.example/i.png)", "| a | b |", `2 \| 3`,
	} {
		require.Contains(t, a.Content, want)
	}
	require.NotContains(t, a.Content, "About us", "what is around the article is left out")
	require.NotContains(t, a.Content, "Imprint")

	require.Contains(t, readPage(t, post, whole).Content, "[About us](https://pages.example/about)")
	text := readPage(t, post, in(builtins.PlainText)).Content
	require.Contains(t, text, "See the docs.")
	require.NotContains(t, text, "](")
	markup := readPage(t, post, in(builtins.HTML)).Content
	require.Contains(t, markup, `<a href="https://pages.example/docs#top">the docs</a>`)
}

// A page that is no article is shown as it is.
func TestPageWithoutArticle(t *testing.T) {
	t.Parallel()

	a := readPage(t, `<title>Menu</title><ul><li><a href="/soup">Soup</a><li><a href="/bread">Bread</a></ul>`)
	require.Equal(t, "Menu", a.Title)
	require.Equal(t, "- [Soup](https://pages.example/soup)\n- [Bread](https://pages.example/bread)", a.Content)
	require.Empty(t, readPage(t, "").Content)
}

// Nothing of a page runs, and nothing that people don't see is read.
func TestHidden(t *testing.T) {
	t.Parallel()

	for _, page := range []string{
		`<script>SECRET</script>`, `<style>SECRET</style>`, `<!-- SECRET -->`, `<noscript>SECRET</noscript>`,
		`<template><p>SECRET</template>`, `<iframe>SECRET</iframe>`, `<object><p>SECRET</object>`,
		`<svg><text>SECRET</text><script>SECRET</script></svg>`, `<math><mi>SECRET</mi></math>`,
		`<textarea>SECRET</textarea>`, `<select><option>SECRET</select>`, `<button>SECRET</button>`, `<input value="SECRET">`,
		`<p hidden>SECRET</p>`, `<div aria-hidden="TRUE"><p>SECRET</div>`,
		`<div style="color:red; Display : NONE !important">SECRET</div>`,
		`<span style="visibility:hidden">SECRET</span>`, `<span style="font-size:0px">SECRET</span>`,
		`<span style="opacity:0.0">SECRET</span>`,
		`<div style="position:absolute;left:-9999px">SECRET</div>`, `<div style="text-indent:-10000px">SECRET</div>`,
		`<div style="clip: rect(0, 0, 0, 0)">SECRET</div>`, `<div hidden><div><b>SECRET</div>SECRET</div>`,
		`<li hidden>SECRET<li>`,
		`<p title="SECRET" data-x="SECRET" onclick="SECRET">`, `<svg><title>SECRET</title></svg>`,
		`<a href="javascript:SECRET">x</a>`,
	} {
		for _, format := range []builtins.Format{builtins.Markdown, builtins.PlainText, builtins.HTML} {
			a := readPage(t, page+`<p>seen</p>`, in(format), whole)
			require.NotContains(t, a.Content+a.Title, "SECRET", page)
			require.Contains(t, a.Content, "seen", page)
		}
	}
	require.Contains(t, readPage(t, `<p style="text-indent:-10px;opacity:0.5">seen`, whole).Content, "seen")
}

// Links are absolute, and lead to the web or to a mailbox.
func TestLinks(t *testing.T) {
	t.Parallel()

	for href, want := range map[string]string{
		"/a":                             "[x](https://pages.example/a)",
		"b":                              "[x](https://pages.example/blog/b)",
		"?q":                             "[x](https://pages.example/blog/post?q)",
		"//other.example/c":              "[x](https://other.example/c)",
		"http://user:pw@other.example/d": "[x](http://other.example/d)",
		"mailto:ada@x.example":           "[x](mailto:ada@x.example)",
		"java\tscript:alert(1)":          "x",
		" JavaScript:alert(1)":           "x",
		"data:text/html,<p>":             "x",
		"vbscript:x":                     "x",
		"file:///etc/passwd":             "x",
		"blob:https://x.example/1":       "x",
		"ftp://x.example/":               "x",
		"https:///nothing":               "x",
		"http://[::1":                    "x",
		strings.Repeat("a", 3000):        "x",
	} {
		require.Equal(t, want, readPage(t, `<p><a href="`+href+`">x</a></p>`, whole).Content, href)
	}
	require.Equal(t, "![p](https://pages.example/p.png)",
		readPage(t, `<img alt="p" src="data:image/png;base64,AAAA" data-src="/p.png">`, whole).Content)
	require.Equal(
		t, "[x](https://cdn.example/d/e)",
		readPage(t, `<base href="https://cdn.example/d/"><base href="https://z.example/"><a href="e">x</a>`, whole).Content,
	)
	require.Equal(t, "[x](https://pages.example/blog/e)",
		readPage(t, `<base href="javascript:alert(1)"><a href="e">x</a>`, whole).Content)
}

// The text of a page stays text.
func TestTextIsNoMarkup(t *testing.T) {
	t.Parallel()

	require.Equal(t, "\\[x](javascript:alert(1)) &lt;img src=x&gt; \\`code\\` a\\\\b",
		readPage(t, "<p>[x](javascript:alert(1)) &lt;img src=x&gt; `code` a\\b</p>", whole).Content)
	require.Equal(t, "`[x]`", readPage(t, "<p><code>[x]</code></p>", whole).Content)
}

// Tags that do not fit each other are read as browsers read them, near enough.
func TestMisnested(t *testing.T) {
	t.Parallel()

	for page, want := range map[string]string{
		`<p>a<p>b`:                                "a\n\nb",
		`<p>a<div>b</div>c`:                       "a\n\nb\n\nc",
		`<ul><li>a<li>b</ul>c`:                    "- a\n- b\n\nc",
		`<b>a<p>b</b>c`:                           "**a**\n\n**b**\n\nc",
		`a</p></div></table></b>b`:                "ab",
		`<table><tr><td>a</p></div><td>b</table>`: "| a | b |",
		`<h1>a<h2>b`:                              "# a\n\n## b",
		`<a href=/x>a<a href=/y>b</a>`:            "[a](https://pages.example/x)[b](https://pages.example/y)",
		`<x-card><form>a</form></x-card>`:         "a",
	} {
		require.Contains(t, strings.TrimSpace(readPage(t, page, whole).Content), want, page)
	}
}

func TestDecode(t *testing.T) {
	t.Parallel()

	r := readable.New()
	for _, c := range []struct{ body, contentType, want string }{
		{"caf\xe9", "text/html; charset=iso-8859-1", "café"},
		{"\x93caf\xe9\x94", "text/plain", "“café”"},
		{"café", "text/plain", "café"},
		{"\xef\xbb\xbfcafé", "text/html; charset=latin1", "café"},
		{"<meta charset=shift_jis>\x83e\x83X\x83g", "text/html", "<meta charset=shift_jis>テスト"},
		{"\xff\xfea\x00\xe9\x00", "", "aé"},
		{"\xcd\xe5\xf2", "text/html; charset=windows-1251", "Нет"},
		{"caf\xe9", "text/html; charset=utf-8", "caf\uFFFD"},
		{"x", `text/html; charset="`, "x"},
		{"", "", ""},
	} {
		require.Equal(t, c.want, r.Decode([]byte(c.body), c.contentType), "%q", c)
	}
	require.Equal(
		t, "café",
		readPage(t, "<p>caf\xe9", func(p *builtins.Page) { p.ContentType = "text/html; charset=iso-8859-1" }).Content,
	)
}

// A page that is not read when the call ends is left behind.
func TestReadEndsWithItsContext(t *testing.T) {
	t.Parallel()

	at, err := url.Parse("https://pages.example/")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = readable.New().Read(ctx, builtins.Page{
		Body: []byte(strings.Repeat(post, 1000)), URL: at, Format: builtins.Markdown,
	})
	require.Equal(t, tool.Cancelled, tool.KindOf(err))
	ctx, cancel = context.WithTimeout(t.Context(), 0)
	defer cancel()
	_, err = readable.New().Read(ctx, builtins.Page{
		Body: []byte(strings.Repeat(post, 1000)), URL: at, Format: builtins.Markdown,
	})
	require.Equal(t, tool.Timeout, tool.KindOf(err))
}
