package textcall

import (
	"slices"
	"strings"
)

// maxLead bounds the words before and after a call that are considered.
const maxLead = 320

// alone reports whether JSON that stands from start to end, in no markup, begins and ends
// its lines: nothing is before it but words that end with a colon, and nothing behind it.
func (f *finder) alone(start, end int) bool {
	if f.quoted(start) {
		return false
	}
	before := strings.TrimSpace(f.before(start))
	after, _, _ := strings.Cut(f.text[end:min(len(f.text), end+maxLead)], "\n")
	if strings.Trim(after, " \t\r") != "" {
		return false
	}
	return isBullet(before) || strings.HasSuffix(before, ":") || strings.HasSuffix(before, "：")
}

// before returns the part of the line before pos, from the last call or thought on.
func (f *finder) before(pos int) string {
	from := max(f.edge, pos-maxLead)
	part := f.text[from:pos]
	return part[strings.LastIndexByte(part, '\n')+1:]
}

// quoted reports whether the line of pos is a quotation or a row of a table.
func (f *finder) quoted(pos int) bool {
	before := strings.TrimSpace(f.before(pos))
	return strings.HasPrefix(before, ">") || strings.HasPrefix(before, "|")
}

// isBullet reports whether a text is nothing but the sign of an item of a list, or nothing.
func isBullet(s string) bool {
	return len(s) < 6 && strings.Trim(s, "-*+•0123456789.)( ") == ""
}

// mentioned reports whether the words around calls, from start to end, say that they are only
// spoken of.
func (f *finder) mentioned(start, end int) bool {
	if f.refused > 0 && f.refused <= start && joins(f.text[f.refused:start]) {
		return true // One of several examples.
	}
	lead, above := f.lead(start)
	return isMention(lead) || hasAny(above, exampleWords) || hasAny(f.tail(end), tailWords)
}

// joins reports whether a text between two calls says nothing.
func joins(s string) bool {
	if len(s) > 16 {
		s = strings.TrimSpace(s)
	}
	word := strings.Trim(s, " \t\r\n-*+•0123456789.,;:)(")
	return slices.Contains([]string{"", "or", "and", "oder", "und"}, strings.ToLower(word))
}

// lead returns the sentence before pos, and the line above it if that is a heading or ends
// with a colon, both in lower case.
func (f *finder) lead(pos int) (sentence, above string) {
	from := max(f.edge, pos-2*maxLead)
	lines := strings.FieldsFunc(strings.ToLower(f.text[from:pos]), func(r rune) bool { return r == '\n' || r == '\r' })
	lines = slices.DeleteFunc(lines, func(line string) bool { return isBullet(strings.TrimSpace(line)) })
	if len(lines) == 0 {
		return "", ""
	}
	if len(lines) > 1 {
		above = strings.Trim(lines[len(lines)-2], " \t*_")
		if !strings.HasPrefix(above, "#") && !strings.HasSuffix(above, ":") {
			above = ""
		}
	}
	return lastSentence(plain(lines[len(lines)-1])), plain(above)
}

// tail returns the sentence behind pos in lower case, up to the next markup.
func (f *finder) tail(pos int) string {
	text := strings.TrimLeft(f.text[pos:min(len(f.text), pos+maxLead)], " \t\r\n.,;")
	if i := strings.IndexAny(text, "\n{<`"); i >= 0 {
		text = text[:i]
	}
	return plain(strings.ToLower(text))
}

// plain writes abbreviations and names that would be misread in another way.
func plain(s string) string {
	return plainer.Replace(strings.TrimSpace(s))
}

var plainer = strings.NewReplacer(
	"e.g.", "example", "z. b.", "example", "z.b.", "example", "p. ex.", "example", "p. ej.", "example",
	"example.com", "", "example.org", "", "example.net", "", "’", "'",
)

func lastSentence(s string) string {
	body := strings.TrimRight(s, " .!?:*_")
	for _, end := range []string{". ", "! ", "? "} {
		if i := strings.LastIndex(body, end); i >= 0 {
			body, s = body[i+2:], s[i+2:]
		}
	}
	return s
}

// isMention reports whether the sentence before a call says that it is none that is to be
// made: an example, a proposal, a report, or data.
func isMention(sentence string) bool {
	if hasAny(sentence, exampleWords) || hasAny(sentence, proposalWords) {
		return true
	}
	for _, word := range reportWords {
		if i := strings.Index(sentence, word); i >= 0 && !hasAny(sentence[i:], intentWords) {
			return true
		}
	}
	end := strings.TrimRight(sentence, " :*_`")
	return slices.ContainsFunc(dataWords, func(word string) bool { return strings.HasSuffix(" "+end, " "+word) })
}

func hasAny(s string, words []string) bool {
	return s != "" && slices.ContainsFunc(words, func(word string) bool { return strings.Contains(s, word) })
}

// Words by what they say of a call beside them, in lower case.
var (
	exampleWords = []string{
		"example", "for instance", "looks like", "look like", "something like", "syntax", "the format is", "format of",
		"format for", "template", "placeholder", "hypothetical", "illustrat", "sample call", "sample request",
		"how to call", "how to use", "how a call", "how calls", "how you",
		"beispiel", "ejemplo", "exempl", "esempio",
	}
	proposalWords = []string{
		"would call", "would use", "would be", "would send", "would make", "would run", "would write", "'d call", "'d use",
		"could call", "could use", "could be", "could send", "you can", "you could", "you would", "you should", "you might",
		"one could", "if you", "don't call", "do not call", "not call", "not use", "not run", "not send", "not make",
		"n't use", "n't run", "n't send", "n't make", "never call", "never send", "instead of", "user wrote", "user sent",
	}
	reportWords = []string{
		"i called", "i used", "i ran ", "i made", "i sent", "i have called", "i've called", "i have made", "i have sent",
		"already called", "was called", "was made", "was sent", "previously", "earlier call", "previous call", "last call",
	}
	// intentWords behind a report say what comes next.
	intentWords = []string{"i'll", "i will", "let me", "now", "so i", "so, i", "again", "going to", "next"}
	dataWords   = []string{
		"result", "results", "response", "output", "returned", "received", "answered", "log", "logs", "definition",
		"definitions", "schema", "configuration", "config", "entry", "record", "reply", "document", "file", "says", "wrong",
		"incorrect", "invalid", "bad", "not like this",
	}
	tailWords = []string{
		"this example", "is an example", "are examples", "only an example", "just an example", "is how", "are placeholder",
		"a placeholder", "replace ", "this would", "that would", "it would", "which would", "this could", "this call would",
		"shall i", "should i", "do you want", "would you like me", "may i ", "please confirm", "is that ok", "is this ok",
		"is that okay", "is this okay",
	}
)
