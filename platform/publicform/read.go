package publicform

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/tool"
)

// Name is the name of a field in a form: apart from those of the page itself.
func Name(key string) string { return "f." + key }

// Read reads what a browser sent into an input, by the fields, with what is wrong by the key of the field. The schema
// is checked later, by the platform.
func (f *Form) Read(sent url.Values) (input map[string]json.RawMessage, problems map[string]string) {
	input, problems = map[string]json.RawMessage{}, map[string]string{}
	for i := range f.Fields {
		x := &f.Fields[i]
		values := slices.DeleteFunc(slices.Clone(sent[Name(x.Key)]),
			func(v string) bool { return strings.TrimSpace(v) == "" })
		if len(values) == 0 {
			if x.Required {
				problems[x.Key] = "This is needed."
			}
			continue
		}
		raw, problem := readValue(x, values)
		if path := unasked(x, raw, "", true); problem == "" && path != "" {
			problem = "The form does not ask for " + Clean(strings.TrimPrefix(path, "/")) + "."
		}
		if problem != "" {
			problems[x.Key] = problem
			continue
		}
		input[x.Key] = raw
	}
	// The page shows all fields, each with its condition: what does not apply is not sent.
	for key := range f.hidden(input) {
		delete(input, key)
		delete(problems, key)
	}
	return input, problems
}

func readValue(f *field.Field, values []string) (raw json.RawMessage, problem string) {
	text := strings.ReplaceAll(values[0], "\r\n", "\n")
	switch f.Type { //nolint:exhaustive // Others are texts.
	case field.Number:
		text = strings.TrimSpace(text)
		if !numeral.MatchString(text) {
			return nil, "Enter a number, such as 12 or 1.5."
		}
		return json.RawMessage(text), ""
	case field.Boolean:
		if text != "true" && text != "false" {
			return nil, "Choose yes or no."
		}
		return json.RawMessage(text), ""
	case field.Enum:
		return readChoice(f, values)
	case field.Array:
		if lines(f) {
			var items []string
			for line := range strings.SplitSeq(text, "\n") {
				if line = strings.TrimSpace(line); line != "" {
					items = append(items, line)
				}
			}
			raw, _ = json.Marshal(items)
			return raw, ""
		}
		fallthrough
	case field.Object:
		if !json.Valid([]byte(text)) {
			return nil, "Enter JSON."
		}
		return json.RawMessage(text), ""
	}
	raw, _ = json.Marshal(text)
	return raw, ""
}

var numeral = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$`)

// lines reports whether a field is a list of texts, one on each line.
func lines(f *field.Field) bool {
	return f.Type == field.Array && f.Items != nil && f.Items.Type == field.Text
}

func readChoice(f *field.Field, values []string) (raw json.RawMessage, problem string) {
	var chosen []json.RawMessage
	for _, v := range values {
		at := slices.IndexFunc(f.Options, func(o field.Option) bool { return string(o.Value) == v })
		if at < 0 {
			return nil, "Choose one of the options."
		}
		chosen = append(chosen, f.Options[at].Value)
	}
	if !f.Multiple {
		return chosen[0], ""
	}
	raw, _ = json.Marshal(chosen)
	return raw, ""
}

// Problems returns what the platform found wrong with an input, whose path begins with /input, by the key of the field;
// by an empty one where it is of none.
func (f *Form) Problems(err error) map[string]string {
	const most = 300
	e := tool.AsError(err)
	first, _, _ := strings.Cut(strings.TrimPrefix(e.Path, "/input/"), "/")
	key := strings.NewReplacer("~1", "/", "~0", "~").Replace(first)
	if !f.Has(key) {
		key = ""
	}
	return map[string]string{key: Clean(tool.Clip(e.Msg, most))}
}
