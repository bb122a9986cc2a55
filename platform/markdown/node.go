package markdown

// Kind is the kind of a node.
type Kind string

// Kinds of blocks.
const (
	Paragraph Kind = "paragraph"
	Heading   Kind = "heading"
	List      Kind = "list"
	Item      Kind = "item"
	Quote     Kind = "quote"
	CodeBlock Kind = "code_block"
	Table     Kind = "table"
	Row       Kind = "row"
	Cell      Kind = "cell"
	Rule      Kind = "rule"
)

// Kinds of parts of a line.
const (
	Text     Kind = "text"
	Code     Kind = "code"
	Emphasis Kind = "emphasis"
	Strong   Kind = "strong"
	Deleted  Kind = "deleted"
	Link     Kind = "link"
	Break    Kind = "break"
)

// Kinds are all kinds.
var Kinds = []Kind{
	Paragraph, Heading, List, Item, Quote, CodeBlock, Table, Row, Cell, Rule,
	Text, Code, Emphasis, Strong, Deleted, Link, Break,
}

// Element is a node: a part of a document.
type Element struct {
	Kind     Kind      `json:"kind" enum:"paragraph,heading,list,item,quote,code_block,table,row,cell,rule,text,code,emphasis,strong,deleted,link,break"`
	Text     string    `json:"text,omitempty" doc:"Of a text, and of code"`
	Level    int       `json:"level,omitempty" doc:"Of a heading: 1 to 6" example:"2"`
	Ordered  bool      `json:"ordered,omitempty" doc:"Of a list: its items are numbered"`
	Start    int       `json:"start,omitempty" doc:"Of an ordered list: its first number"`
	Language string    `json:"language,omitempty" doc:"Of a block of code, as its author named it" example:"go"`
	URL      string    `json:"url,omitempty" doc:"Of a link: an address of http, https or mailto" example:"https://example.com/orders"`
	Host     string    `json:"host,omitempty" doc:"Of a link: where it goes to, in ASCII" example:"example.com"`
	Align    string    `json:"align,omitempty" enum:"left,center,right" doc:"Of a cell"`
	Header   bool      `json:"header,omitempty" doc:"Of a row: it names the columns"`
	Nodes    []Element `json:"nodes,omitempty" doc:"What it is made of"`
}

// Limits of a document.
const (
	MaxBytes = 256 << 10 // Of the source: the rest is left out.
	MaxDepth = 48        // Of nodes.
	MaxNodes = 30_000    // The rest is one text.

	MaxNodesOfAll = 60_000 // Of the texts that are parsed together.

	maxNested  = 8  // Quotes and lists in each other.
	maxOpen    = 12 // Emphasis and brackets in each other.
	maxColumns = 50
	maxURL     = 2000
)
