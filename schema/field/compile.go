package field

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of the fields of a form.
const (
	MaxFields  = 256 // Of a form, those within included.
	MaxDepth   = 8   // Of fields within fields.
	MaxOptions = 512
	MaxText    = 4096 // Bytes of a label, description, placeholder, help or unit.
	maxCount   = 1<<31 - 1
)

// Default patterns of fields.
const (
	phonePattern = `^\+?[0-9][0-9 ()./-]{2,30}$`
	timePattern  = `^([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?$`
)

// dialect is the dialect of compiled schemas: the one that all clients support and in which formats
// are assertions.
const dialect = `"http://json-schema.org/draft-07/schema#"`

// Compile returns the JSON Schema of user-written fields. The schema is closed: it refuses undeclared
// members, and it checks formats. Compile fails with tool.Invalid and the Path of the fault in the
// fields, "/0/options": a missing key or type, a constraint that the type does not have or that
// contradicts another, a default that is itself invalid, or a limit.
func Compile(fields []Field) (json.RawMessage, error) {
	written, err := checked(fields, "")
	if err != nil {
		return nil, err
	}
	return write(Form{Fields: written, Keywords: map[string]json.RawMessage{"$schema": json.RawMessage(dialect)}})
}

// CompileForm is [Compile] for a form that was read from a schema, and possibly edited: it may be
// open, and keeps the schema's own keywords.
func CompileForm(f Form) (json.RawMessage, error) {
	switch {
	case len(f.Schema) > 0 && len(f.Fields) > 0:
		return nil, refuse("/schema", "a schema that is not one of an object has no fields: expected either")
	case len(f.Schema) > 0:
		return f.Schema, nil
	}
	var err error
	if f.Fields, err = checked(f.Fields, "/fields"); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(f.Fields, func(f Field) bool { return len(f.VisibleWhen) > 0 }) {
		for _, name := range []string{"if", "then", "else"} {
			if len(f.Keywords[name]) > 0 {
				return nil, refuse("/keywords/"+name, "fields with visible_when become the keyword %s: express it by them", name)
			}
		}
	}
	return write(f)
}

// checked returns the fields with defaults filled in.
func checked(fields []Field, path string) ([]Field, error) {
	c := &checker{schemas: schema.New(MaxFields)}
	out := slices.Clone(fields)
	return out, c.fields(out, path, 1)
}

// write writes a checked form.
func write(f Form) (json.RawMessage, error) {
	raw, err := f.Write()
	if err != nil {
		return nil, refuse("", "%s", err.Error())
	}
	if err := schema.CheckInput(raw); err != nil {
		return nil, refuse("", "the fields do not compile to a schema: %s", tool.AsError(err).Msg)
	}
	return raw, nil
}

// checker validates user-written fields, and fills in defaults.
type checker struct {
	schemas *schema.Cache
	total   int
}

func refuse(path, format string, args ...any) *tool.Error {
	return &tool.Error{Kind: tool.Invalid, Op: "field.Compile", Path: path, Msg: fmt.Sprintf(format, args...)}
}

// fields checks the fields of a form or a group. It changes them in place.
func (c *checker) fields(fields []Field, path string, depth int) error {
	keys := make(map[string]bool, len(fields))
	for i := range fields {
		f, at := &fields[i], fmt.Sprintf("%s/%d", path, i)
		switch {
		case !validKey(f.Key):
			return refuse(at+"/key", "key %.80q: expected a letter or _, then letters, digits, _, - or ., at most 64", f.Key)
		case keys[f.Key]:
			return refuse(at+"/key", "the key %q is given twice", f.Key)
		}
		keys[f.Key] = true
		if err := c.field(f, at, depth); err != nil {
			return err
		}
	}
	return checkConditions(fields, path)
}

// field checks one field, whose key was checked if it has one.
func (c *checker) field(f *Field, path string, depth int) error {
	c.total++
	switch {
	case c.total > MaxFields:
		return refuse(path, "more than %d fields: split the tool, or use JSON for a part of them", MaxFields)
	case depth > MaxDepth:
		return refuse(path, "fields are nested more than %d deep", MaxDepth)
	}
	if err := checkDisplay(f, path); err != nil {
		return err
	}
	f.fill()
	for _, check := range []func(*Field, string) error{
		checkTexts, checkMembers, checkNumber, checkCounts, checkOptions, checkMedia,
	} {
		if err := check(f, path); err != nil {
			return err
		}
	}
	if err := c.within(f, path, depth); err != nil {
		return err
	}
	return c.accepted(f, path)
}

// fill sets the type's defaults.
func (f *Field) fill() {
	f.Display = f.shown()
	switch {
	case f.Type == Phone && f.Pattern == "":
		f.Pattern = phonePattern
	case f.Type == Date && f.Display == Time && f.Pattern == "":
		f.Pattern = timePattern
	case f.Multiple && (f.Type == Enum || f.Type == Relation):
		f.Unique = true
	}
}

// within checks the fields or items of a field.
func (c *checker) within(f *Field, path string, depth int) error {
	f.Fields = slices.Clone(f.Fields)
	if err := c.fields(f.Fields, path+"/fields", depth+1); err != nil {
		return err
	}
	wants := f.Type == Array || f.Type == Object && f.Display == Map
	switch {
	case f.Items == nil && wants:
		return refuse(path+"/items", "%s %q needs items, the field of each item", f.Type, f.Display)
	case f.Items == nil:
		return nil
	case f.Items.Key != "" || f.Items.Required || len(f.Items.VisibleWhen) > 0:
		return refuse(path+"/items", "items have neither key nor required nor visible_when")
	}
	item := *f.Items
	f.Items = &item
	if err := c.field(f.Items, path+"/items", depth+1); err != nil {
		return err
	}
	switch {
	case f.Type == Array && f.Display == Table && (item.Type != Object || f.Items.Display != Group):
		return refuse(path+"/items", "a table has items of type object with fields: its columns")
	case f.Type == Array && f.Display == Tags && item.Type != Text && item.Type != Enum:
		return refuse(path+"/items", "tags have items of type text or enum")
	}
	return nil
}

// accepted checks the field's schema, and its default against it. A schema with references is checked
// with the whole form.
func (c *checker) accepted(f *Field, path string) error {
	sub, err := f.write()
	if err != nil {
		return refuse(path, "%s", err.Error())
	}
	m := object{"$schema": "http://json-schema.org/draft-07/schema#", "allOf": []any{sub}}
	raw, err := encode(m)
	if err != nil {
		return refuse(path, "%s", err.Error())
	}
	if refers(sub) {
		return nil
	}
	s, err := c.schemas.Compile(raw)
	if err != nil {
		return refuse(path, "%s", tool.AsError(err).Msg)
	}
	if len(f.Default) == 0 {
		return nil
	}
	if err := s.ValidateDefault(f.Default); err != nil {
		return refuse(path+"/default", "the field does not accept its own default: %s", tool.AsError(err).Msg)
	}
	return nil
}

// refers reports whether a schema has references.
func refers(node any) bool {
	switch n := node.(type) {
	case []any:
		return slices.ContainsFunc(n, refers)
	case object:
		for name, sub := range n {
			if name == "$ref" || name == "$dynamicRef" || refers(sub) {
				return true
			}
		}
	}
	return false
}

// validKey reports whether key is a valid property name for models and clients.
func validKey(key string) bool {
	if key == "" || len(key) > 64 {
		return false
	}
	for i, c := range key {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
		case i > 0 && (c >= '0' && c <= '9' || c == '-' || c == '.'):
		default:
			return false
		}
	}
	return true
}
