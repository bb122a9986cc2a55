package field

import "encoding/json"

// Keyword is the schema keyword for the properties of a field that standard keywords cannot express.
const Keyword = "x-toolcrib-field"

// Keywords of other vendors' schemas for the id of an entity, and for several of them. They are read, and kept.
const (
	entityKeyword = "x-entity-type"
	selectKeyword = "x-entity-select"
)

// Type is the type of a field's value.
type Type string

// Types of fields.
const (
	Text     Type = "text"     // A string.
	Number   Type = "number"   // A number, or a whole one.
	Boolean  Type = "boolean"  // True or false.
	Date     Type = "date"     // A day, a moment or a time of day, as a string.
	Enum     Type = "enum"     // One of the options, or several.
	URL      Type = "url"      // An absolute address.
	Email    Type = "email"    // An e-mail address.
	Phone    Type = "phone"    // A telephone number.
	Media    Type = "media"    // A file, by its address.
	Upload   Type = "file"     // An uploaded file, or several, by reference.
	Relation Type = "relation" // Another entity, by its id.
	Object   Type = "object"   // Nested fields, values under free names, or JSON.
	Array    Type = "array"    // Items of one kind.
)

// Display is how a field is edited and shown.
type Display string

// Displays. [Displays] returns which of them a type has.
const (
	Input    Display = "input"
	Textarea Display = "textarea"
	Markdown Display = "markdown"
	Code     Display = "code"
	Slider   Display = "slider"
	Currency Display = "currency"
	Percent  Display = "percent"
	Rating   Display = "rating"
	Switch   Display = "switch"
	Checkbox Display = "checkbox"
	Day      Display = "date"
	Moment   Display = "datetime"
	Time     Display = "time"
	Select   Display = "select"
	Radio    Display = "radio"
	Chips    Display = "chips"
	Link     Display = "link"
	File     Display = "file"
	Image    Display = "image"
	Audio    Display = "audio"
	Video    Display = "video"
	Picker   Display = "picker"
	Group    Display = "group"
	Map      Display = "map"
	JSON     Display = "json"
	List     Display = "list"
	Table    Display = "table"
	Tags     Display = "tags"
)

// displays lists the displays of each type, the default first.
var displays = map[Type][]Display{
	Text:     {Input, Textarea, Markdown, Code},
	Number:   {Input, Slider, Currency, Percent, Rating},
	Boolean:  {Switch, Checkbox},
	Date:     {Day, Moment, Time},
	Enum:     {Select, Radio, Chips},
	URL:      {Input, Link},
	Email:    {Input, Link},
	Phone:    {Input, Link},
	Media:    {File, Image, Audio, Video},
	Upload:   {File, Image},
	Relation: {Picker, Select},
	Object:   {Group, Map, JSON},
	Array:    {List, Table, Tags},
}

// Types returns all types, in the order in which they are documented.
func Types() []Type {
	return []Type{Text, Number, Boolean, Date, Enum, URL, Email, Phone, Media, Upload, Relation, Object, Array}
}

// Displays returns the displays of a type, the default first; none for an unknown type. The caller
// must not change them.
func Displays(t Type) []Display { return displays[t] }

