package api

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
)

//go:embed docs.html
var docsPage string

// docsPolicy forbids the page to load any resource: everything is inline.
const docsPolicy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; " +
	"frame-ancestors 'none'"

// registerDocs adds the HTML page that documents the API. It is rendered once,
// from the same description as /openapi.json.
func (s *server) registerDocs(router chi.Router) error {
	page, err := renderDocs(s.api.OpenAPI())
	if err != nil {
		return err
	}
	router.Get("/docs", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", docsPolicy)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write(page) // An error cannot be reported any more.
	})
	return nil
}

func renderDocs(doc *huma.OpenAPI) ([]byte, error) {
	page, err := template.New("docs").Funcs(template.FuncMap{"words": words, "paragraphs": paragraphs}).Parse(docsPage)
	if err != nil {
		return nil, fmt.Errorf("reading the page of the documentation: %w", err)
	}
	var out bytes.Buffer
	err = page.Execute(&out, docsData{
		Title: doc.Info.Title, Version: doc.Info.Version, Description: doc.Info.Description,
		Groups: docGroups(doc), Problems: v1.ProblemClasses(),
	})
	if err != nil {
		return nil, fmt.Errorf("rendering the page of the documentation: %w", err)
	}
	return out.Bytes(), nil
}

type docsData struct {
	Title, Version, Description string
	Groups                      []docGroup
	Problems                    []v1.ProblemClass
}

type docGroup struct {
	Name       string
	Operations []docOperation
}

type docOperation struct {
	ID, Method, Path, Summary, Description string
	Keyless                                bool
	Parameters                             []docField
	Body                                   *docBody
	Answers                                []docAnswer
}

type docField struct {
	Name, In, Type, Description, Example string
	Required                             bool
}

type docBody struct {
	Fields  []docField
	Example string
}

type docAnswer struct {
	Status, Description string
	Bodies              []docMedia
}

type docMedia struct {
	Media string
	docBody
}

// docGroups sorts the operations by their tags, and those of a tag by path.
func docGroups(doc *huma.OpenAPI) []docGroup {
	groups := make(map[string][]docOperation)
	d := docWriter{doc.Components.Schemas}
	for _, op := range operationsOf(doc) {
		tag := "other"
		if len(op.Tags) > 0 {
			tag = op.Tags[0]
		}
		groups[tag] = append(groups[tag], d.operation(op))
	}
	out := make([]docGroup, 0, len(groups))
	for _, tag := range slices.Sorted(maps.Keys(groups)) {
		slices.SortFunc(groups[tag], func(a, b docOperation) int {
			return strings.Compare(a.Path+" "+a.Method, b.Path+" "+b.Method)
		})
		out = append(out, docGroup{tag, groups[tag]})
	}
	return out
}

type docWriter struct {
	schemas huma.Registry
}

func (d docWriter) operation(op *huma.Operation) docOperation {
	out := docOperation{
		ID: op.OperationID, Method: op.Method, Path: op.Path, Summary: op.Summary, Description: op.Description,
		Keyless: len(op.Security) == 0,
	}
	for _, p := range op.Parameters {
		out.Parameters = append(out.Parameters, docField{
			Name: p.Name, In: p.In, Type: d.typeOf(p.Schema), Description: p.Description, Required: p.Required,
			Example: compact(p.Example),
		})
	}
	if op.RequestBody != nil && op.RequestBody.Content[jsonType] != nil {
		body := d.body(op.RequestBody.Content[jsonType])
		out.Body = &body
	}
	for _, status := range slices.Sorted(maps.Keys(op.Responses)) {
		response := op.Responses[status]
		if response.Content[v1.ProblemType] != nil && status != "default" {
			continue // The page describes problems once.
		}
		answer := docAnswer{Status: status, Description: response.Description}
		for _, media := range slices.Sorted(maps.Keys(response.Content)) {
			answer.Bodies = append(answer.Bodies, docMedia{media, d.body(response.Content[media])})
		}
		out.Answers = append(out.Answers, answer)
	}
	return out
}

func (d docWriter) body(media *huma.MediaType) docBody {
	out := docBody{Example: pretty(media.Example)}
	s := resolved(d.schemas, media.Schema)
	if s == nil {
		return out
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		member := s.Properties[name]
		description := member.Description
		if target := resolved(d.schemas, member); description == "" && target != nil {
			description = target.Description
		}
		out.Fields = append(out.Fields, docField{
			Name: name, Type: d.typeOf(member), Description: description, Required: slices.Contains(s.Required, name),
		})
	}
	return out
}

// typeOf describes the type of a value.
func (d docWriter) typeOf(s *huma.Schema) string {
	s = resolved(d.schemas, s)
	switch {
	case s == nil || s.Type == "":
		return "any"
	case len(s.Enum) > 0:
		var values []string
		for _, v := range s.Enum {
			values = append(values, fmt.Sprint(v))
		}
		return strings.Join(values, " | ")
	case s.Type == huma.TypeArray:
		return "list of " + d.typeOf(s.Items)
	case s.Format != "":
		return s.Type + " (" + s.Format + ")"
	default:
		return s.Type
	}
}

func compact(v any) string {
	if v == nil {
		return ""
	}
	if text, ok := v.(string); ok {
		return text
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(raw)
}

func pretty(v any) string {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false) // The page escapes it.
	enc.SetIndent("", "  ")
	if v == nil || enc.Encode(v) != nil {
		return ""
	}
	return strings.TrimSpace(out.String())
}

// paragraphs splits a text at its empty lines.
func paragraphs(text string) []string { return strings.Split(text, "\n\n") }

// word is a part of a text, code or not.
type word struct {
	Text string
	Code bool
}

// words splits a text at its backquotes.
func words(text string) []word {
	var out []word
	for i, part := range strings.Split(text, "`") {
		if part != "" {
			out = append(out, word{part, i%2 == 1})
		}
	}
	return out
}
