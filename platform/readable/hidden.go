package readable

import (
	"strconv"
	"strings"
)

// hidden reports whether an element's own attributes hide it from people. What
// style sheets hide is not known here.
func hidden(attrs map[string]string) bool {
	if _, ok := attrs["hidden"]; ok || strings.EqualFold(attrs["aria-hidden"], "true") {
		return true
	}
	for declaration := range strings.SplitSeq(attrs["style"], ";") {
		property, value, _ := strings.Cut(declaration, ":")
		value, _, _ = strings.Cut(strings.ToLower(value), "!")
		if conceals(strings.ToLower(strings.TrimSpace(property)), strings.TrimSpace(value)) {
			return true
		}
	}
	return false
}

// outside is the offset, in pixels, at which an element is off-screen.
const outside = -999

func conceals(property, value string) bool {
	switch property {
	case "display":
		return value == "none"
	case "visibility":
		return value == "hidden" || value == "collapse"
	case "opacity", "font-size", "zoom":
		n, ok := number(value)
		return ok && n == 0
	case "left", "top", "right", "bottom", "text-indent", "margin-left", "margin-top":
		n, ok := number(value)
		return ok && n <= outside
	case "clip":
		return strings.Trim(value, "rect() ,0px1") == "" && value != ""
	default:
		return false
	}
}

// number reads the number that a value begins with.
func number(value string) (float64, bool) {
	n, err := strconv.ParseFloat(strings.TrimRight(value, "abcdefghijklmnopqrstuvwxyz% "), 64)
	return n, err == nil
}
