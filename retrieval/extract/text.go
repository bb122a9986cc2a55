package extract

import "strings"

// maxFrontMatter bounds the front matter, in bytes.
const maxFrontMatter = 64 << 10

// markdown reads a Markdown document. Its title is in its front matter, or else its first heading of
// level one.
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

// frontMatter splits off an initial block between lines of "---", and returns its members of one
// line.
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
	return nil, s // A thematic break, not front matter.
}

// unquote removes YAML quotes from a value.
func unquote(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return strings.NewReplacer(`\"`, `"`, `\\`, `\`, `''`, `'`).Replace(s[1 : len(s)-1])
	}
	return s
}
