package jsonvalue

import (
	"strconv"
	"strings"
)

// MaxNumberLength bounds the spelling of a number, in bytes.
const MaxNumberLength = 1000

// numberLength returns the length of the number at the start of text by JSON's grammar, in bytes; 0 for
// none.
func numberLength(text string) int {
	i := 0
	digits := func() bool {
		start := i
		for i < len(text) && text[i]-'0' <= 9 {
			i++
		}
		return i > start
	}
	if i < len(text) && text[i] == '-' {
		i++
	}
	if i < len(text) && text[i] == '0' {
		i++
	} else if !digits() {
		return 0
	}
	if i < len(text) && text[i] == '.' {
		i++
		if !digits() {
			return 0
		}
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		i++
		if i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		if !digits() {
			return 0
		}
	}
	return i
}

// CheckNumber returns why text is not an allowed number; empty if it is. Digits keep their spelling, but
// the magnitude must be in the range of a float64, as most readers decode it: 1e400 would be infinite and
// 1e-400 zero.
func CheckNumber(text string) (reason string) {
	switch {
	case text == "" || numberLength(text) != len(text):
		return "not a number"
	case len(text) > MaxNumberLength:
		return "a number with too many digits"
	case len(text) <= 15 && !strings.ContainsAny(text, "eE"):
		return ""
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f == 0 && !zero(text) {
		return "a number out of range"
	}
	return ""
}

// zero reports whether all digits of a number's spelling are 0.
func zero(literal string) bool {
	mantissa, _, _ := strings.Cut(strings.ToLower(literal), "e")
	return strings.Trim(mantissa, "-0.") == ""
}

// Decimal is the value of a number without its spelling: ±Digits × 10^Exponent, where Digits has no zero at
// either end. Zero has no digits. Equal numbers have equal Decimals.
type Decimal struct {
	Negative bool
	Digits   string
	Exponent int
}

// DecimalOf returns the value of a number's spelling.
func DecimalOf(literal string) Decimal {
	mantissa, exponent := literal, 0
	if i := strings.IndexAny(literal, "eE"); i >= 0 {
		mantissa = literal[:i]
		exponent, _ = strconv.Atoi(literal[i+1:]) // In range: it was checked, or it is zero's.
	}
	d := Decimal{Negative: strings.HasPrefix(mantissa, "-")}
	whole, fraction, _ := strings.Cut(strings.TrimPrefix(mantissa, "-"), ".")
	digits := whole
	if fraction != "" {
		digits += fraction
	}
	digits = strings.TrimLeft(digits, "0")
	d.Digits = strings.TrimRight(digits, "0")
	if d.Digits == "" {
		return Decimal{}
	}
	d.Exponent = exponent - len(fraction) + len(digits) - len(d.Digits)
	return d
}

// Integer reports whether the number is an integer.
func (d Decimal) Integer() bool { return d.Digits == "" || d.Exponent >= 0 }
