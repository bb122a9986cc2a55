package definition

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/confirm"
	"github.com/toolcrib/toolcrib/internal/nearest"
	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/tool"
)

// checkConfirmation checks when a tool with the given input schema asks for approvals, and how.
func checkConfirmation(c *tool.Confirmation, input json.RawMessage) error {
	const at = "/interaction/confirmation"
	if c == nil {
		return nil
	}
	program, err := confirm.Compile(*c)
	if err != nil {
		return refusal.Within(at, err)
	}
	if err := CheckConditionFields(program, input); err != nil {
		return refusal.Within(at, err)
	}
	if c.Approvals < 0 || c.Approvals > tool.MaxApprovals {
		return refusal.New(tool.Invalid, at+"/approvals", "%d approvals: expected 1 to %d", c.Approvals, tool.MaxApprovals)
	}
	expires := time.Duration(c.ExpiresSeconds) * time.Second
	if c.ExpiresSeconds != 0 && (expires < tool.MinConfirmationExpires || expires > tool.MaxConfirmationExpires) {
		return refusal.New(tool.Invalid, at+"/expires_s", "%d seconds: expected %d to %d", c.ExpiresSeconds,
			int(tool.MinConfirmationExpires.Seconds()), int(tool.MaxConfirmationExpires.Seconds()))
	}
	return checkEscalation(c, cmp.Or(expires, tool.DefaultConfirmationExpires), at)
}

// checkEscalation checks who may decide requests that waited for long. They wait for the given time.
func checkEscalation(c *tool.Confirmation, expires time.Duration, at string) error {
	after := time.Duration(c.EscalateAfterSeconds) * time.Second
	switch {
	case c.EscalateTo == "" && after == 0:
		return nil
	case c.EscalateTo == "":
		return refusal.New(tool.Invalid, at+"/escalate_to",
			"escalate_after_s needs escalate_to, the permission of those who may decide by then")
	case after < tool.MinEscalation || after >= expires:
		return refusal.New(tool.Invalid, at+"/escalate_after_s",
			"%d seconds: expected %d at least, and less than the %d of expires_s", c.EscalateAfterSeconds,
			int(tool.MinEscalation.Seconds()), int(expires.Seconds()))
	}
	return nil
}

// CheckConditionFields fails with tool.Invalid, at the path, for a condition or message that names a
// member of input which the input schema does not allow: it could never be evaluated. Schemas
// that allow further members, or are not plain objects, allow all names.
func CheckConditionFields(of *confirm.Program, input json.RawMessage) error {
	var read struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Patterns   map[string]json.RawMessage `json:"patternProperties"`    //nolint:tagliatelle // JSON Schema's.
		Further    json.RawMessage            `json:"additionalProperties"` //nolint:tagliatelle // JSON Schema's.
	}
	if json.Unmarshal(input, &read) != nil || string(read.Further) != "false" || len(read.Patterns) > 0 {
		return nil //nolint:nilerr // Another check is about schemas that are none.
	}
	for _, field := range of.Fields() {
		if _, ok := read.Properties[field.Name]; ok {
			continue
		}
		known := slices.Sorted(maps.Keys(read.Properties))
		hint := "it has " + strings.Join(known, ", ")
		if meant := nearest.Name(field.Name, known); meant != "" {
			hint = fmt.Sprintf("did you mean %q?", meant)
		}
		return refusal.New(tool.Invalid, field.Path, "the input has no property %.80q: %s", field.Name, tool.Clip(hint, 400))
	}
	return nil
}
