package commands

import (
	"cmp"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/retrieval"
)

func (a *app) pipelineCommand() *cobra.Command {
	return cli.Describe(cli.Group("pipeline", "Keep documents, and search them",
		a.pipelineCreateCommand(), a.pipelineListCommand(), a.pipelineShowCommand(), a.pipelineUpdateCommand(),
		a.pipelineDeleteCommand(),
		a.pipelineAddCommand(), a.pipelineDocumentsCommand(), a.pipelineRemoveCommand(), a.pipelineSearchCommand(),
		a.pipelineEvaluateCommand(), a.pipelineReembedCommand()),
		`A pipeline holds documents: text, Markdown, HTML and PDF. Each is cut into passages
that are found by their words, by their meaning, or by both, and cited by where
they stand. Tools of the type rag_retrieval search a pipeline for agents.

By words, a pipeline needs nothing. By meaning, it needs an embedding model at any
endpoint that speaks OpenAI's protocol.`,
		`  toolcrib pipeline create handbook
  toolcrib pipeline add handbook examples/handbook/documents
  toolcrib pipeline search handbook "how many days of leave"`)
}

// embeddingFlags name an embedding model on a command line.
type embeddingFlags struct {
	config v1.EmbeddingConfig
	prefix string
}

// register adds the flags, whose names begin with prefix.
func (f *embeddingFlags) register(cmd *cobra.Command, prefix string) {
	f.prefix = prefix
	flags := cmd.Flags()
	flags.StringVar(
		&f.config.URL, prefix+"url", "", "base of the endpoint of the embedding model, such as https://api.openai.com/v1",
	)
	flags.StringVar(&f.config.Model, prefix+"model", "", "name of the model there")
	flags.IntVar(&f.config.Dimensions, prefix+"dimensions", 0, "length of its vectors")
	flags.BoolVar(&f.config.RequestDimensions, prefix+"shorten", false,
		"ask for vectors of that length, of a model that can shorten them")
	flags.StringVar(&f.config.CredentialsRef, prefix+"credential", "", "name of the credential that is sent to it")
	flags.IntVar(&f.config.BatchSize, prefix+"batch", 0, "how many texts go into one request (default 64)")
	flags.StringVar(&f.config.QueryPrefix, prefix+"query-prefix", "", "what the model wants before queries")
	flags.StringVar(&f.config.DocumentPrefix, prefix+"document-prefix", "", "what the model wants before passages")
}

// given returns the model that the flags name; nil for none.
func (f *embeddingFlags) given() (*v1.EmbeddingConfig, error) {
	if f.config == (v1.EmbeddingConfig{}) {
		return nil, nil
	}
	for _, flag := range []struct {
		name    string
		missing bool
	}{{"url", f.config.URL == ""}, {"model", f.config.Model == ""}, {"dimensions", f.config.Dimensions == 0}} {
		if flag.missing {
			return nil, cli.Usagef("an embedding model needs --%surl, --%smodel and --%sdimensions: give --%s%s",
				f.prefix, f.prefix, f.prefix, f.prefix, flag.name)
		}
	}
	return &f.config, nil
}

func (a *app) pipelineCreateCommand() *cobra.Command {
	var in v1.NewPipeline
	var chunking v1.Chunking
	var embedding embeddingFlags
	var search, language string
	cmd := cli.Describe(&cobra.Command{
		Use: "create PIPELINE", Short: "Create a pipeline", Args: cli.Operands("slug"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			in.Slug, in.Search, in.Language = args[0], retrieval.Mode(search), retrieval.Language(language)
			var err error
			if in.Embedding, err = embedding.given(); err != nil {
				return err
			}
			if chunking != (v1.Chunking{}) {
				in.Chunking = &chunking
			}
			made, err := c.CreatePipeline(cmd.Context(), in)
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(made, "%s is made, and searched by %s; add documents with toolcrib pipeline add %s FILES",
				terminal.Clean(made.Slug), terminal.Clean(string(made.Search)), terminal.Clean(made.Slug))
		}),
	}, `Creates a pipeline under a slug, which stays for good. It is searched by words,
full_text, unless --search says vector or hybrid: these need an embedding model.

Words are reduced by the rules of --language: with english, "leaves" is found by
"leave". Take simple for none, where documents are of several languages.`, `  toolcrib pipeline create handbook
  toolcrib pipeline create faq --language german --max-chars 800
  toolcrib pipeline create wiki --embedding-url https://ai.example/v1 --embedding-model e5 --embedding-dimensions 384`)
	flags := cmd.Flags()
	flags.StringVar(&in.Name, "name", "", "what people call it (default: the slug)")
	flags.StringVar(&in.Description, "description", "", "what is in it")
	flags.StringVar(
		&search, "search", "",
		"how it is searched unless a request says otherwise: full_text, vector or hybrid (default full_text)",
	)
	flags.StringVar(&language, "language", "", "that words are reduced by (default english)")
	flags.IntVar(&chunking.MaxChars, "max-chars", 0, "most characters of a passage (default 1600)")
	flags.IntVar(&chunking.Overlap, "overlap", 0, "how many characters of one begin the next; -1 for none (default 160)")
	embedding.register(cmd, "embedding-")
	return cmd
}

