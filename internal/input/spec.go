package input

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/toolcrib/toolcrib/schema/field"
	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of a request.
const (
	maxTitle        = 200
	maxInstructions = 4000
	maxQuestions    = 20
	minOptions      = 2
	maxOptions      = 6
	maxLabel        = 500
	maxText         = 10_000 // Characters of an answer.
)

// Spec is a request for input (InputRequestSpec, S0-126). Exactly one of Questions, Choose,
// Markup and Approve is set.
type Spec struct {
	Title        string     `json:"title"`
	Instructions string     `json:"instructions,omitempty"`
	Questions    []Question `json:"questions,omitempty"`
	Choose       *Choose    `json:"choose,omitempty"`
	Markup       *Markup    `json:"markup,omitempty"`
	Approve      *Approve   `json:"approve,omitempty"`
}

// Question asks for a text, a number or files.
type Question struct {
	ID       string `json:"id"` // Key of the answer.
	Label    string `json:"label"`
	Type     string `json:"type,omitempty"`     // "text", "number" or "file"; text when empty.
	Optional bool   `json:"optional,omitempty"` // May be left empty.
	Help     string `json:"help,omitempty"`

	// Of files.
	Accept   []string `json:"accept,omitempty"`   // Media types such as "image/*"; all when empty.
	MaxFiles int      `json:"maxFiles,omitempty"` //nolint:tagliatelle // As its siblings. 1 when zero.
	MaxBytes int64    `json:"maxBytes,omitempty"` //nolint:tagliatelle // As its siblings. Of each; the server's when zero.
}

// Choose asks for one of two to six options, or for several of them.
type Choose struct {
	Options []Option `json:"options"`
	Mode    string   `json:"chooseMode,omitempty"` //nolint:tagliatelle // S0-128 names it so. "single" or "multiple"; single when empty.
}

// Option is one of the options of a choice.
type Option struct {
	ID       string `json:"id"`
	Label    string `json:"label"`
	ImageURL string `json:"imageUrl,omitempty"` //nolint:tagliatelle // S0-128 names it so. An https address, shown as a link.
}

// Approve asks for yes or no.
type Approve struct {
	Label   string `json:"label,omitempty"`   // What is agreed to; the title when empty.
	NoNotes bool   `json:"noNotes,omitempty"` //nolint:tagliatelle // As its siblings. The person is not asked for notes.
}

// Modes of a choice, and types of questions.
const (
	Multiple = "multiple"
	Single   = "single"
	Text     = "text"
	Number   = "number"
	File     = "file"
)

