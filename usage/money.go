package usage

import (
	"fmt"
	"strconv"
	"strings"
)

// Micros is an amount of money in millionths of the currency.
type Micros int64

const (
	micros   = 1_000_000
	decimals = 6
	// MaxMicros is the largest amount that a price may have: a million.
	MaxMicros Micros = 1_000_000 * micros
)

// ParseMoney reads a decimal number such as "0.25": digits, and at most six behind a point. The
// amount is exact, and at most the one given.
func ParseMoney(text string, most Micros) (Micros, error) {
	whole, part, pointed := strings.Cut(text, ".")
	digits := whole + part
	if whole == "" || pointed && part == "" || len(part) > decimals || strings.Trim(digits, "0123456789") != "" {
		return 0, fmt.Errorf("%q is no amount: write a decimal number with at most %d digits behind the point, such as 0.25",
			text, decimals)
	}
	n, err := strconv.ParseInt(digits+strings.Repeat("0", decimals-len(part)), 10, 64)
	if err != nil || Micros(n) > most {
		return 0, fmt.Errorf("the amount %s is too large: at most %s", text, most)
	}
	return Micros(n), nil
}

// String returns the amount as a decimal number, with at least two digits behind the point.
func (m Micros) String() string {
	sign, whole, rest := "", m/micros, m%micros
	if m < 0 {
		sign, whole, rest = "-", -whole, -rest
	}
	part := strings.TrimRight(fmt.Sprintf("%06d", int64(rest)), "0")
	for len(part) < 2 {
		part += "0"
	}
	return fmt.Sprintf("%s%d.%s", sign, int64(whole), part)
}
