package draw_test

import (
	"encoding/json"
	"encoding/xml"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/graph"
	"github.com/toolcrib/toolcrib/graph/draw"
)

var update = flag.Bool("update", false, "write golden files")

const orders = `{"on_error":"tell","nodes":[
  {"id":"each","kind":"map","title":"Read orders","over":{"$from":"/input/orders"},"nodes":[
    {"id":"order","kind":"tool","tool":"getOrder@^1.0","on_error":"note"},
    {"id":"sound","kind":"end"},
    {"id":"note","kind":"tool","tool":"note"}]},
  {"id":"fan","kind":"parallel","branches":[
    {"id":"left","nodes":[{"id":"l","kind":"agent","agent":"writer","message":"hi"}]},
    {"id":"right","nodes":[{"id":"again","kind":"loop","while":"iteration < 3","max":5,"nodes":[{"id":"r","kind":"wait","seconds":1}]}]}]},
  {"id":"judge","kind":"branch","cases":[{"when":"nodes.each.result > 100","next":"ask"},{"when":"input.skip","next":"done"}],"default":"small"},
  {"id":"small","kind":"graph","tool":"other","next":"done"},
  {"id":"ask","kind":"human","form":{"approve":{}}},
  {"id":"done","kind":"end"},
  {"id":"tell","kind":"tool","tool":"tell"}]}`

func picture(t require.TestingT, title, raw string) *draw.Picture {
	g, err := graph.Parse(json.RawMessage(raw), nil)
	require.NoError(t, err)
	return draw.Of(title, &g.Definition)
}

func ofRun(p *draw.Picture) *draw.Picture {
	statuses := map[string]graph.Status{
		"each": graph.Completed, "fan/right/again/0": graph.Completed, "fan/right/again/1": graph.Failed,
		"fan/right/again/1/r": graph.Failed, "fan/left/l": graph.Completed, "judge": graph.Skipped, "": graph.Failed,
	}
	for i := range 40 {
		statuses[fmt.Sprintf("each/%d", i)] = graph.Completed
		statuses[fmt.Sprintf("each/%d/order", i)] = graph.Completed
	}
	statuses["each/3"], statuses["each/7"] = graph.Failed, graph.Pending
	p.Run(statuses)
	return p
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, string(want), got)
}

// The same picture is the same text.
func TestGolden(t *testing.T) {
	t.Parallel()

	golden(t, "orders.mmd", picture(t, "Orders", orders).Mermaid())
	golden(t, "orders.svg", picture(t, "Orders", orders).SVG())
	golden(t, "run.mmd", ofRun(picture(t, "Orders", orders)).Mermaid())
	golden(t, "run.svg", ofRun(picture(t, "Orders", orders)).SVG())
	require.Contains(t, ofRun(picture(t, "Orders", orders)).SVG(), ">38/40<")
}

// element is an element of an SVG document.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Text     string     `xml:",chardata"`
	Children []element  `xml:",any"`
}

