package sessions

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/toolsession"
)

// Form is what people are asked who have no account: the fields of a tool in the mode embed. What operators set is not
// in it (hidden and additional fields), nor is what the session fixes.
type Form struct {
	Fields []field.Field
	absent []field.Field // Fields that are not asked for.
	all    []field.Field // Of the tool.
	fixed  map[string]json.RawMessage
}

// hidden returns the fields that are not shown because of their conditions, with what a person filled in.
func (f *Form) hidden(input map[string]json.RawMessage) map[string]bool {
	values := maps.Clone(f.fixed)
	if values == nil {
		values = make(map[string]json.RawMessage)
	}
	maps.Copy(values, input)
	return field.Hidden(f.all, values)
}

// settled reports whether nothing that a person fills in decides about a field.
func (f *Form) settled(of *field.Field) bool {
	return !slices.ContainsFunc(of.VisibleWhen, func(c field.Condition) bool {
		at := slices.IndexFunc(f.all, func(x field.Field) bool { return x.Key == c.Field })
		_, set := f.fixed[c.Field]
		return !set && at >= 0 && !f.all[at].Hidden && !f.all[at].Advanced && askable(&f.all[at])
	})
}

func (f *Form) has(key string) bool {
	return slices.ContainsFunc(f.Fields, func(x field.Field) bool { return x.Key == key })
}

// Fields returns the form of a session.
func Fields(session *toolsession.Session, d *tool.Definition) (Form, error) {
	fixed, err := session.Fixed()
	if err != nil {
		return Form{}, err //nolint:wrapcheck // Its words are the caller's.
	}
	read, err := field.Read(d.InputSchema)
	if err != nil {
		return Form{}, fmt.Errorf("reading an input schema: %w", err)
	}
	out := Form{all: read.Fields, fixed: fixed}
	never := out.hidden(nil)
	for _, f := range read.Fields {
		_, set := fixed[f.Key]
		switch {
		case set, never[f.Key] && out.settled(&f):
		case f.Hidden, f.Advanced, !askable(&f):
			out.absent = append(out.absent, f)
		default:
			out.Fields = append(out.Fields, f)
		}
	}
	return out, nil
}

// askable reports whether a page without scripts can ask for a value: a file, or a choice among the tenant's own
// entities, it cannot.
func askable(f *field.Field) bool { return f.Type != field.Upload && f.Type != field.Relation }

// known fails with tool.Invalid for fixed inputs that the tool does not have.
func known(inputSchema json.RawMessage, fixed map[string]json.RawMessage) error {
	if len(fixed) == 0 {
		return nil
	}
	read, err := field.Read(inputSchema)
	if err != nil {
		return fmt.Errorf("reading an input schema: %w", err)
	}
	if read.Open {
		return nil
	}
	for name := range fixed {
		if !slices.ContainsFunc(read.Fields, func(f field.Field) bool { return f.Key == name }) {
			return invalid("/config/"+pointer(name), "the tool has no input %.80q", name)
		}
	}
	return nil
}

// checkForm fails with tool.Invalid for a form that is not shown to people without an account.
func checkForm(session *toolsession.Session, d *tool.Definition) error {
	form, err := Fields(session, d)
	if err != nil {
		return err
	}
	for i := range form.absent {
		if f := &form.absent[i]; f.Required && len(f.Default) == 0 {
			return invalid("/config", "the page of a link does not ask for %q, which the tool requires: "+
				"fix it in the configuration",
				f.Key)
		}
	}
	if asksSecret(session.Title) {
		return invalid("/title", "the title asks for a secret: a page of ours never does")
	}
	for i := range form.Fields {
		if name := secretField(&form.Fields[i]); name != "" {
			return invalid("/tool", "the field %q asks for a secret, such as a password or a card number: "+
				"a page of ours never does",
				name)
		}
	}
	return nil
}

// secretField returns the key of a field, or of one within it, that asks for a secret; empty for none.
func secretField(f *field.Field) string {
	if slices.ContainsFunc([]string{f.Key, f.Label, f.Description, f.Help, f.Placeholder, f.Section}, asksSecret) {
		return f.Key
	}
	for i := range f.Fields {
		if name := secretField(&f.Fields[i]); name != "" {
			return name
		}
	}
	if f.Items != nil {
		return secretField(f.Items)
	}
	return ""
}

var (
	humps   = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	parting = regexp.MustCompile(`[^\pL\pN]+`)
	// secrets are what a page that looks like a login asks for, in words between spaces.
	secrets = regexp.MustCompile(` (pass ?words?|pass ?wort|kenn ?wort|mot de passe|contraseña|pass ?phrase|pass ?code|pwd|` +
		`pin(?: code| number)?|otp|one time (?:code|password)|2fa(?: code)?|cvv|cvc|(?:credit |debit )?card numbers?|kartennummer|` +
		`api ?keys?|secret key|private key|access token|seed phrase|recovery phrase|social security number|ssn) `)
)

// asksSecret reports whether a text asks for what people must not give.
func asksSecret(text string) bool {
	plain := parting.ReplaceAllString(humps.ReplaceAllString(text, "$1 $2"), " ")
	return secrets.MatchString(" " + strings.ToLower(plain) + " ")
}

// readForm reads what a browser sent into an input, by the fields. The schema is checked later, by the platform.
func readForm(form *Form, sent url.Values) (input map[string]json.RawMessage, problems map[string]string) {
	input, problems = map[string]json.RawMessage{}, map[string]string{}
	for i := range form.Fields {
		f := &form.Fields[i]
		values := slices.DeleteFunc(slices.Clone(sent[name(f.Key)]),
			func(v string) bool { return strings.TrimSpace(v) == "" })
		if len(values) == 0 {
			if f.Required {
				problems[f.Key] = "This is needed."
			}
			continue
		}
		raw, problem := readValue(f, values)
		if problem != "" {
			problems[f.Key] = problem
			continue
		}
		input[f.Key] = raw
	}
	// The page shows all fields, each with its condition: what does not apply is not sent.
	for key := range form.hidden(input) {
		delete(input, key)
		delete(problems, key)
	}
	return input, problems
}

// name is the name of a field in a form: apart from those of the page itself.
func name(key string) string { return "f." + key }

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
