package commands

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/platform/openapi"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) toolImportCommand() *cobra.Command {
	return cli.Describe(cli.Group("import", "Make tools of what others describe", a.importOpenAPICommand(),
		a.importDefinitionsCommand()),
		`Makes tools of a description, or of definitions of another system.`,
		`  toolcrib tool import openapi openapi.yaml
  toolcrib tool import definitions -f export.json --dry-run`)
}

func (a *app) importOpenAPICommand() *cobra.Command {
	in := v1.ImportOpenAPI{Only: &v1.OperationFilter{}, Except: &v1.OperationFilter{}}
	var credentials, variables []string
	var auth string
	var apply, losses bool
	cmd := cli.Describe(&cobra.Command{
		Use: "openapi FILE", Short: "Make a draft of an http tool of each operation of an OpenAPI document",
		Args: cli.Operands("file"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			dryRun := !apply && !in.Publish
			in.DryRun = &dryRun
			var err error
			if in.Credentials, err = assignments("--credential", "SCHEME=NAME", credentials); err != nil {
				return err
			}
			if in.Variables, err = assignments("--variable", "NAME=VALUE", variables); err != nil {
				return err
			}
			if in.Auth, err = parseAuth(auth); err != nil {
				return err
			}
			if in.Document, err = readDocument(args[0], cmd.InOrStdin()); err != nil {
				return err
			}
			step, done := a.Steps("importing %s", args[0])
			answer, err := c.FollowImportOpenAPI(cmd.Context(), in, func(p v1.ImportProgress) {
				step(fmt.Sprintf("%d of %d operations", p.Done, p.Total))
			})
			done()
			if err != nil {
				return err
			}
			if err := a.Printer.Show(answer, func(w io.Writer) error { return writeImport(w, answer, losses) }); err != nil {
				return err
			}
			return importEnd(answer)
		}),
	}, `Reads a document of OpenAPI 3.0 or 3.1 or Swagger 2.0, YAML or JSON, of at most 32
MiB, from a file or with - from the standard input, and tells which tool would be
made of each operation, and what of it no tool has. With --apply the drafts are
written; with --publish they are published too. Nothing is fetched: references to
other files and addresses are refused.

Operations for which the document declares no authentication are sent without,
unless --auth names a credential: bearer=NAME, basic=NAME, header:X-Api-Key=NAME,
query:key=NAME or cookie:session=NAME.

Imported again, the document's tools are found by method and path, or by operation
id. Their drafts are changed, with a diff; what is published stays until it is
published again; tools whose operations are gone are listed and left alone. Say
--upstream and --variable again each time; credentials are kept.`,
		`  toolcrib tool import openapi orders.yaml
  toolcrib tool import openapi orders.yaml --credential apiKey=orders --apply
  toolcrib tool import openapi orders.yaml --tag orders --except-method DELETE
  toolcrib tool import openapi orders.yaml --only "GET /orders*" --auth bearer=orders --publish
  curl -s $URL | toolcrib tool import openapi - --document-url $URL`)
	flags := cmd.Flags()
	flags.StringVar(&in.Name, "name", "", "what the document goes by when it is imported again (its title)")
	flags.StringVar(&in.DocumentURL, "document-url", "",
		"where the document was found: relative servers are resolved against it")
	flags.StringVar(
		&in.Upstream, "upstream", "",
		"URL that is called in place of the document's servers, or the number of one of them (1)",
	)
	flags.StringArrayVar(&variables, "variable", nil, "value of a server variable, NAME=VALUE; may be repeated")
	flags.StringArrayVar(&credentials, "credential", nil, "credential of a security scheme, SCHEME=NAME; may be repeated")
	flags.StringVar(
		&auth, "auth", "",
		"credential for operations without declared authentication, as bearer=NAME or header:X-Api-Key=NAME",
	)
	flags.BoolVar(&in.OnePage, "one-page", false, "derive no pagination: each call asks for one page")
	flags.StringVar(&in.Prefix, "prefix", "", "what the slugs of new tools begin with")
	flags.StringArrayVar(&in.Idempotent, "idempotent", nil,
		`operation whose server honours Idempotency-Key, by id or as "PUT /path"; may be repeated`)
	flags.StringArrayVar(&in.Reads, "reads", nil,
		`POST operation that only reads, such as a search, by id or as "POST /path"; may be repeated`)
	for _, choice := range []struct {
		prefix, says string
		to           *v1.OperationFilter
	}{{"", "only operations", in.Only}, {"except-", "leave out operations", in.Except}} {
		flags.StringArrayVar(&choice.to.Tags, choice.prefix+"tag", nil, choice.says+" with this tag; may be repeated")
		flags.StringArrayVar(&choice.to.Operations, choice.prefix+"operation", nil,
			choice.says+" of this id; may be repeated")
		flags.StringArrayVar(&choice.to.Paths, choice.prefix+"path", nil,
			choice.says+" whose path begins so; may be repeated")
		flags.StringArrayVar(&choice.to.Methods, choice.prefix+"method", nil, choice.says+" of this method; may be repeated")
	}
	flags.StringArrayVar(
		&in.Only.Match, "only", nil,
		`only operations whose id, path, "METHOD /path" or slug matches, * is any text; may be repeated`,
	)
	flags.StringArrayVar(&in.Except.Match, "except", nil, "leave out operations that match; may be repeated")
	flags.BoolVar(&apply, "apply", false, "write the drafts")
	flags.BoolVar(&in.Publish, "publish", false, "write the drafts and publish them")
	flags.BoolVar(&losses, "losses", false, "list each thing that is not mapped, by its place in the document")
	return cmd
}

