package encoded

import (
	"bytes"
	"html"
	"unicode/utf16"
	"unicode/utf8"
)

// escapes are kinds of escape sequences.
type escapes uint8

const (
	percent   escapes = 1 << iota // %41, %u0041
	entity                        // &amp; &#65; &#x41;
	backslash                     // \n \/ \" \u0041 \x41
	plus                          // + for a space, in forms
	noEscapes escapes = 0
	anyEscape         = percent | entity | backslash
)

var escapeOf = [256]escapes{'%': percent, '&': entity, '\\': backslash, '+': plus}

// maxEscape is the length of the longest escape sequence, a named entity.
const maxEscape = 34

// offsets maps each decoded byte to its range in the source.
type offsets struct{ from, to []int32 }

func (o *offsets) add(count, from, to int) {
	for range count {
		o.from = append(o.from, int32(from)) //nolint:gosec // Texts are shorter than 2 GB.
		o.to = append(o.to, int32(to))       //nolint:gosec // Texts are shorter than 2 GB.
	}
}

// decode appends src to dst with the escape sequences of the given kinds decoded once, and
// returns the kinds it found. With rec, it records the source of each byte. With at, it
// appends the positions of decoded digits and white space in dst. With cut, it stops
// before an incomplete escape sequence at the end of src.
func (kinds escapes) decode(dst, src []byte, rec *offsets, at *[]int32, cut bool) (decoded []byte, met escapes) {
	var value [16]byte
	start := 0
	literal := func(end int) {
		dst = append(dst, src[start:end]...)
		if rec != nil {
			for i := start; i < end; i++ {
				rec.add(1, i, i+1)
			}
		}
	}
	for i := 0; i < len(src); {
		kind := escapeOf[src[i]] & kinds
		if kind == noEscapes {
			i++
			continue
		}
		n, size := kind.read(&value, src[i:min(len(src), i+maxEscape)])
		if size == 0 {
			if cut && kind.unfinished(src[i:]) {
				literal(i)
				return dst, met
			}
			i++
			continue
		}
		met |= kind
		literal(i)
		if at != nil && n == 1 && (sextet[value[0]] != 0xff || isSpace(value[0])) {
			*at = append(*at, int32(len(dst))) //nolint:gosec // Texts are shorter than 2 GB.
		}
		dst = append(dst, value[:n]...)
		if rec != nil {
			rec.add(n, i, i+size)
		}
		i += size
		start = i
	}
	literal(len(src))
	return dst, met
}

// read decodes the escape sequence at the start of src. It returns the number of bytes of
// value, and its size, which is 0 without one.
func (kinds escapes) read(value *[16]byte, src []byte) (n, size int) {
	switch kinds {
	case plus:
		value[0] = ' '
		return 1, 1
	case percent:
		if code, ok := hexadecimal(src, 1, 2); ok {
			value[0] = byte(code) //nolint:gosec // Two digits.
			return 1, 3
		}
		if len(src) > 1 && (src[1] == 'u' || src[1] == 'U') {
			if code, ok := hexadecimal(src, 2, 4); ok && utf8.ValidRune(code) {
				return utf8.EncodeRune(value[:], code), 6
			}
		}
	case backslash:
		return readBackslash(value, src)
	case entity:
		return readEntity(value, src)
	case noEscapes, anyEscape:
	}
	return 0, 0
}

// unfinished reports whether src is the beginning of an escape sequence.
func (kinds escapes) unfinished(src []byte) bool {
	if len(src) >= maxEscape {
		return false
	}
	src = src[1:]
	switch {
	case kinds == entity:
		for _, b := range src {
			if b != '#' && !alphanumeric(b) {
				return false
			}
		}
		return true
	case len(src) == 0:
		return true
	case src[0] == 'u' || src[0] == 'U' || src[0] == 'x' && kinds == backslash:
		src = src[1:]
		if kinds == backslash && len(src) > 4 { // The second half of a surrogate pair.
			src = src[:4+max(0, min(len(src)-6, 4))]
		}
	case kinds == backslash:
		return false
	}
	for _, b := range src {
		if digit[b] > 15 {
			return false
		}
	}
	return true
}

var simple = [256]byte{
	'"': '"', '\'': '\'', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'a': '\a',
	'v': '\v',
}

func readBackslash(value *[16]byte, src []byte) (n, size int) {
	if len(src) < 2 {
		return 0, 0
	}
	if b := simple[src[1]]; b != 0 {
		value[0] = b
		return 1, 2
	}
	switch src[1] {
	case 'x':
		if code, ok := hexadecimal(src, 2, 2); ok {
			value[0] = byte(code) //nolint:gosec // Two digits.
			return 1, 4
		}
	case 'u':
		code, ok := hexadecimal(src, 2, 4)
		switch {
		case !ok:
		case !utf16.IsSurrogate(code):
			return utf8.EncodeRune(value[:], code), 6
		case bytes.HasPrefix(src[6:], []byte(`\u`)):
			low, ok := hexadecimal(src, 8, 4)
			if pair := utf16.DecodeRune(code, low); ok && pair != utf8.RuneError {
				return utf8.EncodeRune(value[:], pair), 12
			}
		}
	case 'U':
		if code, ok := hexadecimal(src, 2, 8); ok && utf8.ValidRune(code) {
			return utf8.EncodeRune(value[:], code), 10
		}
	}
	return 0, 0
}

func readEntity(value *[16]byte, src []byte) (n, size int) {
	end, closed := 1, false
	for end < len(src) && (alphanumeric(src[end]) || src[end] == '#' && end == 1) {
		end++
	}
	if end < 3 {
		return 0, 0
	}
	if end < len(src) && src[end] == ';' {
		end, closed = end+1, true
	}
	switch name := src[1:end]; string(bytes.TrimSuffix(name, []byte(";"))) {
	case "amp":
		value[0] = '&'
		return 1, end
	case "quot", "#34":
		value[0] = '"'
		return 1, end
	case "lt":
		value[0] = '<'
		return 1, end
	case "gt":
		value[0] = '>'
		return 1, end
	case "#39", "apos":
		value[0] = '\''
		return 1, end
	}
	if !closed && src[1] != '#' {
		return 0, 0
	}
	text := html.UnescapeString(string(src[:end]))
	if len(text) > len(value) || text == string(src[:end]) {
		return 0, 0
	}
	return copy(value[:], text), end
}

// digit is the value of each hexadecimal digit; above 15 for other bytes.
var digit = func() (values [256]byte) {
	for i := range values {
		values[i] = 0xff
	}
	for i := range byte(10) {
		values['0'+i] = i
	}
	for i := range byte(6) {
		values['a'+i], values['A'+i] = 10+i, 10+i
	}
	return values
}()

// hexadecimal reads the number of so many digits at src[at:].
func hexadecimal(src []byte, at, digits int) (rune, bool) {
	if len(src) < at+digits {
		return 0, false
	}
	var code rune
	for _, b := range src[at : at+digits] {
		d := digit[b]
		if d > 15 || code > utf8.MaxRune {
			return 0, false
		}
		code = code<<4 | rune(d)
	}
	return code, true
}

func alphanumeric(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z'
}