var idPattern = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]{0,63}$`)

// Read reads the arguments of a call. It fails with tool.Invalid and the path of the fault.
func Read(arguments json.RawMessage) (Spec, error) {
	var s Spec
	decoder := json.NewDecoder(bytes.NewReader(arguments))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&s); err != nil {
		return s, invalid("", "expected a request for input: "+strings.TrimPrefix(err.Error(), "json: "))
	}
	if decoder.More() {
		return s, invalid("", "expected one request for input")
	}
	return s, s.check()
}

func invalid(path, msg string) error {
	return &tool.Error{Kind: tool.Invalid, Op: "input.Read", Path: path, Msg: msg}
}

func (s *Spec) check() error {
	asked := 0
	for _, set := range []bool{len(s.Questions) > 0, s.Choose != nil, s.Markup != nil, s.Approve != nil} {
		if set {
			asked++
		}
	}
	switch {
	case strings.TrimSpace(s.Title) == "" || len(s.Title) > 4*maxTitle:
		return invalid("/title", "a request needs a title of at most 200 characters")
	case len(s.Instructions) > 4*maxInstructions:
		return invalid("/instructions", "the instructions are too long")
	case asked != 1:
		return invalid("", fmt.Sprintf("set exactly one of questions, choose, markup and approve: %d are", asked))
	case s.Choose != nil:
		return s.Choose.check()
	case s.Markup != nil:
		return s.Markup.check()
	case s.Approve != nil && len(s.Approve.Label) > 4*maxLabel:
		return invalid("/approve/label", "the label is too long")
	case len(s.Questions) > maxQuestions:
		return invalid("/questions", fmt.Sprintf("a request has at most %d questions", maxQuestions))
	}
	seen := map[string]bool{}
	for i, q := range s.Questions {
		path := fmt.Sprintf("/questions/%d", i)
		switch {
		case q.Type != "" && q.Type != Text && q.Type != Number && q.Type != File:
			return invalid(path+"/type", `expected "text", "number" or "file"`)
		case len(q.Help) > 4*maxLabel:
			return invalid(path+"/help", "the help is too long")
		}
		if err := q.checkFiles(path); err != nil {
			return err
		}
		if err := checkLabelled(path, q.ID, q.Label, seen); err != nil {
			return err
		}
	}
	return nil
}

func (c *Choose) check() error {
	switch {
	case c.Mode != "" && c.Mode != Single && c.Mode != Multiple:
		return invalid("/choose/chooseMode", `expected "single" or "multiple"`)
	case len(c.Options) < minOptions || len(c.Options) > maxOptions:
		return invalid("/choose/options", fmt.Sprintf("a choice has %d to %d options, not %d", minOptions, maxOptions,
			len(c.Options)))
	}
	seen := map[string]bool{}
	for i, o := range c.Options {
		path := fmt.Sprintf("/choose/options/%d", i)
		if err := checkLabelled(path, o.ID, o.Label, seen); err != nil {
			return err
		}
		if o.ImageURL != "" && Host(o.ImageURL) == "" {
			return invalid(path+"/imageUrl", "expected an https address, its host in ASCII, without a user name")
		}
	}
	return nil
}

// maxURL bounds the address of an image.
const maxURL = 2000

// Host returns the host of the address of an image, which is shown beside it; empty for an
// address that is not accepted.
func Host(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.User != nil || u.Hostname() == "" || len(address) > maxURL ||
		strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return u.Host
}

// checkLabelled checks what is common to questions and options.
func checkLabelled(path, id, label string, seen map[string]bool) error {
	switch {
	case !idPattern.MatchString(id):
		return invalid(path+"/id", "an id is a letter and up to 63 letters, digits and underscores")
	case seen[id]:
		return invalid(path+"/id", fmt.Sprintf("the id %q is given twice", id))
	case strings.TrimSpace(label) == "" || len(label) > 4*maxLabel:
		return invalid(path+"/label", "a label has 1 to 500 characters")
	}
	seen[id] = true
	return nil
}

// Keys of answers that are not of a question.
const (
	ChoiceKey   = "choice"
	ApprovedKey = "approved"
	NotesKey    = "notes"
)

// Fields returns the form (FormSpec) that a person fills in: each field's key is where its
// answer goes (OutputTarget, S0-139).
func (s *Spec) Fields() []field.Field {
	most := maxText
	switch {
	case s.Choose != nil:
		f := field.Field{
			Key: ChoiceKey, Label: s.Title, Type: field.Enum, Display: field.Radio, Required: true,
			Multiple: s.Choose.Mode == Multiple,
		}
		if f.Multiple {
			least := 1
			f.Display, f.MinItems, f.Unique = field.Chips, &least, true
		}
		for _, o := range s.Choose.Options {
			f.Options = append(f.Options, field.Option{Value: quoted(o.ID), Label: o.Label})
		}
		return []field.Field{f}
	case s.Markup != nil:
		return s.Markup.fields(s.Title)
	case s.Approve != nil:
		label := s.Approve.Label
		if label == "" {
			label = s.Title
		}
		fields := []field.Field{{Key: ApprovedKey, Label: label, Type: field.Boolean, Required: true}}
		if !s.Approve.NoNotes {
			fields = append(fields, notes())
		}
		return fields
	}
	fields := make([]field.Field, len(s.Questions))
	for i, q := range s.Questions {
		if q.Type == File {
			fields[i] = q.fileField()
			continue
		}
		fields[i] = field.Field{Key: q.ID, Label: q.Label, Help: q.Help, Required: !q.Optional, Type: field.Number}
		if q.Type != Number {
			fields[i].Type, fields[i].Display, fields[i].MaxLength = field.Text, field.Textarea, &most
			if !q.Optional {
				least := 1
				fields[i].MinLength = &least
			}
		}
	}
	return fields
}

// notes is the field for what else a person has to say.
func notes() field.Field {
	most := maxText
	return field.Field{Key: NotesKey, Label: "Notes", Type: field.Text, Display: field.Textarea, MaxLength: &most}
}

func quoted(s string) json.RawMessage {
	raw, _ := json.Marshal(s) // A string: it cannot fail.
	return raw
}
