package extract

import "strings"

// maxFrontMatter bounds how far the end of front matter is looked for, in bytes.
const maxFrontMatter = 64 << 10

// markdown reads a Markdown document. Its title is what its front matter says,
// or its first heading of the first level.
func markdown(s string) Text {
	front, body := frontMatter(s)
	title := front["title"]
	fenced := false
	for line := range strings.Lines(body) {
		if title != "" {
			break
		}
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			fenced = !fenced
		}
		if rest, ok := strings.CutPrefix(line, "# "); ok && !fenced {
			title = strings.TrimRight(strings.TrimSpace(rest), "# ")
		}
	}
	return Text{Content: s, Body: len(s) - len(body), Title: title}
}

// frontMatter splits off the block between lines of "---" that a document may
// begin with, and returns its members that are one line of text.
func frontMatter(s string) (front map[string]string, body string) {
	rest, ok := strings.CutPrefix(s, "---\n")
	if !ok {
		return nil, s
	}
	front = make(map[string]string)
	for at := 0; at < len(rest) && at < maxFrontMatter; {
		end := strings.IndexByte(rest[at:], '\n')
		if end < 0 {
			end = len(rest) - at
		}
		line := strings.TrimRight(rest[at:at+end], " \t")
		at = min(at+end+1, len(rest))
		if line == "---" || line == "..." {
			return front, rest[at:]
		}
		if key, value, ok := strings.Cut(line, ":"); ok && key != "" && key[0] != ' ' && key[0] != '#' {
			front[key] = unquote(strings.TrimSpace(value))
		}
	}
	return nil, s // A line across the page, and no front matter.
}

// unquote takes the quotes of YAML off a value.
func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `''`, `'`).Replace(s[1 : len(s)-1])
	}
	return s
}
