package readable_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/builtins"
	"github.com/toolcrib/toolcrib/platform/readable"
)

// bombs are pages that cost a careless reader minutes or gigabytes.
var bombs = map[string]string{
	"deep divs":       strings.Repeat("<div>", 200_000) + "deep",
	"deep spans":      "<p>" + strings.Repeat("<span>", 200_000) + "deep",
	"deep quotations": strings.Repeat("<blockquote><p>line<br>line</p>", 100_000),
	"deep lists":      strings.Repeat("<ul><li>item", 100_000),
	"deep tables":     strings.Repeat("<table><tr><td>cell", 50_000),
	"formatting": strings.Repeat("<b><i><u><em><strong><code><tt><a href=x>", 20_000) +
		strings.Repeat("<p>text", 50_000),
	"formatting by font": manyf(20_000, `<font color="#%06x">`) + strings.Repeat("<p>x", 20_000),
	"misnested":          strings.Repeat("<b><p><i></b></p></i>", 50_000),
	"a wide row": "<table>" + strings.Repeat("<tr>"+strings.Repeat("<td>x", 200), 500) + "<tr>" +
		strings.Repeat("<td>y", 100_000),
	"ragged rows": "<table><tr>" + strings.Repeat("<td>y", 10_000) + strings.Repeat("<tr><td>x", 10_000),
	"a wide cell": "<table><tr><td>" + strings.Repeat("x", 1<<20) + strings.Repeat("<tr><td>x<td>y", 5_000),
	"spanning cells": `<table><tr><td colspan=1000000 rowspan=1000000>x</td></tr>` +
		strings.Repeat("<tr><td>x", 1000),
	"a huge attribute": `<a href="http://x.example/` + strings.Repeat("a", 5<<20) + `">link</a><p>after`,
	"many attributes":  "<div " + manyf(100_000, "a%d=1 ") + ">text</div>",
	"many links":       manyf(50_000, `<a href="/%d">link</a> `),
	"many images":      manyf(50_000, `<img src="/%d" alt="image">`),
	"many breaks":      "<div>" + strings.Repeat("x<br><br>", 50_000),
	"many paragraphs": strings.Repeat(
		"<p>A sentence, with a comma, and enough of a length that it counts for something.</p>", 30_000,
	),
	"siblings that compete": strings.Repeat(
		"<div><p>A sentence, with a comma, and enough of a length to count.</p></div>", 15_000,
	),
	"a chain that competes": strings.Repeat("<div><p>A sentence, with a comma, and enough of a length to count.</p>",
		15_000),
	"comments":               strings.Repeat("<!-- x -->", 200_000) + "<p>text",
	"an open comment":        "<p>text<!--" + strings.Repeat("x", 5<<20),
	"an open tag":            "<p>text<div " + strings.Repeat("x", 5<<20),
	"an open script":         "<p>text<script>" + strings.Repeat("x", 5<<20),
	"entities":               strings.Repeat("&amp;&lt;&notit;&#x10FFFF;", 100_000),
	"a title":                "<title>" + strings.Repeat("t", 3<<20) + "</title><p>text",
	"metas":                  manyf(50_000, `<meta property="og:title" content="%d">`) + "<p>text",
	"brackets":               "<p>" + strings.Repeat("[", 200_000) + strings.Repeat("](", 200_000),
	"stars":                  "<p>" + strings.Repeat("*_`~#", 200_000),
	"code fences":            "<pre>" + strings.Repeat("`", 500_000),
	"one long word":          "<p>" + strings.Repeat("x", 9<<20),
	"spaces":                 "<p>" + strings.Repeat(" \n\t", 2<<20) + "x",
	"end tags":               strings.Repeat("<div>", 100) + strings.Repeat("</p></b></i></div>", 100_000) + "text",
	"dates":                  `<meta property="article:published_time" content="` + strings.Repeat("9", 900) + `"><p>text`,
	"nulls":                  "<p>" + strings.Repeat("\x00", 100_000) + "text",
	"ordered from the end":   `<ol start="99999999999999999999">` + strings.Repeat("<li>x", 20_000),
	"lists of quotations":    strings.Repeat("<ul><li><blockquote>", 50_000) + strings.Repeat("line<br>", 50_000),
	"definitions":            strings.Repeat("<dl><dt>a<dd>b", 50_000),
	"plaintext":              "<p>text<plaintext>" + strings.Repeat("<div>", 100_000),
	"forms":                  strings.Repeat("<form><fieldset><label>x", 100_000),
	"unknown elements":       strings.Repeat("<x-y>", 200_000) + "text",
	"long names of elements": "<" + strings.Repeat("n", 1<<20) + ">text",
	"headings":               strings.Repeat("<h1>heading</h1>", 40_000),
}

func manyf(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

// Whatever a page holds, reading it ends, and what comes of it is bounded. A
// reader whose cost grew faster than a page would not be done in the time that
// a test has.
func TestHostilePages(t *testing.T) {
	t.Parallel()

	at, err := url.Parse("https://pages.example/a/b")
	require.NoError(t, err)
	reader := readable.New()
	for name, body := range bombs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for _, format := range []builtins.Format{builtins.Markdown, builtins.PlainText, builtins.HTML} {
				a, err := reader.Read(t.Context(), builtins.Page{
					Body: []byte(body), ContentType: "text/html", URL: at, Format: format,
				})
				require.NoError(t, err)
				require.LessOrEqual(t, len(a.Content), 16<<20)
			}
		})
	}
}
