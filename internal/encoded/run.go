package encoded

// radix is an encoding of bytes as digits of a number of bits each.
type radix struct {
	values *[256]byte // Of each digit; 0xff for what is none.
	bits   int
	least  int // Shorter runs of digits are not decoded.
}

var (
	base64 = radix{values: &sextet, bits: 6, least: 6}
	base16 = radix{values: &digit, bits: 4, least: 8}
)

// phases is the number of alignments of a byte in digits.
func (r radix) phases() int {
	if r.bits == 6 {
		return 4
	}
	return 2
}

// sextet is the value of each digit of base64, of both alphabets.
var sextet = func() (values [256]byte) {
	for i := range values {
		values[i] = 0xff
	}
	for i := range byte(26) {
		values['A'+i], values['a'+i] = i, 26+i
	}
	for i := range byte(10) {
		values['0'+i] = 52 + i
	}
	values['+'], values['-'], values['/'], values['_'] = 62, 62, 63, 63
	return values
}()

// run is a range of digits, possibly with line breaks.
type run struct {
	start, end int
	digits     int
	broken     bool
}

// next returns the first run of text at or after i that is long enough.
func (r radix) next(text []byte, i int) (run, bool) {
	for i < len(text) {
		for i < len(text) && r.values[text[i]] == 0xff {
			i++
		}
		found := run{start: i}
		for i < len(text) {
			if r.values[text[i]] != 0xff {
				i++
				found.digits++
				continue
			}
			after := lineBreak(text, i)
			if after == i || after == len(text) || r.values[text[after]] == 0xff {
				break
			}
			found.broken, i = true, after
		}
		if found.end = i; found.digits >= r.least {
			return found, true
		}
	}
	return run{}, false
}

// lineBreak returns where the line break at i ends, with the white space about
// it; i where there is none.
func lineBreak(text []byte, i int) int {
	at, broken := i, false
	for at < len(text) && isSpace(text[at]) {
		broken = broken || text[at] == '\n' || text[at] == '\r'
		at++
	}
	if !broken {
		return i
	}
	return at
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\r' || b == '\n' }

// digits appends the values of a run's digits to dst.
func (r radix) digits(dst, text []byte, found run) []byte {
	for _, b := range text[found.start:found.end] {
		if v := r.values[b]; v != 0xff {
			dst = append(dst, v)
		}
	}
	return dst
}

// places appends where the digits of a run are in text.
func (r radix) places(dst []int32, text []byte, found run) []int32 {
	for i := found.start; i < found.end; i++ {
		if r.values[text[i]] != 0xff {
			dst = append(dst, int32(i)) //nolint:gosec // Texts are shorter than 2 GB.
		}
	}
	return dst
}

// decode appends the bytes that digits stand for.
func (r radix) decode(dst, digits []byte) []byte {
	if r.bits == 4 {
		for ; len(digits) >= 2; digits = digits[2:] {
			dst = append(dst, digits[0]<<4|digits[1])
		}
		return dst
	}
	for ; len(digits) >= 4; digits = digits[4:] {
		dst = append(dst, digits[0]<<2|digits[1]>>4, digits[1]<<4|digits[2]>>2, digits[2]<<6|digits[3])
	}
	if len(digits) >= 2 {
		dst = append(dst, digits[0]<<2|digits[1]>>4)
	}
	if len(digits) == 3 {
		dst = append(dst, digits[1]<<4|digits[2]>>2)
	}
	return dst
}

// span returns the digits that hold bits of the bytes from i to j.
func (r radix) span(i, j int) (first, last int) {
	return i * 8 / r.bits, (j*8 - 1) / r.bits
}