// assignments reads NAME=VALUE pairs.
func assignments(flag, form string, pairs []string) (map[string]string, error) {
	out := make(map[string]string, len(pairs))
	for _, pair := range pairs {
		name, value, ok := strings.Cut(pair, "=")
		if !ok || name == "" || value == "" {
			return nil, cli.Usagef("%s takes %s, got %q", flag, form, pair)
		}
		out[name] = value
	}
	return out, nil
}

// parseAuth reads how a credential is sent: bearer=NAME or header:X-Api-Key=NAME.
func parseAuth(text string) (*v1.ImportAuth, error) {
	if text == "" {
		return nil, nil
	}
	how, credential, ok := strings.Cut(text, "=")
	kind, name, named := strings.Cut(how, ":")
	plain := kind == "bearer" || kind == "basic"
	known := plain || kind == "header" || kind == "query" || kind == "cookie"
	if !ok || credential == "" || !known || plain == named || named && name == "" {
		return nil, cli.Usagef(
			"--auth takes bearer=NAME, basic=NAME, header:X-Api-Key=NAME, query:key=NAME or cookie:session=NAME, got %q", text,
		)
	}
	return &v1.ImportAuth{Type: kind, Name: name, Credential: credential}, nil
}

// readDocument reads a document as the text of a JSON string. URLs are not
// read: the user imports only a document that is on the machine.
func readDocument(file string, stdin io.Reader) (json.RawMessage, error) {
	if strings.HasPrefix(file, "http://") || strings.HasPrefix(file, "https://") {
		return nil, cli.Usagef("%s is an address: fetch the document yourself and give the file, or - for the standard input",
			file)
	}
	from := stdin
	if file != "-" {
		f, err := os.Open(file) //nolint:gosec // Its user names the file.
		if err != nil {
			return nil, &tool.Error{Kind: tool.NotFound, Msg: "there is no file " + file, Err: err}
		}
		defer f.Close()
		from = f
	}
	raw, err := io.ReadAll(io.LimitReader(from, openapi.MaxDocumentBytes+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	if len(raw) > openapi.MaxDocumentBytes {
		return nil, &tool.Error{
			Kind: tool.Invalid,
			Msg:  fmt.Sprintf("%s has more than %d MiB: a document may have no more", file, openapi.MaxDocumentBytes>>20),
		}
	}
	return json.Marshal(string(raw))
}

// importEnd returns how an import ends whose answer was shown: tools that could
// not be written are a failure, operations without a tool are not.
func importEnd(answer v1.ImportedOpenAPI) error {
	for _, o := range answer.Operations {
		if o.Error != nil {
			return &cli.ExitError{Code: cli.KindCode(o.Error.Code)}
		}
	}
	return nil
}

func writeImport(w io.Writer, in v1.ImportedOpenAPI, losses bool) error {
	rows := make([][]string, 0, len(in.Operations)+len(in.Gone))
	for _, o := range in.Operations {
		said := strconv.Itoa(len(o.Losses))
		if len(o.Losses) == 0 {
			said = "–"
		}
		rows = append(rows, []string{o.Method, o.Path, o.Tool, o.Version, importOutcome(o, in.DryRun), said})
	}
	for _, g := range in.Gone {
		rows = append(rows, []string{g.Method, g.Path, g.Tool, "", "gone from the document; the tool stays", "–"})
	}
	if err := terminal.Table(w, "METHOD PATH~ TOOL~ VERSION RESULT~ LOSSES", rows); err != nil {
		return err
	}
	for _, o := range in.Operations {
		if o.Diff == nil {
			continue
		}
		if _, err := io.WriteString(w, "\n"); err != nil {
			return err
		}
		if err := writeDiff(w, *o.Diff); err != nil {
			return err
		}
	}
	return writeLines(w, importReport(in, losses))
}

func importOutcome(o v1.ImportedOperation, dryRun bool) string {
	switch {
	case o.Error != nil && o.Action != v1.Failed:
		return string(o.Action) + ", not published: " + o.Error.Detail
	case o.Error != nil:
		return "failed: " + o.Error.Detail
	case o.Action == v1.Skipped:
		return "skipped: " + o.Reason
	}
	outcome := string(o.Action)
	if dryRun && o.Action != v1.Unchanged {
		outcome = "would be " + outcome
	}
	if o.Published {
		outcome += ", published"
	}
	return outcome
}

// importReport returns the lines to print below the table of an import.
func importReport(in v1.ImportedOpenAPI, losses bool) []string {
	c := in.Counts
	lines := []string{
		"", fmt.Sprintf("%s %s (OpenAPI %s): %d operations mapped, %d of them with losses, %d skipped, %d not selected",
			in.Title, in.Version, in.OpenAPI, c.Mapped+c.WithLosses, c.WithLosses, c.Skipped, c.Unselected),
	}
	if len(in.Hosts) > 0 {
		lines = append(lines, "the tools call "+strings.Join(in.Hosts, ", "))
	}
	for _, need := range in.Needs {
		lines = append(
			lines,
			fmt.Sprintf("%s a credential that holds %s: --credential %s=NAME", needing(need.Operations), need.Holds,
				need.Scheme),
		)
	}
	for _, note := range in.Notes {
		lines = append(lines, note.Reason)
	}
	for _, o := range in.Operations {
		for _, warning := range o.Warnings {
			if losses || strings.HasPrefix(warning, "the slug ") || strings.HasPrefix(warning, "another request ") {
				lines = append(lines, fmt.Sprintf("warning: %s %s: %s", o.Method, o.Path, warning))
			}
		}
	}
	lines = append(lines, importWriters(in)...)
	lines = append(lines, importPages(in)...)
	lines = append(lines, importLosses(in, losses)...)
	if in.DryRun && c.Created+c.Updated > 0 {
		lines = append(lines, "nothing was written: --apply writes the drafts")
	}
	return lines
}

// importWriters reports why imported tools that write cannot be called yet.
func importWriters(in v1.ImportedOpenAPI) []string {
	writers, posts := 0, 0
	for _, o := range in.Operations {
		if o.Action == v1.Skipped || o.EgressClass != tool.EgressWrite {
			continue
		}
		if writers++; o.Method == http.MethodPost {
			posts++
		}
	}
	var lines []string
	if writers > 0 {
		lines = append(lines, fmt.Sprintf("%d of the tools write: each call of them needs an approval", writers))
	}
	if posts > 0 {
		lines = append(lines, fmt.Sprintf("%d of those are POST: --reads OPERATION declares that one only reads", posts))
	}
	return lines
}

// importPages returns how many tools join pages, and how.
func importPages(in v1.ImportedOpenAPI) []string {
	count := make(map[string]int)
	for _, o := range in.Operations {
		if o.Pagination != "" {
			count[o.Pagination]++
		}
	}
	var lines []string
	for _, way := range slices.Sorted(maps.Keys(count)) {
		lines = append(
			lines, fmt.Sprintf("%d operations join their pages by %s; --one-page leaves that out", count[way], way),
		)
	}
	return lines
}

// importLosses lists each loss, or each sort of loss once.
func importLosses(in v1.ImportedOpenAPI, each bool) []string {
	var lines []string
	count := make(map[string]int)
	var order []string
	for _, o := range in.Operations {
		for _, loss := range o.Losses {
			if each {
				lines = append(lines, fmt.Sprintf("%s %s: %s: %s", o.Method, o.Path, loss.Pointer, loss.Reason))
				continue
			}
			if count[loss.Reason]++; count[loss.Reason] == 1 {
				order = append(order, loss.Reason)
			}
		}
	}
	for _, reason := range order {
		lines = append(lines, fmt.Sprintf("lost in %d operations: %s", count[reason], reason))
	}
	return lines
}

func writeLines(w io.Writer, lines []string) error {
	for _, text := range lines {
		if _, err := fmt.Fprintln(w, terminal.Clean(text)); err != nil {
			return err
		}
	}
	return nil
}

func needing(operations int) string {
	if operations == 1 {
		return "1 operation needs"
	}
	return fmt.Sprintf("%d operations need", operations)
}
