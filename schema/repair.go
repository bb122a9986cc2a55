package schema

import (
	"encoding/json"
	"strings"

	"github.com/kaptinlin/jsonrepair"
)

// maxRepairBytes bounds the text that is repaired: the library's cost grows
// with the square of its input.
const maxRepairBytes = 32 << 10

// looksLikeJSON reports whether text starts as an object or an array.
func looksLikeJSON(text string) bool {
	return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
}

// repairText reads JSON that stands in a code fence, is malformed, or both. It
// fails with tool.Invalid for text that was cut off, leaves something out, or
// can be read in more than one way.
func repairText(text string) (any, Receipt, error) {
	var receipt Receipt
	if inner, ok := unfence(text); ok {
		text = inner
		receipt = append(receipt, Edit{From: "text", To: "text", Rule: RuleCodeFence})
		if v, err := decodeValue(json.RawMessage(text)); err == nil && text != "" {
			return v, receipt, nil
		}
	}
	if len(text) > maxRepairBytes {
		return nil, nil, invalidValue("", "not JSON, and too large to be repaired")
	}
	if !looksLikeJSON(text) {
		return nil, nil, invalidValue("", "not JSON: expected an object")
	}
	if reason := scan(text); reason != "" {
		return nil, nil, invalidValue("", reason)
	}
	repaired, err := jsonrepair.Repair(text)
	if err != nil {
		return nil, nil, invalidValue("", "not JSON, and not to be repaired with certainty")
	}
	v, err := decodeValue(json.RawMessage(repaired))
	if err != nil {
		return nil, nil, err
	}
	if text[0] == '{' && kindOf(v) == "array" { // Several objects, one after the other.
		return nil, nil, invalidValue("", "expected one JSON object, got several")
	}
	return v, append(receipt, Edit{From: "text", To: kindOf(v), Rule: RuleRepair}), nil
}

// unfence returns what stands in the one code fence that makes up text.
func unfence(text string) (string, bool) {
	body, ok := strings.CutPrefix(text, "```")
	if !ok {
		return "", false
	}
	body = strings.TrimSuffix(strings.TrimSpace(body), "```")
	if strings.Contains(body, "\n```") {
		return "", false
	}
	if i := strings.IndexAny(body, "\n{["); i >= 0 && isWord(strings.TrimSpace(body[:i])) {
		body = body[i:]
	}
	return strings.TrimSpace(body), true
}

// isWord reports whether s can be the language tag of a code fence.
func isWord(s string) bool {
	return len(s) <= 16 && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") == ""
}
