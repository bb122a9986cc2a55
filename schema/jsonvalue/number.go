package jsonvalue

import (
	"strconv"
	"strings"
)

// MaxNumberLength is the most bytes that a number's spelling may have.
const MaxNumberLength = 1000

// numberLength returns how many bytes of text, from its start, are a number by
// JSON's grammar; 0 when it does not start as one.
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

// CheckNumber says why text is no number that may pass: an empty reason when it
// may. Digits are kept as spelled, but the magnitude must be a float64's, since
// that is how most readers hold it: 1e400 would be infinite and 1e-400 zero.
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

// Decimal is a number without its spelling: ±Digits × 10^Exponent, where Digits
// has no zero at either end. Zero has no digits. Equal numbers have equal
// Decimals.
type Decimal struct {
	Negative bool
	Digits   string
	Exponent int
}

// DecimalOf returns what a number's spelling means.
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

// Integer reports whether the number is whole.
func (d Decimal) Integer() bool { return d.Digits == "" || d.Exponent >= 0 }
