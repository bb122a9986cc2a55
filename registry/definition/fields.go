package definition

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/toolcrib/toolcrib/registry/internal/refusal"
	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/tool"
)

// parseFields compiles input_fields and output_fields to input_schema and
// output_schema. Fields are another notation of a schema: a list of fields, or the
// form that the API returns.
func parseFields(doc object) error {
	for from, to := range map[string]string{"input_fields": "input_schema", "output_fields": "output_schema"} {
		raw, given := doc[from]
		if !given {
			continue
		}
		if doc[to] != nil {
			return refusal.New(tool.Invalid, "/"+from, "%s and %s say the same: expected one of them", from, to)
		}
		compiled, err := compileFields(raw)
		if err != nil {
			return refusal.Within("/"+from, err)
		}
		delete(doc, from)
		doc[to] = compiled
	}
	return nil
}

func compileFields(raw json.RawMessage) (json.RawMessage, error) {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		unified, err := unifyFields("", list)
		if err != nil {
			return nil, err
		}
		fields := make([]field.Field, len(unified))
		for i, doc := range unified {
			if err := doc.into(fmt.Sprintf("/%d", i), &fields[i]); err != nil {
				return nil, err
			}
		}
		return field.Compile(fields)
	}
	form, err := readObject("", raw)
	if err != nil {
		return nil, refusal.New(tool.Invalid, "", "expected a list of fields, or a form with fields")
	}
	form.drop("kept") // Written only; ignored when read.
	if form["fields"] != nil {
		unified, err := unifyWithin("/fields", form["fields"])
		if err != nil {
			return nil, err
		}
		form["fields"] = unified
	}
	var f field.Form
	if err := form.into("", &f); err != nil {
		return nil, err
	}
	return field.CompileForm(f)
}

// unifyFields unifies the spelling of the names of fields and of nested fields.
func unifyFields(path string, list []json.RawMessage) ([]object, error) {
	out := make([]object, len(list))
	for i, raw := range list {
		doc, err := unifyField(fmt.Sprintf("%s/%d", path, i), raw)
		if err != nil {
			return nil, err
		}
		out[i] = doc
	}
	return out, nil
}

func unifyField(path string, raw json.RawMessage) (object, error) {
	doc, err := readObject(path, raw)
	if err != nil {
		return nil, err
	}
	if doc["fields"] != nil {
		if doc["fields"], err = unifyWithin(path+"/fields", doc["fields"]); err != nil {
			return nil, err
		}
	}
	if doc["items"] != nil {
		item, err := unifyField(path+"/items", doc["items"])
		if err != nil {
			return nil, err
		}
		if err := checkNames(path+"/items", item, &field.Field{}); err != nil {
			return nil, err
		}
		if doc["items"], err = json.Marshal(item); err != nil {
			return nil, refusal.New(tool.Invalid, path+"/items", "malformed JSON")
		}
	}
	if doc["options"] != nil {
		doc["options"] = wholeOptions(doc["options"])
	}
	if one := bytes.TrimSpace(doc["visible_when"]); len(one) > 0 && one[0] == '{' { // One condition.
		doc["visible_when"] = json.RawMessage("[" + string(one) + "]")
	}
	return doc, nil
}

// unifyWithin unifies the list of fields nested in a field or a form.
func unifyWithin(path string, raw json.RawMessage) (json.RawMessage, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, refusal.New(tool.Invalid, path, "expected a list of fields")
	}
	unified, err := unifyFields(path, list)
	if err != nil {
		return nil, err
	}
	for i, doc := range unified {
		if err := checkNames(fmt.Sprintf("%s/%d", path, i), doc, &field.Field{}); err != nil {
			return nil, err
		}
	}
	out, err := json.Marshal(unified)
	if err != nil {
		return nil, refusal.New(tool.Invalid, path, "malformed JSON")
	}
	return out, nil
}

// wholeOptions turns bare values into options with a value.
func wholeOptions(raw json.RawMessage) json.RawMessage {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return raw // Decoding reports the wrong type.
	}
	for i, item := range list {
		if len(item) > 0 && item[0] != '{' {
			list[i] = json.RawMessage(`{"value":` + string(item) + `}`)
		}
	}
	out, err := json.Marshal(list)
	if err != nil {
		return raw
	}
	return out
}
