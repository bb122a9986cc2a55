package ask

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
)

// MaxText bounds the passages of one result, in bytes. Passages beyond it are left out, and their
// number is reported.
const MaxText = 96 << 10

// passage is a hit in a result.
type passage struct {
	Text        string             `json:"text"`
	Title       string             `json:"title"`
	Source      string             `json:"source"`
	Headings    []string           `json:"headings"`
	Citation    string             `json:"citation"`
	Score       float64            `json:"score"`
	DocumentID  string             `json:"document_id"`
	DocumentKey string             `json:"document_key"`
	ChunkID     string             `json:"chunk_id"`
	Start       int                `json:"start"`
	End         int                `json:"end"`
	Page        int                `json:"page,omitempty"`
	Metadata    retrieval.Metadata `json:"metadata"`
}

// answer is the structured value of a result.
type answer struct {
	Query    string         `json:"query"`
	Pipeline string         `json:"pipeline"`
	Mode     retrieval.Mode `json:"mode"`
	Hits     []passage      `json:"hits"`
	Omitted  int            `json:"omitted,omitempty"`
}

// result returns the hits as data and as numbered citations.
func result(query string, found retrieval.Answer) (*tool.Result, error) {
	out := answer{Query: query, Pipeline: found.Pipeline.Slug, Mode: found.Mode, Hits: []passage{}}
	var text strings.Builder
	size := 0
	for i := range found.Hits {
		h := &found.Hits[i]
		size += len(h.Text)
		if size > MaxText && i > 0 {
			out.Omitted = len(found.Hits) - i
			break
		}
		citation := h.Citation(i + 1)
		fmt.Fprintf(&text, "%s\n%s\n\n", citation, h.Text)
		out.Hits = append(out.Hits, passage{
			Text: h.Text, Title: h.Title, Source: h.Source, Headings: append([]string{}, h.Headings...), Citation: citation,
			Score:      h.Score,
			DocumentID: h.DocumentID, DocumentKey: h.DocumentKey, ChunkID: h.ID, Start: h.Start, End: h.End, Page: h.Page,
			Metadata: orEmpty(h.Metadata),
		})
	}
	switch {
	case len(out.Hits) == 0:
		fmt.Fprintf(&text, "Nothing in %s matches.", found.Pipeline.Slug)
	case out.Omitted > 0:
		fmt.Fprintf(&text, "%d more passages were found and left out: ask for fewer, or more narrowly.", out.Omitted)
	}
	raw, err := json.Marshal(out)
	if err != nil {
		return nil, &tool.Error{Kind: tool.InternalError, Op: "ask.Run", Msg: "internal error", Err: err}
	}
	res := &tool.Result{Content: []tool.Content{tool.Text(strings.TrimSpace(text.String()))}, Structured: raw}
	if out.Omitted > 0 {
		res.Warnings = []string{
			fmt.Sprintf("%d of %d passages were left out: together they have more than %d bytes", out.Omitted, len(found.Hits),
				MaxText),
		}
	}
	return res, nil
}

func orEmpty(m retrieval.Metadata) retrieval.Metadata {
	if m == nil {
		return retrieval.Metadata{}
	}
	return m
}
