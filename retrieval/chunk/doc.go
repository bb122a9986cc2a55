// Package chunk cuts the text of documents into the pieces that are searched
// and cited.
//
// A piece is a range of the text, so that a citation can be shown where it
// stands, and carries the headings that it stands under. It ends where a reader
// would pause: between blocks where it can, that is paragraphs, lists, tables
// and code, else between sentences, else between words. A block that fits into a
// piece is never cut.
//
// The same text and options give the same pieces. The time it takes grows with
// the text alone, whatever stands in it.
package chunk
