// Package extract extracts text from documents: plain text, Markdown, HTML and
// PDF.
//
// Plain text and Markdown are read here. HTML and PDF are untrusted input and
// need libraries that are not trusted with it in this process: their readers
// are passed in, and documents without a reader are refused.
package extract