func (e *element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

func (e *element) each(visit func(*element)) {
	visit(e)
	for i := range e.Children {
		e.Children[i].each(visit)
	}
}

type rectangle struct{ x, y, w, h int }

func (r rectangle) meets(o rectangle) bool {
	return r.x < o.x+o.w && o.x < r.x+r.w && r.y < o.y+o.h && o.y < r.y+r.h
}

func (r rectangle) has(o rectangle) bool {
	return r.x <= o.x && r.y <= o.y && o.x+o.w <= r.x+r.w && o.y+o.h <= r.y+r.h
}

// drawn reads a document strictly, and holds it to the elements and attributes that pictures have.
func drawn(t require.TestingT, doc string) *element {
	var root element
	require.NoError(t, xml.Unmarshal([]byte(doc), &root))
	root.each(func(e *element) {
		require.Contains(t, []string{
			"svg", "title", "desc", "style", "defs", "marker", "path", "rect", "text", "g",
		}, e.XMLName.Local)
		for _, a := range e.Attrs {
			require.NotRegexp(t, "(?i)^(on.*|href|src|style)$", a.Name.Local)
		}
	})
	return &root
}

// apart checks that nodes side by side do not overlap, and are in the node around them.
func apart(t require.TestingT, e *element, around *rectangle) {
	var seen []rectangle
	for i := range e.Children {
		g := &e.Children[i]
		if g.XMLName.Local != "g" {
			continue
		}
		var own rectangle
		for j := range g.Children {
			if r := &g.Children[j]; r.XMLName.Local == "rect" && own.w == 0 {
				for name, to := range map[string]*int{"x": &own.x, "y": &own.y, "width": &own.w, "height": &own.h} {
					_, err := fmt.Sscan(r.attr(name), to)
					require.NoError(t, err)
				}
			}
		}
		for _, other := range seen {
			require.False(t, own.meets(other), "%v %v", own, other)
		}
		if around != nil {
			require.True(t, around.has(own), "%v in %v", own, *around)
		}
		seen = append(seen, own)
		apart(t, g, &own)
	}
}

var edgeLine = regexp.MustCompile(`(?m)^  n\d+ (-->|-\.->)(\|"[^"|]*"\|)? n\d+$`)

// definition draws a graph whose nodes lead forward, with texts of any kind.
func definition(t *rapid.T, depth int, next *int) []map[string]any {
	count := rapid.IntRange(1, 6-depth).Draw(t, "nodes")
	ids := make([]string, count)
	for i := range ids {
		ids[i] = fmt.Sprintf("n%d", *next)
		*next++
	}
	nodes := make([]map[string]any, count)
	for i, id := range ids {
		title := rapid.OneOf(rapid.String(), rapid.SampledFrom(hostile)).Draw(t, "title")
		n := map[string]any{"id": id, "kind": "start", "title": title}
		later := func() string { return rapid.SampledFrom(ids[i+1:]).Draw(t, "to") }
		kind := rapid.IntRange(0, 4).Draw(t, "kind")
		switch {
		case kind == 1 && i+2 < count:
			n["kind"], n["default"] = "branch", ids[i+1]
			n["cases"] = []map[string]any{{"when": `"\"]<b>" == input.x`, "next": later()}, {"when": "true", "next": later()}}
		case kind == 2 && depth < 3 && *next < 60:
			n["kind"], n["over"], n["nodes"] = "map", []int{1}, definition(t, depth+1, next)
		case kind == 3 && depth < 3 && *next < 60:
			n["kind"] = "parallel"
			n["branches"] = []map[string]any{
				{"id": "a", "nodes": definition(t, depth+1, next)}, {"id": "b", "nodes": definition(t, depth+1, next)},
			}
		case kind == 4 && i+1 < count:
			n["kind"], n["tool"], n["on_error"] = "tool", "t", later()
		}
		nodes[i] = n
	}
	return nodes
}

var hostile = []string{
	`</title><script>alert(1)</script>`, `"]; click n0 "javascript:alert(1)"`, `--> evil`, "end\nsubgraph x", `]]>`,
	`&lt;img src=x onerror=alert(1)>`,
	"\u202egnp.exe\u2066\u200f", strings.Repeat("W", 1000), strings.Repeat("漢", 1000),
	"a\x00\x1b[31m\xff", "e" + strings.Repeat("\u0301", 500),
	"`**bold**`", "%%{init: {'securityLevel':'loose'}}%%", "#quot;#60;script#62;", "${x}", "'><svg/onload=alert(1)>", "",
}

// Whatever the graph and its texts: no two nodes overlap, every edge is there, and no text adds
// an element, an attribute or a line.
func TestPictures(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		next := 0
		raw, err := json.Marshal(map[string]any{"nodes": definition(t, 0, &next)})
		require.NoError(t, err)
		p := picture(t, rapid.SampledFrom(hostile).Draw(t, "of"), string(raw))
		mermaid, doc := p.Mermaid(), p.SVG()
		require.Equal(t, doc, p.SVG())
		root := drawn(t, doc)
		apart(t, root, nil)
		nodes, edges := 0, 0
		root.each(func(e *element) {
			if e.XMLName.Local == "g" {
				nodes++
			}
			if e.attr("data-edge") != "" {
				edges++
			}
		})
		require.Equal(t, next, nodes)
		require.Equal(t, wanted(raw), edges)
		require.Len(t, edgeLine.FindAllString(mermaid, -1), edges)
		for line := range strings.Lines(mermaid) {
			require.Regexp(t, `^(flowchart TD|  accTitle: [^<>"\[\]{};|]*(#\d+;[^<>"\[\]{};|]*)*`+
				`| *(subgraph )?n\d+(b\d+)?(\[|\(\[|\{|\(|\[\[|\[/)"([^<>"\[\]{}|;]|<br/>|#\d+;)*"(\]|\]\)|\}|\)|\]\]|/\])`+
				`| *end|  n\d+ (-->|-\.->)(\|"([^<>"\[\]{}|;]|#\d+;)*"\|)? n\d+)\n$`, line)
		}
		for _, text := range []string{mermaid, doc} {
			require.NotRegexp(t, "[\u202a-\u202e\u2066-\u2069\u200e\u200f\x00\x1b]", text)
		}
	})
}

// wanted counts the edges of a definition by its rules.
func wanted(raw []byte) int {
	type node struct {
		Kind, Default, OnError string
		Cases, Nodes           []json.RawMessage
		Branches               []struct{ Nodes []json.RawMessage }
	}
	var count func(all []json.RawMessage) int
	count = func(all []json.RawMessage) int {
		sum := 0
		for i, one := range all {
			var n node
			_ = json.Unmarshal(one, &n)
			sum += len(n.Cases) + count(n.Nodes)
			for _, b := range n.Branches {
				sum += count(b.Nodes)
			}
			if n.Default != "" {
				sum++
			} else if i+1 < len(all) {
				sum++
			}
			if strings.Contains(string(one), `"on_error"`) && n.Kind == "tool" {
				sum++
			}
		}
		return sum
	}
	var d struct{ Nodes []json.RawMessage }
	_ = json.Unmarshal(raw, &d)
	return count(d.Nodes)
}

// A definition that is no graph, such as one with a cycle, is drawn without what does not fit.
func TestCycle(t *testing.T) {
	t.Parallel()

	doc := draw.Of("", &graph.Definition{Nodes: []graph.Node{
		{ID: "a", Kind: "start", Next: "b"}, {ID: "b", Kind: "start", Next: "a"}, {ID: "c", Kind: "start", Next: "none"},
	}}).SVG()
	apart(t, drawn(t, doc), nil)
}
