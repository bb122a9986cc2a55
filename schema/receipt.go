package schema

import "encoding/json"

// Rule names what was done to a payload. Rules are stored: never rename one.
type Rule string

// Rules, first those for text, then those for values.
const (
	RuleEmpty        Rule = "empty_to_object"     // Nothing at all stands for no arguments.
	RuleJSONText     Rule = "json_text"           // A string held JSON text.
	RuleBareText     Rule = "text_to_string"      // Plain text, where a bare string was wanted.
	RuleCodeFence    Rule = "code_fence"          // The JSON stood in a code fence.
	RuleRepair       Rule = "json_repair"         // The JSON was malformed, but complete.
	RuleUnwrap       Rule = "unwrap_arguments"    // The arguments stood under a name such as "arguments".
	RuleSoleProperty Rule = "to_sole_property"    // The payload is the value of the one required property.
	RuleRename       Rule = "property_spelling"   // A property differed in case, dashes or underscores.
	RuleAlias        Rule = "property_alias"      // A property had a usual other name.
	RuleDropNull     Rule = "null_to_absent"      // An optional property was null.
	RuleNumber       Rule = "string_to_number"    // "5" for 5.
	RuleBoolean      Rule = "string_to_boolean"   // "true" for true.
	RuleNull         Rule = "string_to_null"      // "null" for null.
	RuleText         Rule = "scalar_to_string"    // 5 for "5".
	RuleEnum         Rule = "enum_spelling"       // A member of an enum differed in case or spacing.
	RuleList         Rule = "value_to_array"      // One value where an array was wanted.
	RuleSingle       Rule = "single_item_to_item" // An array of one where a value was wanted.
)

// Edit is one change that [Schema.Prepare] made. It holds no values.
type Edit struct {
	Path string `json:"path"` // JSON Pointer into the prepared value; empty for all of it.
	From string `json:"from"` // Kind of what was found.
	To   string `json:"to"`   // Kind of what it became.
	Rule Rule   `json:"rule"`
}

// Receipt lists what was changed, in the order it was done. It is empty when
// the payload was valid as it came.
type Receipt []Edit

// JSON returns the receipt as it is stored: nil when nothing was changed.
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
