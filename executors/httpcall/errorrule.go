package httpcall

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolcrib/toolcrib/tool"
)

// ErrorRule maps matching answers to an outcome. It never makes a request safe to
// retry: an answer was received, so the request was sent.
type ErrorRule struct {
	// Status is the status to match: "404", or "4xx" for all of them. Empty for
	// any, 2xx included.
	Status string
	// Where points into the answer's JSON at a value that must equal Equals or,
	// without it, be neither absent, null, false, zero nor empty. Nil for any answer.
	Where  *Pointer
	Equals json.RawMessage // A string, number or boolean.
	// Kind is the outcome: "answer_error", an error result that the model reads;
	// or a failure: invalid, not_found, denied, conflict, rate_limited or
	// unavailable.
	Kind string
	// Message is the message: a literal, or a reference into the answer. Defaults
	// to the status and, for answer_error, the beginning of the answer.
	Message *Value
	// RetryAfter points at a number of seconds in the answer, for rate_limited
	// and unavailable. Defaults to the header Retry-After.
	RetryAfter *Pointer
}

// kindAnswerError completes a call with an error result.
const kindAnswerError = "answer_error"

const maxErrorRules = 32

// declarable lists the kinds that a rule may have.
var declarable = []string{
	kindAnswerError, string(tool.Invalid), string(tool.NotFound), string(tool.Denied),
	string(tool.Conflict), string(tool.RateLimited), string(tool.Unavailable),
}

// errorRuleJSON is the JSON form of a rule.
type errorRuleJSON struct {
	Status     string          `json:"status,omitempty"`
	Where      *Pointer        `json:"where,omitempty"`
	Equals     json.RawMessage `json:"equals,omitempty"`
	Kind       string          `json:"kind"`
	Message    *Value          `json:"message,omitempty"`
	RetryAfter *Pointer        `json:"retry_after,omitempty"`
}

// MarshalJSON implements [json.Marshaler].
func (r ErrorRule) MarshalJSON() ([]byte, error) { return json.Marshal(errorRuleJSON(r)) }

// UnmarshalJSON implements [json.Unmarshaler]. A status may be a number.
func (r *ErrorRule) UnmarshalJSON(raw []byte) error {
	*r = ErrorRule{}
	var status json.RawMessage
	err := readMembers(raw, map[string]any{
		"status": &status, "where": &r.Where, "equals": &r.Equals, "kind": &r.Kind, "message": &r.Message,
		"retry_after": &r.RetryAfter,
	})
	if err != nil || len(status) == 0 || isNull(status) {
		return err
	}
	text, ok := scalar(status)
	if !ok {
		return fault("/status", `want a status such as 404 or "4xx"`)
	}
	r.Status = text
	return nil
}

func (r *ErrorRule) check(path string) error {
	equals := kind(r.Equals)
	switch {
	case r.Status != "" && !validStatus(r.Status):
		return fault(path+"/status", fmt.Sprintf(`%.40q is not a status such as 404 or "4xx"`, r.Status))
	case r.Status == "" && r.Where == nil:
		return fault(path, "want a status, a pointer in where, or both: this would match every answer")
	case len(r.Equals) > 0 && r.Where == nil:
		return fault(path+"/where", "want the pointer to what is compared")
	case equals == '{' || equals == '[' || equals == 'n':
		return fault(path+"/equals", "want a string, number or boolean")
	case !slices.Contains(declarable, r.Kind):
		return fault(path+"/kind", fmt.Sprintf("%.40q is none of %s", r.Kind, strings.Join(declarable, ", ")))
	case r.Message != nil && r.Message.Style != "":
		return fault(path+"/message/style", "a message has no style")
	case r.RetryAfter != nil && r.Kind != string(tool.RateLimited) && r.Kind != string(tool.Unavailable):
		return fault(path+"/retry_after", "only for rate_limited and unavailable")
	case r.Where == nil && strings.HasPrefix(r.Status, "2"):
		return fault(path+"/where", "want a pointer: the rule would turn every 2xx answer into an error")
	}
	return nil
}

func validStatus(s string) bool {
	if len(s) != 3 || s[0] < '1' || s[0] > '5' {
		return false
	}
	_, err := strconv.Atoi(s)
	return err == nil || s[1:] == "xx"
}

// covers reports whether the rule matches a status.
func (r *ErrorRule) covers(status int) bool {
	text := strconv.Itoa(status)
	return r.Status == "" || r.Status == text || strings.HasSuffix(r.Status, "xx") && r.Status[:1] == text[:1]
}

// equal compares two JSON scalars by their value.
func equal(a, b json.RawMessage) bool {
	a, b = bytes.TrimSpace(a), bytes.TrimSpace(b)
	if bytes.Equal(a, b) {
		return true
	}
	if kind(a) == '"' && kind(b) == '"' {
		x, okX := scalar(a)
		y, okY := scalar(b)
		return okX && okY && x == y
	}
	x, errX := strconv.ParseFloat(string(a), 64)
	y, errY := strconv.ParseFloat(string(b), 64)
	return errX == nil && errY == nil && x == y
}

// says reports whether a JSON value is not null, false, zero or empty.
func says(raw json.RawMessage) bool {
	switch kind(raw) {
	case 0, 'n', 'f':
		return false
	case '"':
		s, ok := scalar(raw)
		return ok && s != ""
	case '{':
		object, err := readObject(raw)
		return err == nil && len(object) > 0
	case '[':
		var items []json.RawMessage
		return json.Unmarshal(raw, &items) == nil && len(items) > 0
	case 't':
		return true
	default:
		n, err := strconv.ParseFloat(string(bytes.TrimSpace(raw)), 64)
		return err != nil || n != 0
	}
}
