package summary

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/tool"
)

// Composer is a model that needs no key: it answers a [Question] with the sentences of the sources
// that have a word of the field, each with the entity it is from. A language model, named in the
// agent's definition, answers the same questions in its own words.
type Composer struct{}

var _ agent.LocalModel = Composer{}

// Local implements [agent.LocalModel].
func (Composer) Local() bool { return true }

// Generate implements [agent.Model].
func (Composer) Generate(_ context.Context, req *agent.ModelRequest) (*agent.ModelResponse, error) {
	invalid := func(err error) error {
		return &tool.Error{Kind: tool.Invalid, Op: "summary.Composer", Msg: "the last message is no question", Err: err}
	}
	if len(req.Messages) == 0 {
		return nil, invalid(nil)
	}
	var q Question
	var text strings.Builder
	for _, block := range req.Messages[len(req.Messages)-1].Content {
		text.WriteString(block.Text)
	}
	if err := json.Unmarshal([]byte(text.String()), &q); err != nil {
		return nil, invalid(err)
	}
	f, ok := field(q.Field)
	if !ok {
		return nil, invalid(fmt.Errorf("no field %q", q.Field))
	}
	raw, err := json.Marshal(struct {
		Claims []Claim `json:"claims"`
	}{quote(f, q.Sources)})
	if err != nil {
		return nil, invalid(err)
	}
	return &agent.ModelResponse{Text: string(raw)}, nil
}

// quote returns the sentences that are about the field.
func quote(f Field, sources []Entity) []Claim {
	claims := []Claim{}
	for _, e := range sources {
		for sentence := range strings.SplitAfterSeq(e.Text, ". ") {
			if mentions(sentence, f.Words) {
				claims = append(claims, Claim{Text: strings.TrimSpace(sentence), Sources: []string{e.ID}})
			}
		}
	}
	return claims
}

// mentions reports whether a sentence has one of the words.
func mentions(sentence string, words []string) bool {
	for w := range strings.FieldsFuncSeq(strings.ToLower(sentence), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if slices.Contains(words, w) {
			return true
		}
	}
	return false
}
