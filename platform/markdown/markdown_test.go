package markdown_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/platform/markdown"
)

// outline writes nodes in one line.
func outline(nodes []markdown.Element) string {
	var out []string
	for i, n := range nodes {
		s := string(n.Kind)
		switch n.Kind { //nolint:exhaustive // The others are their kinds.
		case markdown.Text:
			if s = "'" + n.Text + "'"; i > 0 && nodes[i-1].Kind == markdown.Text {
				out[len(out)-1] = strings.TrimSuffix(out[len(out)-1], "'") + n.Text + "'"
				continue
			}
		case markdown.Link:
			s += "<" + n.URL + ">"
		case markdown.Heading:
			s += strings.Repeat("#", n.Level)
		case markdown.Code, markdown.CodeBlock:
			s += ":" + n.Language + "'" + n.Text + "'"
		}
		if n.Align != "" {
			s += ":" + n.Align
		}
		if len(n.Nodes) > 0 {
			s += "(" + outline(n.Nodes) + ")"
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

func TestParse(t *testing.T) {
	t.Parallel()

	for source, want := range map[string]string{
		"":                                 "",
		"Your order *left* **today**.":     "paragraph('Your order ' emphasis('left') ' ' strong('today') '.')",
		"# One\n\n### Three ###":           "heading#('One') heading###('Three')",
		"Title\n=====\nnot `code`":         "heading#('Title') paragraph('not ' code:'code')",
		"####### seven":                    "paragraph('####### seven')",
		"- a\n- b\n  - c":                  "list(item(paragraph('a')) item(paragraph('b') list(item(paragraph('c')))))",
		"3. a\n4. b":                       "list(item(paragraph('a')) item(paragraph('b')))",
		"- [ ] a\n\n  more":                "list(item(paragraph('[ ] a') paragraph('more')))",
		"```go\nx := \"*a*\"\n```\nafter":  "code_block:go'x := \"*a*\"' paragraph('after')",
		"~~~\nnever closed":                "code_block:'never closed'",
		"    indented\n\n    more":         "code_block:'indented\n\nmore'",
		"> said\n> twice\n\nno":            "quote(paragraph('said\ntwice')) paragraph('no')",
		"***":                              "rule",
		"a  \nb":                           "paragraph('a' break 'b')",
		"a_b_c and _d_":                    "paragraph('a_b_c and ' emphasis('d'))",
		"***both***":                       "paragraph(emphasis(strong('both')))",
		"*a **b* c**":                      "paragraph(emphasis('a ' emphasis(emphasis('b') ' c')))",
		"~~gone~~ 2~3":                     "paragraph(deleted('gone') ' 2~3')",
		`\*a\* &amp; &lt;b&gt; &nope;`:     "paragraph('*a* & <b> &nope;')",
		"<b onclick=x>bold</b>":            "paragraph('<b onclick=x>bold</b>')",
		"[a](https://e.com/x \"t\")":       "paragraph(link<https://e.com/x>('a'))",
		"[a](javascript:alert(1))":         "paragraph('[a](javascript:alert(1))')",
		"[a](//e.com)":                     "paragraph('[a](//e.com)')",
		"[a](https://bank.com@e.com)":      "paragraph('[a](https://bank.com@e.com)')",
		"![a](https://e.com/x.png)":        "paragraph(link<https://e.com/x.png>('image: a'))",
		"<https://e.com>":                  "paragraph(link<https://e.com>('https://e.com'))",
		"<ada@e.com>":                      "paragraph(link<mailto:ada@e.com>('ada@e.com'))",
		"see https://e.com/a_b_c).":        "paragraph('see ' link<https://e.com/a_b_c>('https://e.com/a_b_c') ').')",
		"https://bücher.example/":          "paragraph(link<https://xn--bcher-kva.example/>('https://bücher.example/'))",
		"[[a](https://e.com)](https://f.)": "paragraph('[' link<https://e.com>('a') '](' link<https://f>('https://f') '.)')",
		"| a | b |\n|--|-:|\n| 1 | `2` |":  "table(row(cell('a') cell:right('b')) row(cell('1') cell:right(code:'2')))",
		"a | b\nno table":                  "paragraph('a | b\nno table')",
		"a\u202eb &#x202e;":                "paragraph('a⟦U+202E⟧b ⟦U+202E⟧')",
	} {
		require.Equal(t, want, outline(markdown.Parse(source)), "%s", source)
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()

	for raw, host := range map[string]string{
		"https://e.com/a?b=c#d": "e.com", "http://e.com:8080": "e.com:8080", "HTTPS://E.com": "e.com",
		"mailto:a@e.com": "e.com", "https://аpple.com": "xn--pple-43d.com",
	} {
		_, got, ok := markdown.Address(raw)
		require.True(t, ok, raw)
		require.Equal(t, host, got)
	}
	for _, raw := range []string{
		"", "e.com", "/v1/runs", "//e.com", "javascript:alert(1)", "JaVaScRiPt:alert(1)", "java\nscript:alert(1)",
		"data:text/html,<script>", "vbscript:x", "file:///etc/passwd", "https://a@b.com", "https:e.com", "https://",
		"mailto:", "mailto:x", "https://e.com\\@f.com", "https://e.com/ a", "blob:https://e.com/x", "ftp://e.com",
		"https://" + strings.Repeat("a", 3000) + ".com",
	} {
		_, _, ok := markdown.Address(raw)
		require.False(t, ok, raw)
	}
}

// sources that take others long, by what is repeated.
var repeated = []string{
	"*", "_", "**a ", "*a _b ", "[", "![", "[a](", "](", "](<", "](\"", "[a](b \"", "`", "`a``b", "<", "<a", "&", "&#",
	"\\",
	"> ", ">", "- ", "1. ", "-\n", "> - ", "|", "a|", "|\n|-\n", "a|b\n-|-\n", "#", "# ", "```\n", "~~~a\n", "http://",
	"http://a", "    ", "\t", "\n", "a\n=\n", "***a", "~~a", "(", "[(", "](((", "\u202e", "&#x202e;", "h", "<http://a>",
	"[[a](http://a)",
	"  - a\n", "*a* ", "**", "a**b", "*_",
}

// The work is proportional to the size of the source, whatever that is.
func TestWorkIsLinear(t *testing.T) {
	t.Parallel()

	for _, part := range repeated {
		source := strings.Repeat(part, 20_000/len(part))
		nodes, work := markdown.Counted(source)
		require.LessOrEqual(t, work, 60*len(source), "%q", part)
		within(t, nodes)
	}
}

// within checks what holds of every document.
func within(t *testing.T, nodes []markdown.Element) {
	t.Helper()
	known := map[markdown.Kind]bool{}
	for _, k := range markdown.Kinds {
		known[k] = true
	}
	total := 0
	var walk func(nodes []markdown.Element, depth int)
	walk = func(nodes []markdown.Element, depth int) {
		if depth > markdown.MaxDepth {
			t.Fatal("too deep")
		}
		for _, n := range nodes {
			total++
			address, host, ok := markdown.Address(n.URL)
			if link := n.Kind == markdown.Link; !known[n.Kind] || link != ok || link && (address != n.URL || host != n.Host) ||
				!link && n.URL != "" || strings.Contains(n.Text, "\u202e") {
				t.Fatalf("%+v", n)
			}
			walk(n.Nodes, depth+1)
		}
	}
	walk(nodes, 1)
	require.LessOrEqual(t, total, 3*markdown.MaxNodes)
	_, err := json.Marshal(nodes)
	require.NoError(t, err)
}

func TestLimits(t *testing.T) {
	t.Parallel()

	within(t, markdown.Parse(strings.Repeat("> ", 5000)+"deep"))
	within(t, markdown.Parse(strings.Repeat("*a [b ", 50_000)))
	long := markdown.Parse(strings.Repeat("é", markdown.MaxBytes))
	require.Len(t, long, 1)
	size := 0
	for _, n := range long[0].Nodes {
		require.NotContains(t, n.Text, "\uFFFD")
		size += len(n.Text)
	}
	require.LessOrEqual(t, size, markdown.MaxBytes)
}

// Many short texts make no more nodes than a page has use for: a row of a table is one byte, and fifty cells.
func TestLimitOfAll(t *testing.T) {
	t.Parallel()

	table := strings.Repeat("a|", 49) + "a\n" + strings.Repeat("-|", 49) + "-\n" + strings.Repeat("b\n", 700)
	sources := slices.Repeat([]string{table}, 200)
	sources[0], sources[199] = "*first*", "*last*"
	all := markdown.ParseAll(sources)
	require.Len(t, all, len(sources))
	require.Equal(t, markdown.Emphasis, all[0][0].Nodes[0].Kind)
	require.Equal(t, []markdown.Element{{Kind: markdown.CodeBlock, Text: "*last*"}}, all[199])
	total := 0
	var count func(nodes []markdown.Element)
	count = func(nodes []markdown.Element) {
		for _, n := range nodes {
			total++
			count(n.Nodes)
		}
	}
	for _, nodes := range all {
		count(nodes)
	}
	require.LessOrEqual(t, total, 2*markdown.MaxNodesOfAll)
}

// hostile are texts that others try to run in the browsers of those who read them.
func hostile(tb testing.TB) []string {
	tb.Helper()
	raw, err := os.ReadFile("testdata/hostile.json")
	require.NoError(tb, err)
	var all []string
	require.NoError(tb, json.Unmarshal(raw, &all))
	return all
}

func TestHostile(t *testing.T) {
	t.Parallel()

	all := hostile(t)
	require.GreaterOrEqual(t, len(all), 200)
	for _, source := range all {
		within(t, markdown.Parse(source))
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range append(hostile(f), repeated...) {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, source string) {
		nodes, work := markdown.Counted(source)
		require.LessOrEqual(t, work, 60*len(source)+1000)
		within(t, nodes)
	})
}
