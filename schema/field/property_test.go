package field_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/schema"
	"github.com/toolcrib/toolcrib/schema/field"
)

// TestFieldsSurviveTheirSchema proves that what fields say, their schema says
// completely: compiled, stored in any order of names, and read again, they are
// what they were.
func TestFieldsSurviveTheirSchema(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		fields := drawFields(t, 3)
		raw, err := field.Compile(fields)
		if err != nil {
			t.Fatalf("%s: %v", encoded(t, fields), err)
		}
		first := read(t, reordered(t, raw))
		if len(first.Kept) > 0 || first.Open {
			t.Fatalf("%s came back as %s", raw, encoded(t, first))
		}
		wrote, back := encoded(t, fields), encoded(t, first.Fields)
		if filled(t, wrote) != filled(t, back) {
			t.Fatalf("%s\nbecame %s\nby %s", wrote, back, raw)
		}
		again, err := field.Compile(first.Fields)
		if err != nil || string(again) != string(raw) {
			t.Fatalf("%s was compiled again to %s: %v", raw, again, err)
		}
	})
}

// TestSchemasSurviveTheirFields proves that a schema of any kind, read as
// fields and written again, accepts what it accepted and refuses what it
// refused; and that a second pass changes nothing.
func TestSchemasSurviveTheirFields(t *testing.T) {
	t.Parallel()

	rapid.Check(t, func(t *rapid.T) {
		raw := []byte(encoded(t, drawObjectSchema(t, 3)))
		before, err := schema.New(1).Compile(raw)
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		form := read(t, raw)
		wrote, err := form.Write()
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		after, err := schema.New(1).Compile(wrote)
		if err != nil {
			t.Fatalf("%s became %s: %v", raw, wrote, err)
		}
		for range 8 {
			value := []byte(encoded(t, drawValueOf(t, raw)))
			if was, is := before.Validate(t.Context(), value) == nil, after.Validate(t.Context(), value) == nil; was != is {
				t.Fatalf("%s became %s: %s was accepted: %v, and is: %v", raw, wrote, value, was, is)
			}
		}
		second := read(t, wrote)
		last, err := second.Write()
		if err != nil || string(last) != string(wrote) {
			t.Fatalf("%s became %s, then %s: %v", raw, wrote, last, err)
		}
		for _, k := range form.Kept {
			if !pointsInto(t, raw, k.Pointer) || k.Reason == "" {
				t.Fatalf("%s: %q leads nowhere", raw, k.Pointer)
			}
		}
	})
}

func read(t require.TestingT, raw []byte) field.Form {
	f, err := field.Read(raw)
	require.NoError(t, err)
	return f
}

func encoded(t require.TestingT, v any) string {
	raw, err := json.Marshal(v)
	require.NoError(t, err)
	return string(raw)
}

// reordered writes JSON with the names of objects in their order, as a database may.
func reordered(t require.TestingT, raw []byte) []byte {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	require.NoError(t, dec.Decode(&v))
	return []byte(encoded(t, v))
}

// filled is fields with what Compile fills in.
func filled(t require.TestingT, raw string) string {
	var fields []map[string]any
	require.NoError(t, json.Unmarshal([]byte(raw), &fields))
	for _, f := range fields {
		fill(f)
	}
	return encoded(t, fields)
}

func fill(f map[string]any) {
	kind := field.Type(fmt.Sprint(f["type"]))
	if f["display"] == nil {
		f["display"] = field.Displays(kind)[0]
	}
	switch {
	case kind == field.Phone, kind == field.Date && f["display"] == "time":
		delete(f, "pattern") // Given or filled in.
	case f["multiple"] == true && (kind == field.Enum || kind == field.Relation):
		f["unique"] = true
	}
	inner, _ := f["fields"].([]any)
	for _, sub := range inner {
		if f, ok := sub.(map[string]any); ok {
			fill(f)
		}
	}
	if item, ok := f["items"].(map[string]any); ok {
		fill(item)
	}
}

func pointsInto(t require.TestingT, raw []byte, pointer string) bool {
	var v any
	require.NoError(t, json.Unmarshal(raw, &v))
	for _, token := range split(pointer) {
		m, ok := v.(map[string]any)
		if !ok || m[token] == nil {
			return false
		}
		v = m[token]
	}
	return true
}

// drawFields draws the fields of a form.
func drawFields(t *rapid.T, depth int) []field.Field {
	keys := []string{"amount", "buyer", "city", "due", "email", "files", "grade", "zip", "a.b", "_x"}
	drawn := rapid.SliceOfNDistinct(rapid.SampledFrom(keys), 1, 5, rapid.ID).Draw(t, "keys")
	fields := make([]field.Field, len(drawn))
	for i, key := range drawn {
		fields[i] = drawField(t, depth)
		fields[i].Key, fields[i].Required = key, rapid.Bool().Draw(t, "required")
		drawConditions(t, fields[:i], &fields[i])
	}
	return fields
}

// drawConditions draws conditions of a field, on fields before it.
func drawConditions(t *rapid.T, before []field.Field, f *field.Field) {
	if len(before) == 0 || rapid.IntRange(0, 2).Draw(t, "conditional") > 0 {
		return
	}
	for range rapid.IntRange(1, 2).Draw(t, "conditions") {
		on := rapid.SampledFrom(before).Draw(t, "on")
		c := field.Condition{Field: on.Key}
		to := rapid.SampledFrom([]*[]json.RawMessage{nil, &c.In, &c.NotIn}).Draw(t, "how")
		if value := plainValueOf(&on); to != nil && value != nil {
			*to = []json.RawMessage{value}
		}
		f.VisibleWhen = append(f.VisibleWhen, c)
	}
}

