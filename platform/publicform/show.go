package publicform

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/internal/redact"
	"github.com/toolcrib/toolcrib/internal/visible"
	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/tool"
)

// Shown is a field as pages show it.
type Shown struct {
	ID       string   `json:"id"`
	Name     string   `json:"name"`
	Label    string   `json:"label"`
	Help     string   `json:"help,omitempty"`
	Section  string   `json:"section,omitempty"` // The heading before the field.
	Kind     string   `json:"kind"`              // "choice", "area", or the type of an input.
	Mode     string   `json:"mode,omitempty"`
	Several  bool     `json:"several,omitempty"`
	Required bool     `json:"required,omitempty"`
	Value    string   `json:"value,omitempty"`
	Problem  string   `json:"problem,omitempty"`
	Options  []Option `json:"options,omitempty"`
}

// Option is one of the values of a choice.
type Option struct {
	ID     string `json:"id"`
	Value  string `json:"value"`
	Label  string `json:"label"`
	Chosen bool   `json:"chosen,omitempty"`
}

// Show returns the fields as pages show them, with what was sent, nil for nothing yet, and what is wrong with it.
func (f *Form) Show(sent url.Values, problems map[string]string) []Shown {
	out := []Shown{}
	section := ""
	for i := range f.Fields {
		s := show(&f.Fields[i], i, sent, problems[f.Fields[i].Key])
		if when := field.ConditionWords(f.all, &f.Fields[i]); when != "" {
			s.Help = strings.TrimSpace(s.Help + "\nOnly if " + Clean(when) + ".")
		}
		if s.Section == section {
			s.Section = ""
		} else {
			section = s.Section
		}
		out = append(out, s)
	}
	return out
}

func show(f *field.Field, at int, sent url.Values, problem string) Shown {
	s := Shown{
		ID: fmt.Sprintf("f%d", at), Name: Name(f.Key), Label: Clean(firstOf(f.Label, f.Key)), Section: Clean(f.Section),
		Help: Clean(strings.TrimSpace(f.Description + "\n" + f.Help)), Required: f.Required, Problem: problem,
		Several: f.Multiple,
		Kind:    "text", Value: value(f, sent),
	}
	switch f.Type { //nolint:exhaustive // Others are texts.
	case field.Number:
		s.Mode = "decimal"
		if f.Unit != "" {
			s.Label += " (" + Clean(f.Unit) + ")"
		}
	case field.Boolean:
		s.Kind, s.Several = "choice", false
		for i, o := range []Option{{Value: "true", Label: "Yes"}, {Value: "false", Label: "No"}} {
			o.ID, o.Chosen = fmt.Sprintf("f%d-%d", at, i), s.Value == o.Value
			s.Options = append(s.Options, o)
		}
	case field.Enum:
		s.Kind = "choice"
		chosen := sent[Name(f.Key)]
		if sent == nil && len(f.Default) > 0 {
			chosen = []string{string(f.Default)}
		}
		for i, o := range f.Options {
			s.Options = append(s.Options, Option{
				ID: fmt.Sprintf("f%d-%d", at, i), Value: string(o.Value), Label: Clean(firstOf(o.Label, Plain(o.Value))),
				Chosen: slices.Contains(chosen, string(o.Value)),
			})
		}
	case field.Email:
		s.Kind = "email"
	case field.Phone:
		s.Kind = "tel"
	case field.URL, field.Media:
		s.Kind = "url"
	case field.Date:
		s.Kind = "date"
		if f.Display == field.Moment || f.Display == field.Time {
			s.Kind = "text"
		}
	case field.Array, field.Object:
		s.Kind = "area"
		hint := "As JSON."
		if lines(f) {
			hint = "One on each line."
		}
		s.Help = strings.TrimSpace(s.Help + "\n" + hint)
	case field.Text:
		if f.Display == field.Textarea || f.Display == field.Markdown || f.Display == field.Code {
			s.Kind = "area"
		}
	}
	return s
}

// value returns what the field holds at first: what was sent, or the default.
func value(f *field.Field, sent url.Values) string {
	switch {
	case sent != nil:
		return sent.Get(Name(f.Key))
	case len(f.Default) == 0 || string(f.Default) == "null" || unasked(f, f.Default, "", false) != "":
		return ""
	case f.Type == field.Boolean || f.Type == field.Number:
		return string(f.Default)
	}
	return Plain(f.Default)
}

// maxRows and maxShown bound what a page shows of a result.
const (
	maxRows  = 50
	maxShown = 64 << 10
)

// Row is a member of a result.
type Row struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Rows returns the members of a result for a table, or else its text, without what looks like a secret: whether a
// member does depends on its name too.
func Rows(raw json.RawMessage) (rows []Row, text string) {
	raw = redact.JSON(raw)
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || len(members) == 0 || len(members) > maxRows {
		return nil, Clean(tool.Clip(Plain(raw), maxShown))
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		rows = append(rows, Row{Clean(key), Clean(tool.Clip(Plain(members[key]), maxShown/maxRows))})
	}
	return rows, ""
}

// Plain returns a string without its quotes, and other JSON as it is written.
func Plain(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// Clean returns a text as pages show it: without hidden characters and what looks like a secret.
func Clean(text string) string { return redact.Text(visible.Text(text)) }

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
