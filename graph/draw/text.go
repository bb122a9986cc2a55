package draw

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks is how many marks that combine with a letter are kept.
const maxMarks = 2

// plain returns a text on one line without what is not shown or changes how others are: control
// characters, directions of writing, and towers of marks. What is no UTF-8 is replaced.
func plain(text string) string {
	var out strings.Builder
	marks, space := 0, false
	for _, r := range text {
		if unicode.In(r, unicode.Mn, unicode.Me) {
			if marks++; marks > maxMarks {
				continue
			}
		} else {
			marks = 0
		}
		switch {
		case unicode.IsSpace(r):
			space = out.Len() > 0
			continue
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs), r == 0xFFFE, r == 0xFFFF:
			continue
		}
		if space {
			out.WriteByte(' ')
			space = false
		}
		out.WriteRune(r)
	}
	return out.String()
}

// columns is how wide a character is; wide ones are those of East Asia, and pictures.
func columns(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	case r < 0x1100:
		return 1
	default:
		return 2
	}
}

func width(text string) int {
	sum := 0
	for _, r := range text {
		sum += columns(r)
	}
	return sum
}

// clip shortens a plain text to a number of columns.
func clip(text string, most int) string {
	if width(text) <= most {
		return text
	}
	sum := 0
	for i, r := range text {
		if sum += columns(r); sum > most-1 {
			return text[:i] + "…"
		}
	}
	return text
}

// bounded shortens a plain text that is not seen as a whole, such as one that a pointer shows.
func bounded(text string) string {
	const most = 400
	if len(text) <= most {
		return text
	}
	end := most
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

var escaper = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;")

// escape makes a plain text part of XML, in attributes too.
func escape(text string) string { return escaper.Replace(text) }
