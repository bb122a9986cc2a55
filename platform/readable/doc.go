// Package readable makes the pages of the web readable for models: it finds the
// article in a page, and writes it as Markdown, text or plain HTML. It is the
// reader of the built-in tool web_fetch.
//
// Pages are untrusted, so nothing in one decides what it costs. They are parsed
// into a tree that is bounded in depth, elements and text, by rules of our own
// rather than by the standard's, under which a small page can expand to a huge
// tree. Nothing of a page is ever run, loaded or followed. Content that a page
// hides from people is left out, and so is every link that is no web or mail
// address.
package readable
