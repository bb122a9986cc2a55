package readable

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"codeberg.org/readeck/go-readability"
	"codeberg.org/readeck/go-readability/render"
	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"
	"golang.org/x/net/html"

	"github.com/toolcrib/toolcrib/builtins"
)

// minArticle is the least of a page's text, in bytes, that is taken for its
// article where the page has more.
const minArticle = 250

// read makes an article of a page in UTF-8.
func read(page string, p builtins.Page) (builtins.Article, error) {
	t := grow([]byte(page), p.URL)
	out := builtins.Article{Title: t.title, Truncated: t.truncated}
	content := t.body
	parser := readability.NewParser()
	parser.DisableJSONLD = true // Scripts are gone.
	found, err := parser.ParseDocument(t.doc, p.URL)
	if err == nil {
		out.Title = cmp.Or(strings.TrimSpace(found.Title), t.title)
		out.Byline, out.Site, out.Language = short(found.Byline,
			maxPhrase), short(found.SiteName, maxPhrase), short(found.Language, maxWord)
		out.Published = found.PublishedTime
		if !p.Whole && found.Node != nil &&
			(len(found.TextContent) >= minArticle || len(render.InnerText(t.body)) < 2*minArticle) {
			content = found.Node
		}
	}
	out.Content, err = write(content, p.Format)
	return out, err
}

// write writes a tree in a format.
func write(node *html.Node, format builtins.Format) (string, error) {
	switch format {
	case builtins.Markdown:
		escape(node, inText)
		out, err := newConverter().ConvertNode(node)
		if err != nil {
			return "", fmt.Errorf("the page can't be written as Markdown: %w", err)
		}
		return strings.TrimSpace(string(out)), nil
	case builtins.PlainText:
		return strings.TrimSpace(render.InnerText(node)), nil
	case builtins.HTML:
		var b strings.Builder
		for child := range node.ChildNodes() {
			if err := html.Render(&b, child); err != nil {
				return "", fmt.Errorf("the page can't be written as HTML: %w", err)
			}
		}
		return strings.TrimSpace(b.String()), nil
	case builtins.RawText:
	}
	return "", errors.New("a page is read as markdown, text or html")
}

// newConverter returns a converter that leaves escaping to [escape]: its own
// escaping searches the rest of the text for each bracket.
func newConverter() *converter.Converter {
	return converter.NewConverter(converter.WithEscapeMode(converter.EscapeModeDisabled), converter.WithPlugins(
		base.NewBasePlugin(),
		commonmark.NewCommonmarkPlugin(),
		table.NewTablePlugin(table.WithCellPaddingBehavior(table.CellPaddingBehaviorMinimal)), // A wide cell pads no others.
	))
}

var (
	inText = strings.NewReplacer(`\`, `\\`, `[`, `\[`, "`", "\\`")
	inCell = strings.NewReplacer(`\`, `\\`, `[`, `\[`, "`", "\\`", `|`, `\|`)
)

// escape keeps the text of a page from being read as a link, an image, code or
// a cell; what could be HTML, the converter itself escapes. Stars and the like
// are left: they change nothing but looks.
func escape(node *html.Node, markup *strings.Replacer) {
	for child := range node.ChildNodes() {
		switch {
		case child.Type == html.TextNode:
			child.Data = markup.Replace(child.Data)
		case child.Data == "td" || child.Data == "th":
			escape(child, inCell)
		case child.Data != "code" && child.Data != "pre" && child.Data != "samp" && child.Data != "kbd" && child.Data != "tt":
			escape(child, markup)
		}
	}
}