func (a *app) pipelineListCommand() *cobra.Command {
	return cli.Describe(listCommand(a, "List pipelines", (*client.Client).ListPipelines, listing[v1.Pipeline]{
		header: "PIPELINE NAME~ SEARCH MODEL~ CHANGED",
		row: func(p v1.Pipeline) []string {
			return []string{p.Slug, p.Name, searchOf(p), modelOf(p), terminal.Since(p.UpdatedAt)}
		},
		empty: "no pipelines yet: create one with toolcrib pipeline create SLUG",
	}), `Lists the tenant's pipelines, how each is searched, and by which model its passages
are embedded, if they are.`, `  toolcrib pipeline list
  toolcrib pipeline list --json`)
}

func searchOf(p v1.Pipeline) string {
	if p.Disabled {
		return "disabled"
	}
	return string(p.Search)
}

func modelOf(p v1.Pipeline) string {
	text := ""
	if p.Embedding != nil {
		text = p.Embedding.Model
	}
	if p.Reembedding != nil {
		text += " → " + p.Reembedding.Embedding.Model
	}
	return text
}

func (a *app) pipelineShowCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "show PIPELINE", Short: "Show a pipeline", Args: cli.Operands("pipeline"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			found, err := c.Pipeline(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Printer.Show(found, func(w io.Writer) error { return writePipeline(w, found) })
		}),
	}, `Shows a pipeline by its slug or id: how it is searched, how many documents it has,
and, while its passages are being embedded anew, how many are left.`, `  toolcrib pipeline show handbook`)
}

func writePipeline(w io.Writer, p v1.Pipeline) error {
	values := []string{
		"pipeline", p.Slug, "id", p.ID, "name", p.Name, "description", p.Description, "search", searchOf(p), "language",
		string(p.Language),
		"passages", fmt.Sprintf("%d characters, %d shared", p.Chunking.MaxChars, max(p.Chunking.Overlap, 0)),
	}
	if p.Documents != nil {
		values = append(values, "documents", strconv.Itoa(*p.Documents))
	}
	if e := p.Embedding; e != nil {
		values = append(values, "embedded by", describeModel(*e))
	}
	if r := p.Reembedding; r != nil {
		values = append(values, "being embedded by", describeModel(r.Embedding))
		if r.Left != nil {
			values = append(values, "passages left", strconv.Itoa(*r.Left))
		}
	}
	if p.Failed != "" {
		values = append(values, "not embedded", p.Failed)
	}
	return terminal.Pairs(w, append(values, "changed", terminal.StampSince(p.UpdatedAt))...)
}

func describeModel(e v1.EmbeddingConfig) string {
	return fmt.Sprintf("%s, %d dimensions, at %s, credential %s", e.Model, e.Dimensions, e.URL,
		cmp.Or(e.CredentialsRef, "none"))
}

func (a *app) pipelineUpdateCommand() *cobra.Command {
	var name, description, search, language string
	var chunking v1.Chunking
	var enable, disable bool
	cmd := cli.Describe(&cobra.Command{
		Use: "update PIPELINE", Short: "Change a pipeline", Args: cli.Operands("pipeline"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			given := cmd.Flags().Changed
			var in v1.PipelineChange
			if given("name") {
				in.Name = &name
			}
			if given("description") {
				in.Description = &description
			}
			if given("search") {
				mode := retrieval.Mode(search)
				in.Search = &mode
			}
			if given("language") {
				l := retrieval.Language(language)
				in.Language = &l
			}
			if given("max-chars") || given("overlap") {
				in.Chunking = &chunking
			}
			if enable || disable {
				in.Disabled = &disable
			}
			if in == (v1.PipelineChange{}) {
				return cli.Usagef("%s needs a flag that says what to change", cmd.CommandPath())
			}
			saved, err := c.UpdatePipeline(cmd.Context(), args[0], in)
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(saved, "%s is updated", terminal.Clean(saved.Slug))
		}),
	}, `Changes what the flags name, and leaves the rest. How documents are cut holds for
those that are added from now on. Another embedding model is asked for by
toolcrib pipeline reembed.`, `  toolcrib pipeline update handbook --search hybrid
  toolcrib pipeline update handbook --disable`)
	flags := cmd.Flags()
	flags.StringVar(&name, "name", "", "what people call it")
	flags.StringVar(&description, "description", "", "what is in it")
	flags.StringVar(
		&search, "search", "", "how it is searched unless a request says otherwise: full_text, vector or hybrid",
	)
	flags.StringVar(&language, "language", "", "that words are reduced by; only while there are no documents")
	flags.IntVar(&chunking.MaxChars, "max-chars", 0, "most characters of a passage (default 1600)")
	flags.IntVar(&chunking.Overlap, "overlap", 0, "how many characters of one begin the next; -1 for none (default 160)")
	flags.BoolVar(&disable, "disable", false, "keep everything and answer nothing")
	flags.BoolVar(&enable, "enable", false, "take that back")
	cmd.MarkFlagsMutuallyExclusive("disable", "enable")
	return cmd
}

func (a *app) pipelineDeleteCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "delete PIPELINE", Short: "Delete a pipeline and its documents, for good", Args: cli.Operands("pipeline"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			gone, err := c.DeletePipeline(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(gone, "deleted %s", terminal.Clean(gone.Slug))
		}),
	}, `Deletes a pipeline with everything in it. Tools that search it fail from then on;
those that name it by its slug, until another pipeline takes that.`, `  toolcrib pipeline delete handbook`)
}
