// Package chunk cuts the text of documents into pieces for search and citation.
//
// A piece is a range of the text, so that a citation can be located, with the headings above it. It
// ends at a natural boundary: between blocks if possible (paragraphs, lists, tables and code), else
// between sentences, else between words. A block that fits into a piece is never cut.
//
// The same text and options give the same pieces, in linear time.
package chunk