// Field is one value of a form. Empty members are unset; [Compile] refuses
// members that the type does not have.
type Field struct {
	Key         string          `json:"key"`             // Name of the property; empty for items.
	Label       string          `json:"label,omitempty"` // Its label; "title" in a schema.
	Description string          `json:"description,omitempty"`
	Type        Type            `json:"type"`
	Display     Display         `json:"display,omitempty"` // The first of the type's when empty.
	Required    bool            `json:"required,omitempty"`
	Nullable    bool            `json:"nullable,omitempty"` // Null is accepted too.
	Default     json.RawMessage `json:"default,omitempty"`
	Placeholder string          `json:"placeholder,omitempty"` // Shown while the field is empty.
	Help        string          `json:"help,omitempty"`        // A longer text for people, hidden from models.

	// Of numbers.
	Min     json.Number `json:"min,omitempty"`
	Max     json.Number `json:"max,omitempty"`
	Above   json.Number `json:"above,omitempty"` // Greater than; Min is "at least".
	Below   json.Number `json:"below,omitempty"` // Less than; Max is "at most".
	Step    json.Number `json:"step,omitempty"`  // The number is a multiple of it.
	Integer bool        `json:"integer,omitempty"`
	Unit    string      `json:"unit,omitempty"` // Such as "EUR" or "kg".

	// Of texts.
	MinLength *int   `json:"min_length,omitempty"` // In characters.
	MaxLength *int   `json:"max_length,omitempty"`
	Pattern   string `json:"pattern,omitempty"` // An RE2 expression that a part of the text must match.
	Format    string `json:"format,omitempty"`  // A format of JSON Schema without a type of its own, such as "uuid".

	Options  []Option `json:"options,omitempty"`  // Of an enum.
	Multiple bool     `json:"multiple,omitempty"` // Several options, files or entities, as an array.

	// Of arrays, of what is multiple, and of maps.
	MinItems *int   `json:"min_items,omitempty"`
	MaxItems *int   `json:"max_items,omitempty"`
	Unique   bool   `json:"unique,omitempty"` // No item twice.
	Items    *Field `json:"items,omitempty"`  // The field of each item, or each value of a map.

	// Media types such as "image/png" or "image/*". For the form: a schema cannot check a file.
	Accept   []string `json:"accept,omitempty"`
	MaxBytes int64    `json:"max_bytes,omitempty"`   // Likewise.
	Entity   string   `json:"entity_type,omitempty"` // The type of the related entity.

	Fields []Field `json:"fields,omitempty"` // Of a group, in order.
	Open   bool    `json:"open,omitempty"`   // A group that accepts members beside its fields.

	Section  string `json:"section,omitempty"`  // The heading under which a form shows it.
	Advanced bool   `json:"advanced,omitempty"` // Shown on demand.
	Hidden   bool   `json:"hidden,omitempty"`   // Not shown to people; its default is sent.
	// VisibleWhen are conditions that are all met where the field is shown. Where it is not, it has no value:
	// it is not required, and its value is refused.
	VisibleWhen []Condition `json:"visible_when,omitempty"`

	// Annotations are further keywords that do not affect validation, such as
	// "examples" and "deprecated".
	Annotations map[string]json.RawMessage `json:"annotations,omitempty"`
	// Schema is the schema of a JSON field; empty for any object.
	Schema json.RawMessage `json:"schema,omitempty"`
}

// Option is one value of an enum.
type Option struct {
	Value json.RawMessage `json:"value"`           // A string, number or boolean.
	Label string          `json:"label,omitempty"` // The value when empty.
}

// Form is a schema as fields.
type Form struct {
	Fields []Field `json:"fields"`
	Open   bool    `json:"open,omitempty"` // Members beside the fields are accepted.
	// Keywords are the schema's other keywords, such as "$schema", "$defs" and
	// "allOf".
	Keywords map[string]json.RawMessage `json:"keywords,omitempty"`
	// Schema is the whole schema if it is not of an object. Such a form has no fields.
	Schema json.RawMessage `json:"schema,omitempty"`
	// Kept lists the parts that fields cannot express, in the order of the
	// pointers. It is output only, and ignored in input.
	Kept []Kept `json:"kept,omitempty"`
}

// Kept is a part of a schema that was kept unchanged.
type Kept struct {
	Pointer string `json:"pointer"` // JSON Pointer into the schema.
	Reason  string `json:"reason"`
}

// hint is the value of [Keyword].
type hint struct {
	Type        Type     `json:"type,omitempty"`
	Display     Display  `json:"display,omitempty"`
	Placeholder string   `json:"placeholder,omitempty"`
	Help        string   `json:"help,omitempty"`
	Unit        string   `json:"unit,omitempty"`
	Labels      []string `json:"labels,omitempty"` // Of the enum's values, in their order.
	Accept      []string `json:"accept,omitempty"`
	MaxBytes    int64    `json:"max_bytes,omitempty"`
	Entity      string   `json:"entity_type,omitempty"`
	Section     string   `json:"section,omitempty"`
	Advanced    bool     `json:"advanced,omitempty"`
	Hidden      bool     `json:"hidden,omitempty"`
	Order       []string `json:"order,omitempty"` // Of an object's properties, if it is not alphabetical.
}
