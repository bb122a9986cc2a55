package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/toolcrib/toolcrib/schema/jsonvalue"
	"github.com/toolcrib/toolcrib/tool"
)

const (
	maxProblems   = 3  // Listed in a message.
	maxCollected  = 50 // Counted.
	maxBranchTrys = 3  // Problems of an alternative, to choose the intended one.
)

// problem is one reason why a value is invalid.
type problem struct {
	at       *place // Nil for the whole value.
	path     string // Of at, once it is needed.
	expected string
	got      string
	mistyped bool // The type is wrong.
}

func (p problem) String() string {
	path := p.path
	if path == "" {
		path = "the top"
	}
	return fmt.Sprintf("at %s expected %s, got %s", tool.Clip(path, 120), p.expected, p.got)
}

// judge validates v, and explains why it is invalid.
func (s *Schema) judge(w *work, v *jsonvalue.Value) error {
	if w.accepts(s.root, v) || w.err != nil {
		return w.err
	}
	w.extend()
	e := &explainer{schema: s, work: w, most: maxCollected}
	e.explain(s.root, v, nil)
	if cancelled(w.err) {
		return w.err
	}
	problems := e.problems
	if len(problems) == 0 { // The budget ended before a reason was found.
		problems = []problem{{expected: "what the schema describes", got: describe(v)}}
	}
	for i := range problems {
		problems[i].path = problems[i].at.String()
		problems[i].at = nil
	}
	slices.SortFunc(problems, func(a, b problem) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.expected, b.expected))
	})
	problems = slices.Compact(problems)
	texts := make([]string, 0, maxProblems+1)
	for _, p := range problems[:min(len(problems), maxProblems)] {
		texts = append(texts, p.String())
	}
	switch more := len(problems) - maxProblems; {
	case len(e.problems) >= maxCollected:
		texts = append(texts, "and many more")
	case more > 0:
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return &tool.Error{
		Kind: tool.Invalid, Op: "schema.Validate",
		Msg: strings.Join(texts, "; "), Path: tool.Clip(problems[0].path, 240),
	}
}
