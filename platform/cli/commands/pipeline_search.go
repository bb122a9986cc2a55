package commands

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/retrieval"
)

// excerptChars is how much of a passage is shown to people.
const excerptChars = 400

func (a *app) pipelineSearchCommand() *cobra.Command {
	var in v1.PipelineQuery
	var mode, filter string
	var exclude []string
	cmd := cli.Describe(&cobra.Command{
		Use: "search PIPELINE QUERY", Short: "Search a pipeline", Args: cli.Operands("pipeline", "query"),
		Annotations: map[string]string{cli.QueryOperand: "1"},
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			in.Query, in.Mode, in.Exclude = args[1], retrieval.Mode(mode), exclude
			if filter != "" {
				if !json.Valid([]byte(filter)) {
					return cli.Usagef(`--filter: expected JSON, such as '{"team": "people"}'`)
				}
				in.Filter = json.RawMessage(filter)
			}
			answer, err := c.SearchPipeline(cmd.Context(), args[0], in)
			if err != nil {
				return err
			}
			return a.Printer.Show(answer, func(w io.Writer) error { return a.writeHits(w, answer) })
		}),
	}, `Searches a pipeline as a rag_retrieval tool would, and prints each passage after
where it stands. By words, what stands in double quotes is a phrase. --exclude, or
-"phrase" in the query, leaves out passages that hold it; other words that begin
with a minus are words like any other: a query of such words stands after the
pipeline, and the flags of this command before it or after "--".`,
		`  toolcrib pipeline search handbook "how many days of leave"
  toolcrib pipeline search handbook "sick child" --by hybrid --limit 3
  toolcrib pipeline search handbook "days of leave" --exclude part-time
  toolcrib pipeline search handbook "--dlq-type"
  toolcrib pipeline search handbook overtime --filter '{"team": "people", "year": {"gte": 2024}}'`)
	flags := cmd.Flags()
	flags.StringVar(&mode, "by", "", "how to search: full_text, vector or hybrid (default: the pipeline's way)")
	flags.IntVar(&in.Limit, "limit", 0, "how many passages at most (default 5)")
	flags.StringArrayVar(&exclude, "exclude", nil, "word or phrase that no passage may hold; may be repeated")
	flags.StringVar(&filter, "filter", "", "what documents' metadata must fulfil, as JSON")
	flags.Float64Var(&in.MinScore, "min-score", 0, "leave out passages whose score is less")
	return cmd
}

func (a *app) writeHits(w io.Writer, answer v1.PipelineAnswer) error {
	if len(answer.Hits) == 0 {
		_, err := fmt.Fprintf(a.Env.Err, "nothing was found by %s\n", terminal.Clean(string(answer.Mode)))
		return err
	}
	for i, hit := range answer.Hits {
		if i > 0 {
			_, _ = fmt.Fprintln(w) // The next line fails if this one does.
		}
		text := strings.ReplaceAll(terminal.CleanLines(excerpt(hit.Text)), "\n", "\n    ")
		if _, err := fmt.Fprintf(w, "%s  %.3f\n    %s\n", terminal.Clean(hit.Citation), hit.Score, text); err != nil {
			return err
		}
	}
	return nil
}

// excerpt is the beginning of a passage.
func excerpt(text string) string {
	runes := []rune(strings.TrimSpace(text))
	if len(runes) <= excerptChars {
		return string(runes)
	}
	return strings.TrimSpace(string(runes[:excerptChars-1])) + "…"
}

func (a *app) pipelineReembedCommand() *cobra.Command {
	var flags embeddingFlags
	var noWait bool
	cmd := cli.Describe(&cobra.Command{
		Use: "reembed PIPELINE", Short: "Embed a pipeline's passages by another model", Args: cli.Operands("pipeline"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			config, err := flags.given()
			if err != nil {
				return err
			}
			if config == nil {
				return cli.Usagef("%s needs --url, --model and --dimensions", cmd.CommandPath())
			}
			p, err := c.ReembedPipeline(cmd.Context(), args[0], *config)
			if err != nil {
				return err
			}
			if noWait {
				return a.Printer.ShowLine(p, "%s is being embedded by %s; see toolcrib pipeline show %s",
					terminal.Clean(p.Slug), terminal.Clean(config.Model), terminal.Clean(p.Slug))
			}
			return a.awaitReembedding(cmd, c, p)
		}),
	}, `Embeds all passages of a pipeline by another model, or by its first. The old
embeddings are searched until the new ones are complete, and then the pipeline
changes over at once. --search of toolcrib pipeline update says how it is searched.`,
		`  toolcrib pipeline reembed handbook --url https://ai.example/v1 --model large --dimensions 1024 --credential ai-key`)
	flags.register(cmd, "")
	cmd.Flags().BoolVar(&noWait, "no-wait", false, "do not wait until all passages are embedded")
	return cmd
}

// pipelinePause is between two looks at how far something is.
const pipelinePause = 300 * time.Millisecond

// awaitReembedding waits until a pipeline has changed over to the new
// generation, or this has failed or was superseded.
func (a *app) awaitReembedding(cmd *cobra.Command, c *client.Client, p v1.Pipeline) error {
	ctx := cmd.Context()
	if p.Reembedding == nil {
		return a.showReembedded(p, p.Generation, "")
	}
	wanted, workflow := p.Reembedding.Generation, p.Reembedding.Workflow
	defer a.Progress("embedding %s by %s", p.Slug, p.Reembedding.Embedding.Model)()
	for p.Reembedding != nil && p.Reembedding.Generation == wanted && p.Failed == "" {
		if err := sleep(ctx, pipelinePause); err != nil {
			return err
		}
		var err error
		if p, err = c.Pipeline(ctx, p.ID); err != nil {
			return err
		}
	}
	return a.showReembedded(p, wanted, workflow)
}

func (a *app) showReembedded(p v1.Pipeline, wanted int, workflow string) error {
	err := a.Printer.Show(p, func(w io.Writer) error {
		if p.Generation != wanted || p.Embedding == nil {
			_, err := fmt.Fprintf(w, "%s stays as it was: %s\n", terminal.Clean(p.Slug),
				terminal.Clean(cmp.Or(p.Failed, "another model was asked for since, and the workflow "+workflow+" gave way")))
			return err
		}
		_, err := fmt.Fprintf(w, "%s is embedded by %s\n", terminal.Clean(p.Slug), terminal.Clean(p.Embedding.Model))
		return err
	})
	if err == nil && p.Generation != wanted {
		err = &cli.ExitError{Code: cli.ExitFailure}
	}
	return err
}
