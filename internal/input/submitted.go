package input

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/file"
	"github.com/toolcrib/toolcrib/schema/field"
)

// Answer is the answer to a request, checked.
type Answer struct {
	Values  map[string]any // By the keys of the fields.
	Files   []string       // Ids of the files that it names.
	Drawing *Drawing       // What was drawn on the image; nil for nothing.
}

// Result is the result of the call. Where something was drawn, it says where the marks are, and in
// which file all of it is; nil for none.
func (a *Answer) Result(viewID string, drawing *file.Reference) (json.RawMessage, error) {
	values := a.Values
	if a.Drawing != nil {
		values = maps.Clone(a.Values)
		values[MarkupKey] = marked{Regions: a.Drawing.regions(), File: drawing}
	}
	return Result(viewID, values)
}

// ReadResult reads the result that a program submits for a request: the answer by the keys of
// its fields, or what [Result] makes of it. It returns what the page makes of the same answer,
// and fails with tool.Invalid, the path in the result, and the words of the page.
func (s *Spec) ReadResult(viewID string, raw json.RawMessage, attached Attached) (*Answer, error) {
	values, at, err := readPacket(viewID, raw)
	if err != nil {
		return nil, err
	}
	fields := s.Fields()
	for key := range values {
		if !slices.ContainsFunc(fields, func(f field.Field) bool { return f.Key == key }) {
			return nil, invalid(at, fmt.Sprintf("the form has no field %.80q: expected %s", key, keysOf(fields)))
		}
	}
	answer, problems := s.read(func(f *field.Field) (value any, problem string) {
		return readValue(f, values[f.Key], attached)
	})
	for _, f := range fields { // The first problem, in the order of the form.
		if problem := problems[f.Key]; problem != "" {
			return nil, invalid(at+"/"+f.Key, problem)
		}
	}
	drawing, _ := answer[MarkupKey].(*Drawing)
	return &Answer{Values: answer, Files: filesOf(fields, answer), Drawing: drawing}, nil
}

// readPacket returns the answer in a submitted result, and where it is.
func readPacket(viewID string, raw json.RawMessage) (values map[string]json.RawMessage, at string, err error) {
	if json.Unmarshal(raw, &values) != nil || values == nil {
		return nil, "", invalid("", "expected the answer as an object, by the keys of the form's fields")
	}
	inner, ok := values["answer"]
	if !ok || !bytes.HasPrefix(bytes.TrimSpace(inner), []byte("{")) {
		return values, "", nil
	}
	var packet struct {
		Kind   string                     `json:"kind"`
		ViewID string                     `json:"view_id"`
		Answer map[string]json.RawMessage `json:"answer"`
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	switch err := decoder.Decode(&packet); {
	case err != nil:
		return nil, "", invalid("", "expected kind, view_id and answer: "+strings.TrimPrefix(err.Error(), "json: "))
	case packet.Kind != "" && packet.Kind != Kind:
		return nil, "", invalid("/kind", "expected "+Kind)
	case packet.ViewID != "" && packet.ViewID != viewID:
		return nil, "", invalid("/view_id", "the answer is for another request")
	}
	return packet.Answer, "/answer", nil
}

func keysOf(fields []field.Field) string {
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.Key
	}
	return strings.Join(keys, ", ")
}

// readValue reads the JSON value of a field, or returns nil where there is none.
func readValue(f *field.Field, raw json.RawMessage, attached Attached) (value any, problem string) {
	var text string
	raw = bytes.TrimSpace(raw)
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil, ""
	case f.Type == field.Upload:
		return readFileValue(f, raw, attached)
	case f.Type == field.Object:
		return drawn(ReadDrawing(raw))
	case f.Multiple:
		var chosen []string
		if json.Unmarshal(raw, &chosen) != nil {
			return nil, "expected a list of the options' ids"
		}
		return readSeveral(f, chosen)
	case f.Type == field.Number:
		parts := decimal.FindStringSubmatch(string(raw))
		if parts == nil {
			return nil, sayANumber
		}
		return number(parts[1], strings.TrimLeft(parts[2], "0"), parts[3]), ""
	case f.Type == field.Boolean:
		var yes bool
		if json.Unmarshal(raw, &yes) != nil {
			return nil, sayYesOrNo + ": true or false"
		}
		return yes, ""
	case json.Unmarshal(raw, &text) != nil:
		return nil, "expected a text"
	}
	if text = strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")); text == "" {
		return nil, ""
	}
	return readText(f, text)
}
