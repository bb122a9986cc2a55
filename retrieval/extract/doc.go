// Package extract makes text of documents: plain text, Markdown, HTML and PDF.
//
// Plain text and Markdown are read here. HTML and PDF come from anywhere and take
// libraries that are not trusted with them: who reads them is handed in, and
// documents are refused whose reader is missing.
package extract
