// Package quality checks how a tool's definition reads to a model: its name, its description, what
// it takes, and how it fits the tools beside it. Findings are advice, each with a code; a strict
// publish refuses them.
//
// It is pure: it reads no store.
package quality

import (
	"cmp"
	"slices"

	"github.com/toolcrib/toolcrib/tool"
)

// Code names a kind of finding. Codes are used in scripts: never rename one.
type Code string

// Codes.
const (
	SlugStyle            Code = "slug-style"
	SlugVerb             Code = "slug-verb"
	DescriptionMissing   Code = "description-missing"
	DescriptionShort     Code = "description-short"
	DescriptionLong      Code = "description-long"
	DescriptionWhen      Code = "description-when"
	DescriptionWhenNot   Code = "description-when-not"
	DescriptionInjection Code = "description-injection"
	InputMissing         Code = "input-missing"
	InputUndescribed     Code = "input-undescribed"
	WideTool             Code = "wide-tool"
	PermissionMissing    Code = "permission-missing"
	HintContradiction    Code = "hint-contradiction"
	NoFinder             Code = "no-finder"
)

// Info describes a code.
type Info struct {
	Code    Code   `json:"code"`
	Meaning string `json:"meaning"`
}

// Codes lists all codes, in the order of findings.
func Codes() []Info {
	return []Info{
		{SlugStyle, "the slug is not camelCase"},
		{SlugVerb, "the slug does not begin with a verb, or names nothing beside it"},
		{DescriptionMissing, "there is no description"},
		{DescriptionShort, "the description is too short to say what the tool does"},
		{DescriptionLong, "the description is so long that it costs more than it helps"},
		{DescriptionWhen, "the description does not say when to use the tool"},
		{DescriptionWhenNot, "the tool changes something, and the description does not say when not to use it"},
		{DescriptionInjection, "a description gives orders to the model, or hides text from people"},
		{InputMissing, "there is no input schema, and nothing declares that there are no rules for arguments"},
		{InputUndescribed, "arguments have no description"},
		{WideTool, "one tool reads and changes, by an argument that says which"},
		{PermissionMissing, "the tool changes something, and any caller may call it"},
		{HintContradiction, "annotations say other than the policy and the execution"},
		{NoFinder, "the tool changes something that no tool that only reads finds"},
	}
}

// Finding is one weak point of a definition.
type Finding struct {
	Code Code   `json:"code"`
	Path string `json:"path,omitempty"` // JSON Pointer of the field.
	Text string `json:"text"`
}

// String returns "code: text".
func (f Finding) String() string { return string(f.Code) + ": " + f.Text }

// Subject is a tool that is checked.
type Subject struct {
	Slug string
	tool.Definition
	tool.Policy
}

// Sibling is a tool beside it.
type Sibling struct {
	Slug  string
	Reads bool // It changes nothing.
}

// SiblingOf returns a tool as a sibling of others.
func SiblingOf(s Subject) Sibling { return Sibling{Slug: s.Slug, Reads: !changes(&s)} }

// Check returns the findings of a tool, in the order of [Codes] and of fields. Siblings are the
// tools that its callers can use too; whether one finds the target of a change is not checked
// where they are nil.
func Check(s Subject, siblings []Sibling) []Finding {
	var found []Finding
	for _, check := range []func(*Subject) []Finding{slug, description, inputs, width, permission, hints} {
		found = append(found, check(&s)...)
	}
	if siblings != nil {
		found = append(found, finder(&s, siblings)...)
	}
	order := map[Code]int{}
	for i, info := range Codes() {
		order[info.Code] = i
	}
	slices.SortStableFunc(found, func(a, b Finding) int { return cmp.Compare(order[a.Code], order[b.Code]) })
	return found
}

// changes reports whether calls may change something: by the class, the intent, or a verb that says
// so of a tool that is not pure.
func changes(s *Subject) bool {
	if s.Execution.Pure {
		return false
	}
	verb, _ := words(s.Slug)
	return s.EgressClass == tool.EgressWrite || s.Interaction.Intent == tool.Act || slices.Contains(changing, verb)
}
