package openapi

import (
	"html"
	"regexp"
	"strings"
)

// proseFactor bounds the Markdown that is read for a text of a given length, in
// multiples of it: links and markup are longer than their text.
const proseFactor = 16

var (
	htmlComment   = regexp.MustCompile(`(?s)<!--.*?-->`)
	htmlTag       = regexp.MustCompile(`(?i)</?(?:a|abbr|b|blockquote|br|code|dd|details|div|dl|dt|em|font|h[1-6]|hr|i|img|kbd|li|ol|p|pre|small|span|strong|sub|summary|sup|table|tbody|td|th|thead|tr|u|ul)(?:\s[^<>]*)?/?>`)
	lineBreakTag  = regexp.MustCompile(`(?i)<(?:br|p|/p|li|/div|/tr|/h[1-6])(?:\s[^<>]*)?/?>`)
	image         = regexp.MustCompile(`!\[[^\]\n]*\](?:\([^)\n]*\)|\[[^\]\n]*\])`)
	inlineLink    = regexp.MustCompile(`\[([^\[\]\n]+)\](?:\((?:[^()\n]|\([^()\n]*\))*\)|\[[^\]\n]*\])`)
	autoLink      = regexp.MustCompile(`<((?:https?|mailto):[^<>\s]+)>`)
	linkTarget    = regexp.MustCompile(`(?m)^ {0,3}\[[^\]\n]+\]:\s+\S+.*$`)
	fence         = regexp.MustCompile("(?m)^[ \t]*(?:```|~~~).*$")
	heading       = regexp.MustCompile(`(?m)^ {0,3}#{1,6}[ \t]+(.*?)[ \t#]*$`)
	underline     = regexp.MustCompile(`(?m)^ {0,3}(?:={3,}|-{3,}|\*{3,}|_{3,})[ \t]*$`)
	admonition    = regexp.MustCompile(`(?m)^[ \t]*>[ \t]*\[!(\w+)\][ \t]*$`)
	quotation     = regexp.MustCompile(`(?m)^[ \t]*(?:>[ \t]?)+`)
	bullet        = regexp.MustCompile(`(?m)^([ \t]*)[*+][ \t]+`)
	tableRule     = regexp.MustCompile(`(?m)^[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*)+\|?[ \t]*$`)
	tableRow      = regexp.MustCompile(`(?m)^[ \t]*\|(.*)\|[ \t]*$`)
	strongText    = regexp.MustCompile(`(?:\*\*|__)(\S(?:[^\n]*?\S)?)(?:\*\*|__)`)
	starred       = regexp.MustCompile(`(^|[\s("'])\*(\S(?:[^*\n]*\S)?)\*`)
	underscored   = regexp.MustCompile(`(^|[\s("'])_([^\s_](?:[^_\n]*[^\s_])?)_($|[\s)"'.,;:!?])`)
	struck        = regexp.MustCompile(`~~([^~\n]+)~~`)
	escapedMark   = regexp.MustCompile(`\\([\\` + "`" + `*_{}\[\]()#+\-.!<>|~])`)
	codeSpan      = regexp.MustCompile("(`+)([^`\n]+)(`+)")
	spaces        = regexp.MustCompile(`[ \t]+`)
	indentedLines = regexp.MustCompile(`(?m)[ \t]+$`)
	emptyLines    = regexp.MustCompile(`\n{3,}`)
)

// prose is [clean] for a text that may be Markdown or HTML: it removes markup,
// link targets, images and rules, which cost tokens without information. Code
// keeps its text; lists stay lists, the cells of a table are joined by commas.
func prose(text string, limit int) string {
	text = clip(strings.ReplaceAll(text, "\r\n", "\n"), limit*proseFactor)
	if !strings.ContainsAny(text, "*_`[]<>#|~\\&=-") {
		return clean(text, limit)
	}
	text = fence.ReplaceAllString(text, "")
	for _, step := range []struct {
		what *regexp.Regexp
		with string
	}{
		{htmlComment, ""},
		{linkTarget, ""},
		{underline, ""},
		{tableRule, ""},
		{admonition, "$1:"},
		{quotation, ""},
		{heading, "$1"},
		{bullet, "$1- "},
	} {
		text = step.what.ReplaceAllString(text, step.with)
	}
	text = tableRow.ReplaceAllStringFunc(text, cells)
	return clean(tidy(outsideCode(text)), limit)
}

// outsideCode removes the markup within lines, and the marks of code spans, whose
// text stays as it is.
func outsideCode(text string) string {
	var b strings.Builder
	last := 0
	for _, at := range codeSpan.FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(withoutMarks(text[last:at[0]]))
		b.WriteString(text[at[4]:at[5]])
		last = at[1]
	}
	b.WriteString(withoutMarks(text[last:]))
	return b.String()
}

func withoutMarks(text string) string {
	for _, step := range []struct {
		what *regexp.Regexp
		with string
	}{
		{image, ""},
		{inlineLink, "$1"},
		{autoLink, "$1"},
		{lineBreakTag, "\n"},
		{htmlTag, ""},
		{strongText, "$1"},
		{starred, "$1$2"},
		{underscored, "$1$2$3"},
		{struck, "$1"},
		{escapedMark, "$1"},
	} {
		text = step.what.ReplaceAllString(text, step.with)
	}
	return html.UnescapeString(text)
}

// cells joins the cells of a table's row.
func cells(row string) string {
	var kept []string
	for cell := range strings.SplitSeq(strings.Trim(strings.TrimSpace(row), "|"), "|") {
		if cell = strings.TrimSpace(cell); cell != "" {
			kept = append(kept, cell)
		}
	}
	return strings.Join(kept, ", ")
}

// tidy removes redundant spaces and empty lines.
func tidy(text string) string {
	text = indentedLines.ReplaceAllString(spaces.ReplaceAllString(text, " "), "")
	return emptyLines.ReplaceAllString(text, "\n\n")
}
