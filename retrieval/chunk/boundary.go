package chunk

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// back returns the start of the last n characters before end, at least start.
func back(text string, start, end, n int) int {
	for ; n > 0 && end > start; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:end])
		end -= size
	}
	return max(start, end)
}

// cut returns where to cut a block that does not fit: after from, at most at limit.
// Boundaries of items and sentences are preferred if they use at least half of the room;
// boundaries of words anywhere.
func cut(text string, k kind, from, limit int) int {
	enough := from + (limit-from)/2
	if k == list {
		if i := lastItem(text, enough, limit); i > enough {
			return i
		}
	}
	if k == list || k == table || k == code {
		if i := strings.LastIndexByte(text[enough:limit], '\n'); i >= 0 {
			return enough + i + 1
		}
	}
	if k != code {
		if i := lastSentence(text, enough, limit); i > enough {
			return i
		}
	}
	if i := lastWord(text, from, limit); i > from {
		return i
	}
	return limit
}

// lastItem returns the start of the last line in text[from:to] that starts a list item and is not
// indented; from if there is none.
func lastItem(text string, from, to int) int {
	for to > from {
		i := strings.LastIndexByte(text[from:to], '\n')
		if i < 0 {
			return from
		}
		start := from + i + 1
		if start < len(text) && text[start] != '\n' && isItem(text[start:min(len(text), start+12)]) {
			return start
		}
		to = start - 1
	}
	return from
}

// lastSentence returns the start of the last sentence that starts in text[from:to], or to if one
// ends there; from if there is none.
func lastSentence(text string, from, to int) int {
	if to < len(text) && text[to] <= ' ' && endsSentence(text[from:to]) {
		return to
	}
	begin := to // Of what follows the blanks that are passed.
	for i := to; i > from; {
		r, size := utf8.DecodeLastRuneInString(text[from:i])
		switch {
		case unicode.IsSpace(r):
		case wideStop(r):
			if i > from {
				return i
			}
		case i < begin && endsSentence(text[from:i]) && !goesOn(text[begin:]):
			return begin
		}
		i -= size
		if !unicode.IsSpace(r) {
			begin = i
		}
	}
	return from
}

// wideStop reports whether a rune ends a sentence without a following blank.
func wideStop(r rune) bool { return r == '。' || r == '！' || r == '？' }

// endsSentence reports whether a text ends with a full stop, possibly followed by a closing quote.
func endsSentence(text string) bool {
	for range 3 {
		r, size := utf8.DecodeLastRuneInString(text)
		switch r {
		case '.', '!', '?', '…':
			return true
		case '"', '\'', ')', ']', '*', '_', '”', '’', '»':
			text = text[:len(text)-size]
		default:
			return false
		}
	}
	return false
}

// goesOn reports whether a text continues a sentence, such as after "e.g.".
func goesOn(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return unicode.IsLower(r)
}

// lastWord returns the start of the last word that starts in text[from+1:to], or to if a word ends
// there; from if there is none.
func lastWord(text string, from, to int) int {
	if to == len(text) {
		return to
	}
	if r, _ := utf8.DecodeRuneInString(text[to:]); unicode.IsSpace(r) {
		return to
	}
	for i := to; i > from; {
		r, size := utf8.DecodeLastRuneInString(text[from:i])
		if unicode.IsSpace(r) {
			return i
		}
		i -= size
	}
	return from
}

// startAfter returns the start of an overlap: the first line that starts in text[from:to] if lines is
// set, else the first sentence, else the first word, else to, for none.
func startAfter(text string, lines bool, from, to int) int {
	if i := strings.IndexByte(text[from:to], '\n'); lines && i >= 0 {
		return skipBlank(text, from+i+1, to)
	}
	word := to
	blank, stop := false, false
	for i := from; i < to; {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case unicode.IsSpace(r):
			stop = stop || !blank && i > from && endsSentence(text[from:i])
			blank = true
		case blank && stop && !unicode.IsLower(r):
			return i
		case blank:
			word = min(word, i)
			blank, stop = false, false
		}
		if !unicode.IsSpace(r) {
			blank, stop = false, false
		}
		i += size
	}
	return word
}
