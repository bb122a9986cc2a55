package readable

import (
	"bytes"
	"errors"
	"io"
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// Bounds of a tree.
const (
	maxDepth  = 64       // Elements within each other; deeper ones lend their text to the last.
	maxNested = 12       // Lists and quotations within each other, whose every line repeats them.
	maxNodes  = 40_000   // Elements and texts.
	maxText   = 2 << 20  // Bytes of text.
	maxCells  = 64       // Cells of a row of a table.
	maxTokens = 400_000  // Tags, texts and comments that are looked at.
	maxToken  = 1 << 20  // Bytes of one of them.
	maxMetas  = 200      // Metadata elements of a page.
	maxBytes  = 10 << 20 // Bytes of a page that are looked at.
)

// tree is a page, bounded.
type tree struct {
	doc, head, body *html.Node
	title           string
	truncated       bool // There was more than the bounds allow.
}

// builder makes a tree of tags in one pass. Each step costs about the same, for
// any tags before it.
type builder struct {
	tree
	base      *url.URL
	based     bool // A base element was seen: the first counts.
	open      []element
	flattened map[string]int // Elements beyond the bounds that are open, by name.
	tokens    int
	nodes     int
	text      int
	metas     int
	z         *html.Tokenizer
}

// element is an open element. What goes into a mute one is dropped.
type element struct {
	name  string
	node  *html.Node // The parent's, for elements that are left out while their content is not.
	mute  bool
	cells int
}

// grow makes the tree of a page in UTF-8.
func grow(page []byte, base *url.URL) *tree {
	b := &builder{base: base, flattened: make(map[string]int)}
	if len(page) > maxBytes {
		page, b.truncated = page[:maxBytes], true
	}
	b.doc = &html.Node{Type: html.DocumentNode}
	root := newNode("html")
	b.head, b.body = newNode("head"), newNode("body")
	b.doc.AppendChild(root)
	root.AppendChild(b.head)
	root.AppendChild(b.body)
	b.open = []element{{name: "body", node: b.body}}
	b.z = html.NewTokenizer(bytes.NewReader(page))
	b.z.SetMaxBuf(maxToken)
	for b.next() {
		if b.tokens++; b.tokens >= maxTokens || b.nodes >= maxNodes || b.text >= maxText {
			b.truncated = true
			break
		}
	}
	return &b.tree
}

// next puts the next token into the tree; false when there is none.
func (b *builder) next() bool {
	switch b.z.Next() {
	case html.ErrorToken:
		b.truncated = b.truncated || !errors.Is(b.z.Err(), io.EOF)
		return false
	case html.TextToken:
		b.addText(string(b.z.Text()))
	case html.StartTagToken, html.SelfClosingTagToken:
		b.start()
	case html.EndTagToken:
		name, _ := b.z.TagName()
		b.end(string(name))
	case html.CommentToken, html.DoctypeToken:
	}
	return true
}

func (b *builder) top() *element { return &b.open[len(b.open)-1] }

func (b *builder) addText(text string) {
	top := b.top()
	switch {
	case top.name == "title":
		if b.title == "" && !b.open[len(b.open)-2].mute {
			b.title = strings.Join(strings.Fields(text), " ")
		}
		return
	case top.mute || text == "":
		return
	}
	if room := maxText - b.text; len(text) > room {
		text, b.truncated = strings.ToValidUTF8(text[:room], ""), true
	}
	b.text += len(text)
	if last := top.node.LastChild; last != nil && last.Type == html.TextNode && len(last.Data) < 1<<10 {
		last.Data += text
		return
	}
	b.nodes++
	top.node.AppendChild(&html.Node{Type: html.TextNode, Data: text})
}

// start opens an element.
func (b *builder) start() {
	raw, more := b.z.TagName()
	name := string(raw)
	attrs := b.attributes(more)
	switch name {
	case "html":
		if lang := attrs["lang"]; lang != "" {
			set(b.doc.FirstChild, "lang", short(lang, maxWord))
		}
		return
	case "head", "body":
		return
	case "base":
		b.rebase(attrs["href"])
		return
	case "meta":
		b.meta(attrs)
		return
	}
	b.closeBefore(name)
	top := b.top()
	kind := kinds[name]
	mute := top.mute || kind == dropped || hidden(attrs)
	switch {
	case kind == ignored:
	case kind == void:
		if !mute {
			b.append(top, name, attrs)
		}
	case len(b.open) >= maxDepth || nests(name) && b.nested() >= maxNested || b.cellsFull(name):
		b.flattened[name]++
		b.truncated = b.truncated || len(b.open) >= maxDepth
	case mute, kind == transparent, name == "a" && b.resolve(attrs["href"], true) == "":
		b.open = append(b.open, element{name: name, node: top.node, mute: mute})
	default:
		b.open = append(b.open, element{name: name, node: b.append(top, name, attrs)})
	}
}

// append adds an element to the tree.
func (b *builder) append(parent *element, name string, attrs map[string]string) *html.Node {
	b.nodes++
	node := newNode(name)
	b.dress(node, attrs)
	parent.node.AppendChild(node)
	return node
}

// end closes the nearest element of that name, and the elements open within it.
func (b *builder) end(name string) {
	if b.flattened[name] > 0 {
		b.flattened[name]--
		return
	}
	for i := len(b.open) - 1; i > 0; i-- {
		if b.open[i].name == name {
			b.open = b.open[:i]
			return
		}
		if fenced(b.open[i].name, name) {
			return
		}
	}
}

// closeBefore closes what a start tag ends by itself, as a paragraph does the
// one before it.
func (b *builder) closeBefore(name string) {
	e, ok := endings[name]
	if !ok {
		return
	}
	for i := len(b.open) - 1; i > 0; i-- {
		open := b.open[i].name
		if e.ended[open] {
			b.open = b.open[:i]
			return
		}
		if e.fences[open] {
			return
		}
	}
}

// nested counts the lists and quotations that are open.
func (b *builder) nested() int {
	n := 0
	for _, e := range b.open {
		if nests(e.name) {
			n++
		}
	}
	return n
}

// cellsFull counts a cell of a row, and reports whether the row has no room
// for it.
func (b *builder) cellsFull(name string) bool {
	if name != "td" && name != "th" {
		return false
	}
	for i := len(b.open) - 1; i > 0; i-- {
		if b.open[i].name == "tr" {
			b.open[i].cells++
			return b.open[i].cells > maxCells
		}
	}
	return false
}

func newNode(name string) *html.Node {
	return &html.Node{Type: html.ElementNode, Data: name, DataAtom: atomOf(name)}
}
