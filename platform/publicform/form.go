// Package publicform is the form of a tool as people without an account see it, in the mode embed: what it asks for,
// how its fields are shown, how what was sent is read, and how a result is shown.
//
// Fields that operators set (hidden and additional ones) are not in such a form, at any depth, and no value of them is
// taken.
package publicform

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/tool"
)

// Form is what people are asked.
type Form struct {
	Fields []field.Field
	absent []field.Field // Fields that are not asked for.
	all    []field.Field // Of the tool.
	fixed  map[string]json.RawMessage
}

// Of returns the form of a schema, without the fields whose values are fixed.
func Of(inputSchema json.RawMessage, fixed map[string]json.RawMessage) (Form, error) {
	read, err := field.Read(inputSchema)
	if err != nil {
		return Form{}, fmt.Errorf("reading an input schema: %w", err)
	}
	out := Form{all: read.Fields, fixed: fixed}
	never := out.hidden(nil)
	for _, f := range read.Fields {
		_, set := fixed[f.Key]
		switch {
		case set, never[f.Key] && out.settled(&f):
		case operators(&f), !askable(&f):
			out.absent = append(out.absent, f)
		default:
			out.Fields = append(out.Fields, f)
		}
	}
	return out, nil
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
		return !set && at >= 0 && !operators(&f.all[at]) && askable(&f.all[at])
	})
}

// Has reports whether the form asks for a field.
func (f *Form) Has(key string) bool {
	return slices.ContainsFunc(f.Fields, func(x field.Field) bool { return x.Key == key })
}

// Missing returns the key of a field that the tool requires and the form does not ask for; empty for none.
func (f *Form) Missing() string {
	for i := range f.absent {
		if a := &f.absent[i]; a.Required && len(a.Default) == 0 {
			return a.Key
		}
	}
	return ""
}

// Secret returns the key of a field that asks for a secret, such as a password; empty for none.
func (f *Form) Secret() string {
	for i := range f.Fields {
		if name := secretField(&f.Fields[i]); name != "" {
			return name
		}
	}
	return ""
}

// operators reports whether operators alone set a field.
func operators(f *field.Field) bool { return f.Hidden || f.Advanced }

// askable reports whether a page without scripts can ask for a value: a file, or a choice among the tenant's own
// entities, it cannot, nor several of them.
func askable(f *field.Field) bool {
	return f.Type != field.Upload && f.Type != field.Relation && (f.Items == nil || askable(f.Items))
}

// Unasked returns the path of a value within those of a form that the form does not ask for, as a field within
// another one is hidden, additional or not askable; empty for none. What was filled in is no such value.
func (f *Form) Unasked(input json.RawMessage) string {
	var given map[string]json.RawMessage
	if json.Unmarshal(input, &given) != nil {
		return ""
	}
	for i := range f.Fields {
		key := f.Fields[i].Key
		if path := unasked(&f.Fields[i], given[key], "/"+Pointer(key), true); path != "" {
			return path
		}
	}
	return ""
}

// unasked is [Form.Unasked] of a value of a field. With filled, what was filled in is no such value.
func unasked(f *field.Field, value json.RawMessage, path string, filled bool) string {
	var members map[string]json.RawMessage
	var items []json.RawMessage
	if json.Unmarshal(value, &members) != nil && json.Unmarshal(value, &items) != nil {
		return ""
	}
	if f.Items != nil {
		for i, item := range items {
			if found := unasked(f.Items, item, fmt.Sprintf("%s/%d", path, i), filled); found != "" {
				return found
			}
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if found := unasked(f.Items, members[name], path+"/"+Pointer(name), filled); found != "" {
				return found
			}
		}
		return ""
	}
	for i := range f.Fields {
		within := &f.Fields[i]
		held, given := members[within.Key]
		at := path + "/" + Pointer(within.Key)
		switch {
		case !given:
		case operators(within) || !askable(within):
			if !filled || !same(held, within.Default) {
				return at
			}
		default:
			if found := unasked(within, held, at, filled); found != "" {
				return found
			}
		}
	}
	return ""
}

// same reports whether two values are equal.
func same(a, b json.RawMessage) bool {
	of, err := tool.Digest(a)
	other, failed := tool.Digest(b)
	return len(a) > 0 && len(b) > 0 && err == nil && failed == nil && of == other
}

// Pointer escapes a name for a JSON Pointer.
func Pointer(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

// secretField returns the key of a field, or of one within it, that asks for a secret; empty for none.
func secretField(f *field.Field) string {
	if slices.ContainsFunc([]string{f.Key, f.Label, f.Description, f.Help, f.Placeholder, f.Section}, AsksSecret) {
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

// AsksSecret reports whether a text asks for what people must not give.
func AsksSecret(text string) bool {
	plain := parting.ReplaceAllString(humps.ReplaceAllString(text, "$1 $2"), " ")
	return secrets.MatchString(" " + strings.ToLower(plain) + " ")
}
