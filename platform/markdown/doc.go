// Package markdown parses a subset of CommonMark into a tree of nodes: headings, paragraphs, lists, quotes,
// code, tables, emphasis and links. It makes no HTML: HTML in the source is text, an image is a link, and a
// link goes to http, https or mailto, or is text. What is parsed was written by models, tools and people
// outside, so time and memory are proportional to its size, and the depth and number of nodes are bounded.
package markdown
