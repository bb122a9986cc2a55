package schema

import "encoding/json"

// Rule names a change of a payload. Rules are stored: never rename one.
type Rule string

// Rules, first for text, then for values.
const (
	RuleEmpty        Rule = "empty_to_object"     // Empty text means no arguments.
	RuleJSONText     Rule = "json_text"           // A string contained JSON text.
	RuleBareText     Rule = "text_to_string"      // Plain text, where a bare string was expected.
	RuleCodeFence    Rule = "code_fence"          // The JSON was in a code fence.
	RuleRepair       Rule = "json_repair"         // The JSON was malformed, but complete.
	RuleUnwrap       Rule = "unwrap_arguments"    // The arguments were under a name such as "arguments".
	RuleSoleProperty Rule = "to_sole_property"    // The payload is the value of the one required property.
	RuleRename       Rule = "property_spelling"   // A property differed in case, dashes or underscores.
	RuleAlias        Rule = "property_alias"      // A property had a common alias.
	RuleDropNull     Rule = "null_to_absent"      // An optional property was null.
	RuleNumber       Rule = "string_to_number"    // "5" for 5.
	RuleBoolean      Rule = "string_to_boolean"   // "true" for true.
	RuleNull         Rule = "string_to_null"      // "null" for null.
	RuleText         Rule = "scalar_to_string"    // 5 for "5".
	RuleEnum         Rule = "enum_spelling"       // A member of an enum differed in case or spacing.
	RuleList         Rule = "value_to_array"      // One value where an array was expected.
	RuleSingle       Rule = "single_item_to_item" // An array of one where a value was expected.
	RuleOverride     Rule = "override_default"    // An argument was left out, and an override has a default for it.
)

// Edit is one change by [Schema.Prepare]. It contains no values.
type Edit struct {
	Path string `json:"path"` // JSON Pointer into the prepared value; empty for the whole.
	From string `json:"from"` // Kind before.
	To   string `json:"to"`   // Kind after.
	Rule Rule   `json:"rule"`
}

// Receipt lists the changes in order. It is empty for a valid payload.
type Receipt []Edit

// JSON returns the stored form of the receipt: nil for no changes.
func (r Receipt) JSON() json.RawMessage {
	if len(r) == 0 {
		return nil
	}
	raw, err := json.Marshal(r)
	if err != nil { // Strings only: it cannot fail.
		return nil
	}
	return raw
}
