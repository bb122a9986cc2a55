// Package extract extracts text from documents: plain text, Markdown, HTML and
// PDF.
//
// Plain text and Markdown are parsed here. HTML and PDF are untrusted input and need libraries that
// must not parse it in this process: their readers are passed in, and documents without a reader are
// refused.
package extract