// plainValueOf returns a value that a field, or one of its items, may be; nil for objects and files.
func plainValueOf(f *field.Field) json.RawMessage {
	switch f.Type { //nolint:exhaustive // The others are texts.
	case field.Boolean:
		return json.RawMessage("true")
	case field.Number:
		return json.RawMessage("1.5")
	case field.Enum:
		return f.Options[0].Value
	case field.Array:
		return plainValueOf(f.Items)
	case field.Object, field.Upload:
		return nil
	}
	return json.RawMessage(`"a"`)
}

func drawField(t *rapid.T, depth int) field.Field {
	types := field.Types()
	if depth <= 1 {
		types = slices.DeleteFunc(types, func(k field.Type) bool { return k == field.Object || k == field.Array })
	}
	f := field.Field{Type: rapid.SampledFrom(types).Draw(t, "type")}
	f.Display = rapid.SampledFrom(append([]field.Display{""}, field.Displays(f.Type)...)).Draw(t, "display")
	maybe := func(name string) bool { return rapid.Bool().Draw(t, name) }
	text := func(name string, to *string) {
		if maybe(name) {
			*to = rapid.SampledFrom([]string{"Order", "<b>&", "Größe", "0"}).Draw(t, name+" text")
		}
	}
	text("label", &f.Label)
	text("description", &f.Description)
	text("placeholder", &f.Placeholder)
	text("help", &f.Help)
	text("section", &f.Section)
	f.Advanced, f.Hidden, f.Nullable = maybe("advanced"), maybe("hidden"), maybe("nullable")
	if maybe("annotated") {
		f.Annotations = map[string]json.RawMessage{
			"deprecated": json.RawMessage("true"), "examples": json.RawMessage(`[1,"a"]`),
		}
	}
	if f.Nullable && maybe("default") {
		f.Default = json.RawMessage("null")
	}
	drawConstraints(t, &f, depth)
	return f
}

func drawConstraints(t *rapid.T, f *field.Field, depth int) {
	maybe := func(name string) bool { return rapid.Bool().Draw(t, name) }
	bounds := func(name string) (least, most *int) {
		a := rapid.IntRange(0, 9).Draw(t, name+" least")
		b := a + rapid.IntRange(0, 9).Draw(t, name+" more")
		if maybe(name + " has a least") {
			least = &a
		}
		if maybe(name + " has a most") {
			most = &b
		}
		return least, most
	}
	switch f.Type { //nolint:exhaustive // The others have none.
	case field.Number:
		f.Integer = maybe("integer")
		f.Min, f.Max = "-2.50", "9e2"
		if maybe("between") && f.Display != field.Slider && f.Display != field.Rating {
			f.Min, f.Max, f.Above, f.Below = "", "", "0", "1000000000000000000000000"
		}
		if maybe("step") {
			f.Step = "0.25"
		}
		if maybe("unit") {
			f.Unit = "EUR"
		}
	case field.Text, field.Date, field.URL, field.Email, field.Phone:
		f.MinLength, f.MaxLength = bounds("length")
		if maybe("pattern") && f.Type != field.Phone && f.Type != field.Date {
			f.Pattern = "^[A-Z]+-[0-9]{2}$"
		}
		if maybe("format") && f.Type == field.Text {
			f.Format = "uuid"
		}
	case field.Enum:
		f.Options = rapid.SampledFrom([][]field.Option{
			{{Value: json.RawMessage(`"a"`), Label: "A"}, {Value: json.RawMessage(`"b"`)}},
			{{Value: json.RawMessage(`"a"`)}},
			{{Value: json.RawMessage(`1`)}, {Value: json.RawMessage(`2.5`)}},
			{{Value: json.RawMessage(`true`)}, {Value: json.RawMessage(`"true"`), Label: "Text"}},
		}).Draw(t, "options")
		f.Multiple = maybe("multiple")
	case field.Media:
		f.Multiple = maybe("multiple")
		if maybe("accept") {
			f.Accept, f.MaxBytes = []string{"image/png", "image/*"}, 1<<20
		}
	case field.Relation:
		f.Multiple, f.Entity = maybe("multiple"), "order"
	case field.Object:
		switch f.Display { //nolint:exhaustive // Group is the default.
		case field.JSON:
		case field.Map:
			f.MinItems, f.MaxItems = bounds("entries")
			item := drawField(t, depth-1)
			f.Items = &item
		default:
			f.Fields, f.Open = drawFields(t, depth-1), maybe("open")
		}
	case field.Array:
		f.MinItems, f.MaxItems = bounds("items")
		f.Unique = maybe("unique")
		var item field.Field
		switch f.Display { //nolint:exhaustive // List is the default.
		case field.Table:
			item = field.Field{Type: field.Object, Fields: drawFields(t, 1)}
		case field.Tags:
			item = field.Field{Type: field.Text, Placeholder: "tag"}
		default:
			item = drawField(t, depth-1)
		}
		f.Items = &item
	}
	if f.Multiple {
		f.MinItems, f.MaxItems = bounds("several")
	}
}
