package recall

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/toolcrib/toolcrib/tool"
)

// Depth is how many passages count for a question, and Within the share of
// questions whose answer is among the first of them.
const (
	Depth  = 10
	Within = 5
)

// MaxQuestions bounds a set of questions.
const MaxQuestions = 10_000

// Question is a question and the place of its answer.
type Question struct {
	Ask  string `yaml:"ask"`
	Kind string `yaml:"kind"` // What makes it hard, for figures by kind; may be empty.
	In   Place  `yaml:"in"`
}

// Place is a document, or a section of it.
type Place struct {
	Document string `yaml:"document"` // Its key.
	Heading  string `yaml:"heading"`  // Empty for anywhere in it.
}

// Read reads a set of questions:
//
//	questions:
//	  - {ask: How long is the warranty?, kind: heading, in: {document: warranty.html, heading: Five years on glazes}}
//
// It fails with tool.Invalid.
func Read(raw []byte) ([]Question, error) {
	var file struct {
		Questions []Question `yaml:"questions"`
	}
	if err := yaml.UnmarshalWithOptions(raw, &file, yaml.DisallowUnknownField()); err != nil {
		return nil, invalid("the questions can't be read: %v", err)
	}
	if n := len(file.Questions); n == 0 || n > MaxQuestions {
		return nil, invalid("there are %d questions: want 1 to %d under questions", n, MaxQuestions)
	}
	for i, q := range file.Questions {
		if strings.TrimSpace(q.Ask) == "" || q.In.Document == "" {
			return nil, invalid("question %d wants ask, and in with a document", i+1)
		}
	}
	return file.Questions, nil
}

func invalid(format string, args ...any) error {
	return &tool.Error{Kind: tool.Invalid, Op: "recall.Read", Msg: fmt.Sprintf(format, args...)}
}

// Found is a passage that was found.
type Found struct {
	Document string // Its key.
	Headings []string
}

// at reports whether the passage is at a place.
func (f Found) at(p Place) bool {
	return f.Document == p.Document && (p.Heading == "" || slices.Contains(f.Headings, p.Heading))
}

// Figures are the measured quality of a way of searching.
type Figures struct {
	Questions int
	// Recall is the share of questions whose answer is among the first [Within].
	Recall float64
	// MRR is the mean reciprocal rank of the answer among the first [Depth]: 1
	// where it always comes first, 0 where it is never there.
	MRR    float64
	ByKind map[string]float64 // Recall.
	Missed []string           // The questions whose answer is not among the first [Within].
}

// Measure asks all questions. Search returns the first [Depth] passages for
// one, the best first.
func Measure(
	ctx context.Context, questions []Question, search func(ctx context.Context, ask string) ([]Found, error),
) (Figures, error) {
	out := Figures{Questions: len(questions), ByKind: make(map[string]float64)}
	all := make(map[string]float64)
	for _, q := range questions {
		found, err := search(ctx, q.Ask)
		if err != nil {
			return Figures{}, fmt.Errorf("asking %q: %w", q.Ask, err)
		}
		all[q.Kind]++
		rank := 1 + slices.IndexFunc(found[:min(len(found), Depth)], func(f Found) bool { return f.at(q.In) })
		if rank > 0 {
			out.MRR += 1 / float64(rank)
		}
		if rank == 0 || rank > Within {
			out.Missed = append(out.Missed, q.Ask)
			continue
		}
		out.Recall++
		out.ByKind[q.Kind]++
	}
	for kind, n := range all {
		out.ByKind[kind] /= n
	}
	if n := float64(len(questions)); n > 0 {
		out.Recall, out.MRR = out.Recall/n, out.MRR/n
	}
	return out, nil
}
