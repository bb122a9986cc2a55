package commands

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/retrieval"
)

// addFlags describe the documents to add, beside the files.
type addFlags struct {
	key, title, source, mediaType string
	metadata                      []string
	noWait                        bool
}

func (a *app) pipelineAddCommand() *cobra.Command {
	var f addFlags
	cmd := cli.Describe(&cobra.Command{
		Use: "add PIPELINE FILE...", Short: "Add files, folders or standard input to a pipeline",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return cli.Operands("pipeline", "file")(cmd, args)
			}
			return nil
		},
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			documents, err := a.readDocuments(f, args[1:])
			if err != nil {
				return err
			}
			return a.addDocuments(cmd.Context(), c, args[0], documents, f.noWait)
		}),
	}, `Adds documents, and waits until they are searched. A folder is added with all in it
that is text, Markdown, HTML or PDF, by the ends of their names (.txt, .md, .html,
.pdf); the rest is passed over, and so is what is hidden. A file's key is its path
below the folder; what has that key in the pipeline already is replaced.

- stands for standard input and needs --document-key. Text is UTF-8 or UTF-16; a
document may have 10 MiB. The same documents again change nothing.`,
		`  toolcrib pipeline add handbook examples/handbook/documents --meta team=people
  toolcrib pipeline add handbook returns.pdf --title "Returns" --source https://example.com/returns.pdf
  curl -s https://example.com/faq | toolcrib pipeline add handbook - --document-key faq --type text/html`)
	flags := cmd.Flags()
	flags.StringVar(&f.key, "document-key", "", "name of the document in the pipeline, of one file (default: its path)")
	flags.StringVar(&f.title, "title", "", "title, of one file (default: what it says of itself)")
	flags.StringVar(
		&f.source, "source", "",
		"where it is from, for citations: of one file itself, of several what stands before their keys (default: the path)",
	)
	flags.StringVar(
		&f.mediaType, "type", "",
		"text/plain, text/markdown, text/html or application/pdf (default: by the end of the name)",
	)
	flags.StringArrayVar(
		&f.metadata, "meta", nil,
		"metadata as field=value, where numbers, true and false are what they look like; may be repeated",
	)
	flags.BoolVar(&f.noWait, "no-wait", false, "do not wait until they are searched")
	return cmd
}

// addedDocuments is what adding prints as JSON.
type addedDocuments struct {
	Failed int           `json:"failed"`
	Items  []v1.Document `json:"items"`
}

// addDocuments adds documents one by one, and reports each when it can be
// searched or has failed.
func (a *app) addDocuments(
	ctx context.Context, c *client.Client, pipeline string, documents []v1.NewDocument, noWait bool,
) error {
	out := addedDocuments{Items: make([]v1.Document, len(documents))}
	defer a.Progress("adding to %s", pipeline)()
	for i, d := range documents {
		added, err := c.AddDocument(ctx, pipeline, d)
		if err != nil {
			return fmt.Errorf("adding %s: %w", d.Key, err)
		}
		if out.Items[i] = added; noWait {
			if err := a.tellDocument(added); err != nil {
				return err
			}
		}
	}
	for i := 0; i < len(out.Items) && !noWait; i++ {
		var err error
		if out.Items[i], err = a.awaitDocument(ctx, c, out.Items[i]); err != nil {
			return err
		}
		if err := a.tellDocument(out.Items[i]); err != nil {
			return err
		}
	}
	for _, d := range out.Items {
		if d.Status == retrieval.Failed {
			out.Failed++
		}
	}
	if a.Printer.JSON {
		if err := a.Printer.Show(out, nil); err != nil {
			return err
		}
	}
	if out.Failed > 0 {
		return &cli.ExitError{Code: cli.ExitFailure}
	}
	return nil
}

// awaitDocument waits until a document is searched, or can't be.
func (a *app) awaitDocument(ctx context.Context, c *client.Client, d v1.Document) (v1.Document, error) {
	for d.Status == retrieval.Pending || d.Status == retrieval.Ingesting {
		if err := sleep(ctx, pipelinePause); err != nil {
			return d, err
		}
		next, err := c.Document(ctx, d.Pipeline, d.ID)
		if err != nil {
			return d, fmt.Errorf("looking at %s: %w", d.Key, err)
		}
		d = next
	}
	return d, nil
}

func (a *app) tellDocument(d v1.Document) error {
	line := fmt.Sprintf("%-9s %s", d.Status, terminal.Clean(d.Key))
	switch d.Status {
	case retrieval.Ready:
		line += fmt.Sprintf("  %d passages", d.Chunks)
	case retrieval.Failed:
		line += "  " + terminal.Shorten(d.Error, 200)
	case retrieval.Pending, retrieval.Ingesting:
	}
	return a.Printer.Say("%s", line)
}

// sleep waits, or ends with ctx.
func sleep(ctx context.Context, pause time.Duration) error {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

func (a *app) pipelineDocumentsCommand() *cobra.Command {
	var p paging
	var status string
	cmd := cli.Describe(&cobra.Command{
		Use: "documents PIPELINE", Short: "List a pipeline's documents", Args: cli.Operands("pipeline"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			page, err := collect(p, func(page client.Page) (v1.Page[v1.Document], error) {
				return c.ListDocuments(cmd.Context(), args[0], retrieval.DocumentStatus(status), page)
			})
			if err != nil {
				return err
			}
			return showPage(a, filtered(cmd), page, listing[v1.Document]{
				header: "KEY~ STATUS PASSAGES BYTES TYPE TITLE~ CHANGED",
				row: func(d v1.Document) []string {
					return []string{
						d.Key, string(d.Status), strconv.Itoa(d.Chunks), strconv.Itoa(d.Bytes), string(d.MediaType), documentNote(d),
						terminal.Since(d.UpdatedAt),
					}
				},
				empty: "no documents yet: add some with toolcrib pipeline add PIPELINE FILES",
			})
		}),
	}, `Lists a pipeline's documents: how far each is, and how many passages it was cut
into. One that failed says why, and is tried again when it is added again.`, `  toolcrib pipeline documents handbook
  toolcrib pipeline documents handbook --status failed --json`)
	p.register(cmd)
	cmd.Flags().StringVar(&status, "status", "", "pending, ingesting, ready or failed")
	return cmd
}

// documentNote is a document's title, or why it failed.
func documentNote(d v1.Document) string {
	if d.Status == retrieval.Failed {
		return d.Error
	}
	return d.Title
}

// removedDocuments is what removing prints as JSON.
type removedDocuments struct {
	Items []v1.Document `json:"items"`
}

func (a *app) pipelineRemoveCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "remove PIPELINE DOCUMENT...", Short: "Delete documents of a pipeline, for good",
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return cli.Operands("pipeline", "document")(cmd, args)
			}
			return nil
		},
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			var out removedDocuments
			for _, name := range args[1:] {
				gone, err := c.DeleteDocument(cmd.Context(), args[0], name)
				if err != nil {
					return fmt.Errorf("deleting %s: %w", name, err)
				}
				out.Items = append(out.Items, gone)
			}
			return a.Printer.Show(out, func(w io.Writer) error {
				for _, gone := range out.Items {
					if _, err := fmt.Fprintf(w, "deleted %s\n", terminal.Clean(gone.Key)); err != nil {
						return err
					}
				}
				return nil
			})
		}),
	}, `Deletes documents by their keys or ids. They are not found any more from then on.`,
		`  toolcrib pipeline remove handbook returns.html
  toolcrib pipeline remove handbook old/terms.pdf old/prices.pdf`)
}
