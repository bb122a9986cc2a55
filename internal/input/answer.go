package input

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolcrib/toolcrib/schema/field"
)

// Problems says what is wrong with an answer, by the key of the field.
type Problems map[string]string

// ReadForm reads the answer of a person who sent the form, as a browser encodes it; of files it
// has the ids of those that were stored. It returns problems where there are any; the answer is
// incomplete then. Values of other names are ignored.
func (s *Spec) ReadForm(sent url.Values, attached Attached) (map[string]any, Problems) {
	return s.read(func(f *field.Field) (value any, problem string) {
		switch f.Type { //nolint:exhaustive // The others are texts of a kind.
		case field.Upload:
			return readFiles(f, sent[f.Key], attached)
		case field.Object:
			return drawn(readDrawn(sent))
		}
		return readField(f, sent[f.Key])
	})
}

// drawn returns a drawing as the value of a field.
func drawn(d *Drawing, problem string) (value any, fault string) {
	if d == nil {
		return nil, problem
	}
	return d, problem
}

// read reads an answer field by field.
func (s *Spec) read(readField func(f *field.Field) (value any, problem string)) (map[string]any, Problems) {
	answer, problems := map[string]any{}, Problems{}
	for _, f := range s.Fields() {
		value, problem := readField(&f)
		if problem == "" && value == nil && f.Required {
			problem = sayNeeded
		}
		switch {
		case problem != "":
			problems[f.Key] = problem
		case value != nil:
			answer[f.Key] = value
		}
	}
	if s.Markup != nil && len(problems) == 0 && answer[MarkupKey] == nil && answer[ImageKey] == nil {
		problems[MarkupKey] = sayMark
	}
	if len(problems) == 0 {
		return answer, nil
	}
	return answer, problems
}

// readField reads the value of a field, or returns nil where it was left empty.
func readField(f *field.Field, sent []string) (value any, problem string) {
	if f.Multiple {
		return readSeveral(f, sent)
	}
	text := ""
	if len(sent) > 0 {
		text = strings.TrimSpace(strings.ReplaceAll(sent[0], "\r\n", "\n"))
	}
	switch {
	case len(sent) > 1:
		return nil, oneAnswer
	case text == "":
		return nil, ""
	case f.Type == field.Number:
		return readNumber(text)
	case f.Type == field.Boolean && text == "yes":
		return true, ""
	case f.Type == field.Boolean && text == "no":
		return false, ""
	case f.Type == field.Boolean:
		return nil, sayYesOrNo
	}
	return readText(f, text)
}

// What is said of answers, to people and programs.
const (
	oneAnswer   = "one answer is expected"
	sayYesOrNo  = "choose yes or no"
	sayANumber  = "a number is expected, such as 12 or 3.5"
	sayOneOf    = "choose one of the options"
	sayAmong    = "choose among the options"
	sayNeeded   = "an answer is needed"
	sayMark     = "mark the image, describe a region, or send an image with your marks"
	sayCannotBe = "the text has characters that cannot be kept"
)

// readText reads a text or an option.
func readText(f *field.Field, text string) (value any, problem string) {
	switch {
	case f.Type == field.Enum && !offers(f, text):
		return nil, sayOneOf
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return nil, sayCannotBe
	case f.MaxLength != nil && utf8.RuneCountInString(text) > *f.MaxLength:
		return nil, fmt.Sprintf("the text has more than %d characters", *f.MaxLength)
	}
	return text, ""
}

// decimal is a number as people write it, with a decimal point or comma.
var decimal = regexp.MustCompile(`^([+-]?)(\d{1,30})(?:[.,](\d{1,30}))?$`)

// readNumber reads a number. One such as 1,000, which some read as a thousand and others as
// one, is refused rather than guessed.
func readNumber(text string) (value any, problem string) {
	parts := decimal.FindStringSubmatch(text)
	if parts == nil {
		return nil, sayANumber
	}
	whole, fraction := strings.TrimLeft(parts[2], "0"), parts[3]
	if len(fraction) == 3 && whole != "" {
		return nil, "write a number such as 1000 without separators, and 1.5 with other than three decimals"
	}
	return number(parts[1], whole, fraction), ""
}

// number writes a number as every answer has it.
func number(sign, whole, fraction string) json.Number {
	n := strings.TrimPrefix(sign, "+") + cmp.Or(whole, "0")
	if fraction != "" {
		n += "." + fraction
	}
	return json.Number(n)
}

func readSeveral(f *field.Field, sent []string) (value any, problem string) {
	var chosen []string
	for _, id := range sent {
		if !offers(f, id) {
			return nil, sayAmong
		}
		if !slices.Contains(chosen, id) {
			chosen = append(chosen, id)
		}
	}
	if len(chosen) == 0 {
		return nil, ""
	}
	return chosen, ""
}

func offers(f *field.Field, id string) bool {
	return slices.ContainsFunc(f.Options, func(o field.Option) bool { return string(o.Value) == string(quoted(id)) })
}

// Kind is what results of requests are marked with (S0-124).
const Kind = "input_request"

// ResultSchema is the output schema of tools that ask for input: of what [Result] makes.
const ResultSchema = `{
  "type": "object",
  "additionalProperties": false,
  "required": ["kind", "view_id", "answer"],
  "properties": {
    "kind": {"type": "string"},
    "view_id": {"type": "string", "description": "The page that was answered on."},
    "answer": {"type": "object", "description": "The answers, by the ids of questions; else choice, approved, notes, markup and image."}
  }
}`

// Result is the result of the call with the answer of a person.
func Result(viewID string, answer map[string]any) (json.RawMessage, error) {
	var raw bytes.Buffer
	encoder := json.NewEncoder(&raw)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(struct {
		Kind   string         `json:"kind"`
		ViewID string         `json:"view_id"`
		Answer map[string]any `json:"answer"`
	}{Kind, viewID, answer})
	if err != nil {
		return nil, fmt.Errorf("writing the answer: %w", err)
	}
	return raw.Bytes(), nil
}
