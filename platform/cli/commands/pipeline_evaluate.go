package commands

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/definition"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/platform/recall"
	"github.com/toolcrib/toolcrib/retrieval"
	"github.com/toolcrib/toolcrib/tool"
)

// maxQuestionBytes bounds a file of questions.
const maxQuestionBytes = 8 << 20

// evaluation is what evaluating prints as JSON, for each way of searching.
type evaluation struct {
	Mode      retrieval.Mode     `json:"mode"`
	Questions int                `json:"questions"`
	Recall    float64            `json:"recall"` // The share of questions answered within the first five.
	MRR       float64            `json:"mrr"`
	ByKind    map[string]float64 `json:"by_kind"`
	Missed    []string           `json:"missed"`
}

func (a *app) pipelineEvaluateCommand() *cobra.Command {
	var modes []string
	cmd := cli.Describe(&cobra.Command{
		Use: "evaluate PIPELINE QUESTIONS", Short: "Measure how well a pipeline finds, by questions with known answers",
		Args: cli.Operands("pipeline", "file of questions"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			questions, err := readQuestions(args[1])
			if err != nil {
				return err
			}
			p, err := c.Pipeline(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if len(modes) == 0 {
				modes = modesOf(p)
			}
			done := a.Progress("asking %s %d questions", p.Slug, len(questions))
			out, err := evaluate(cmd.Context(), c, p, modes, questions)
			done()
			if err != nil {
				return err
			}
			return a.Printer.Show(v1.Page[evaluation]{Items: out}, func(w io.Writer) error { return writeEvaluations(w, out) })
		}),
	}, `Asks a pipeline questions with known answers, by each way of searching
that it has, and tells for how many the answer is among the first five passages
(RECALL@5), and how far up it stands: MRR is the mean of 1/rank among the first ten.

The file is YAML. What stands under in is the key of a document and, where only one
section answers, its heading; kind is yours, for figures by kind:

  questions:
    - {ask: How long is the warranty?, kind: words, in: {document: warranty.html, heading: Five years on glazes}}`,
		`  toolcrib pipeline evaluate handbook examples/handbook/questions.yaml
  toolcrib pipeline evaluate handbook questions.yaml --by full_text --json`)
	cmd.Flags().StringSliceVar(
		&modes, "by", nil, "ways of searching: full_text, vector, hybrid (default: all that the pipeline has)",
	)
	return cmd
}

// modesOf lists the ways that a pipeline can be searched.
func modesOf(p v1.Pipeline) []string {
	if p.Embedding == nil {
		return []string{string(retrieval.FullText)}
	}
	var all []string
	for _, mode := range retrieval.Modes() {
		all = append(all, string(mode))
	}
	return all
}

func readQuestions(name string) ([]recall.Question, error) {
	file, err := os.Open(name) //nolint:gosec // The user's.
	if err != nil {
		return nil, &tool.Error{
			Kind: tool.NotFound, Op: "pipeline.evaluate", Msg: definition.Unreadable(name, err), Err: err,
		}
	}
	defer func() { _ = file.Close() }()
	raw, err := io.ReadAll(io.LimitReader(file, maxQuestionBytes))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	questions, err := recall.Read(raw)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return questions, nil
}

func evaluate(
	ctx context.Context, c *client.Client, p v1.Pipeline, modes []string, questions []recall.Question,
) ([]evaluation, error) {
	var out []evaluation
	for _, mode := range modes {
		figures, err := recall.Measure(ctx, questions, func(ctx context.Context, ask string) ([]recall.Found, error) {
			answer, err := c.SearchPipeline(ctx, p.ID, v1.PipelineQuery{
				Query: ask, Limit: recall.Depth, Mode: retrieval.Mode(mode),
			})
			found := make([]recall.Found, len(answer.Hits))
			for i, hit := range answer.Hits {
				found[i] = recall.Found{Document: hit.DocumentKey, Headings: hit.Headings}
			}
			return found, err
		})
		if err != nil {
			return nil, err
		}
		out = append(out, evaluation{
			Mode: retrieval.Mode(mode), Questions: figures.Questions, Recall: figures.Recall, MRR: figures.MRR,
			ByKind: figures.ByKind,
			Missed: append([]string{}, figures.Missed...),
		})
	}
	return out, nil
}

func writeEvaluations(w io.Writer, all []evaluation) error {
	kinds := make(map[string]bool)
	for _, e := range all {
		for kind := range e.ByKind {
			kinds[kind] = kind != ""
		}
	}
	header := []string{"SEARCHED QUESTIONS RECALL@5 MRR"}
	var columns []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		if kinds[kind] && !slices.Contains(columns, kind) {
			columns = append(columns, kind)
			header = append(header, "@"+columnName(kind))
		}
	}
	rows := make([][]string, len(all))
	for i, e := range all {
		rows[i] = []string{
			string(e.Mode), strconv.Itoa(e.Questions), fmt.Sprintf("%.2f", e.Recall), fmt.Sprintf("%.2f", e.MRR),
		}
		for _, kind := range columns {
			rows[i] = append(rows[i], fmt.Sprintf("%.2f", e.ByKind[kind]))
		}
	}
	return terminal.Table(w, strings.Join(header, " "), rows)
}

// columnName makes one word of a kind, as headers of tables want it.
func columnName(kind string) string {
	out := []rune(terminal.Clean(kind))
	for i, r := range out {
		if r == ' ' || r == '~' {
			out[i] = '_'
		}
	}
	return string(out)
}
