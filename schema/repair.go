package schema

import (
	"encoding/json"
	"strings"

	"github.com/toolcrib/toolcrib/schema/jsonvalue"
)

// looksLikeJSON reports whether text starts as an object or an array.
func looksLikeJSON(text string) bool {
	return strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[")
}

// repairText parses JSON that is in a code fence, is malformed, or both. It fails with
// tool.Invalid for text that is truncated, leaves something out, or is ambiguous, and for
// valid JSON that the strict decoder refuses.
func repairText(text string) (*jsonvalue.Value, Receipt, error) {
	var receipt Receipt
	if inner, ok := unfence(text); ok {
		text = inner
		receipt = append(receipt, Edit{From: "text", To: "text", Rule: RuleCodeFence})
	}
	v, err := decodeValue(json.RawMessage(text))
	if err == nil && text != "" {
		return v, receipt, nil
	}
	if breaksRule(err) {
		return nil, nil, err
	}
	if !looksLikeJSON(text) {
		return nil, nil, invalidValue("", "not JSON: expected an object")
	}
	if v, err = mend(text); err != nil {
		return nil, nil, err
	}
	return v, append(receipt, Edit{From: "text", To: kindName(v), Rule: RuleRepair}), nil
}

// Mend decodes text that is nearly JSON, such as a Python literal, where it can be read in one
// way only. It fails with tool.Invalid for all other text, truncated text included. Its cost
// is linear.
func Mend(text string) (*jsonvalue.Value, error) { return mend(text) }

// unfence returns the content of a text that is one code fence.
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
