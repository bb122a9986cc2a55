package readable

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// kind is what becomes of an element.
type kind int

const (
	transparent kind = iota // Its content stands for it: whatever is not listed.
	kept                    // It is part of the tree.
	void                    // Kept, and has no content.
	dropped                 // It goes, and its content with it.
	ignored                 // It goes, and has no content.
)

var kinds = kindsOf(map[kind]string{
	kept: `a abbr address article aside b blockquote caption cite code dd del details dfn div dl dt em
		figcaption figure footer h1 h2 h3 h4 h5 h6 header i ins kbd li main mark nav ol p pre q s samp
		section small span strike strong sub summary sup table tbody td tfoot th thead time tr tt u ul var`,
	void: `br hr img wbr`,
	dropped: `applet audio button canvas datalist dialog frameset iframe map math noembed noframes
		noscript object plaintext script select style svg template textarea title video`,
	ignored: `area basefont bgsound col embed frame input keygen link param source track`,
})

func kindsOf(lists map[kind]string) map[string]kind {
	out := make(map[string]kind)
	for k, list := range lists {
		for name := range strings.FieldsSeq(list) {
			out[name] = k
		}
	}
	return out
}

func names(list string) map[string]bool {
	out := make(map[string]bool)
	for name := range strings.FieldsSeq(list) {
		out[name] = true
	}
	return out
}

func atomOf(name string) atom.Atom { return atom.Lookup([]byte(name)) }

// nests reports whether each line within an element repeats that it is in it.
func nests(name string) bool { return name == "blockquote" || name == "ol" || name == "ul" }

var (
	tableParts = names("table thead tbody tfoot tr td th caption")
	cells      = names("td th caption")
	headings   = names("h1 h2 h3 h4 h5 h6")
	blocks     = names(`address article aside blockquote center details dialog div dl dd dt fieldset figcaption
		figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table ul`)
)

// ending is what a start tag ends by itself, as far as the nearest fence.
type ending struct{ ended, fences map[string]bool }

var endings = endingsOf()

func endingsOf() map[string]ending {
	out := make(map[string]ending)
	for name := range blocks {
		out[name] = ending{names("p"), names("td th table caption")}
	}
	for name := range headings {
		out[name] = ending{names("p h1 h2 h3 h4 h5 h6"), names("td th table caption div section article li")}
	}
	out["li"] = ending{names("li"), names("ol ul table td th blockquote")}
	out["dt"] = ending{names("dt dd"), names("dl table td th")}
	out["dd"] = out["dt"]
	out["tr"] = ending{names("tr caption"), names("table")}
	out["td"] = ending{names("td th"), names("tr table")}
	out["th"] = out["td"]
	for name := range names("thead tbody tfoot") {
		out[name] = ending{names("thead tbody tfoot caption"), names("table")}
	}
	out["a"] = ending{names("a"), names("td th table caption li")}
	return out
}

// fenced reports whether an end tag does not reach beyond an open element.
func fenced(open, name string) bool {
	return open == "table" || cells[open] && !tableParts[name]
}
