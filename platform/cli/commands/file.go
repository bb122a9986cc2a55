package commands

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/definition"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) fileCommand() *cobra.Command {
	cmd := cli.Describe(cli.Group("file", "Files: uploads, what people send with their answers, and what they draw",
		a.fileUploadCommand(), a.fileListCommand(), a.fileShowCommand(), a.fileDownloadCommand(), a.fileDeleteCommand()),
		`Images and documents of the tenant. What a file is, is decided by its content: PNG,
JPEG, GIF, WebP, PDF, text, CSV, JSON, DOCX and XLSX are accepted.`,
		`  toolcrib file upload floor-plan.png
  toolcrib file list --run 01987a3c-0000-7000-8000-000000000001`)
	cmd.Aliases = []string{"files"}
	return cmd
}

func (a *app) fileUploadCommand() *cobra.Command {
	var in client.NewFile
	var request, field string
	cmd := cli.Describe(&cobra.Command{
		Use: "upload FILE", Short: "Upload a file", Args: cli.Operands("file"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			switch {
			case (request == "") != (field == ""):
				return cli.Usagef("--request and --field go together")
			case request != "" && (in.Run != "" || in.Expires != 0):
				return cli.Usagef("a file for --request has neither --run nor --expires")
			case cmd.Flags().Changed("expires") && in.Expires < time.Minute:
				return cli.Usagef("--expires %s is too short: expected at least 1m", in.Expires)
			}
			var err error
			if in.Content, err = definition.ReadFile(args[0], cmd.InOrStdin()); err != nil {
				return &tool.Error{Kind: tool.NotFound, Op: "file", Msg: definition.Unreadable(args[0], err), Err: err}
			}
			if in.Name == "" && args[0] != "-" {
				in.Name = filepath.Base(args[0])
			}
			done := a.Progress("uploading %s (%s)", in.Name, sizeText(len(in.Content)))
			var stored v1.File
			if request != "" {
				stored, err = c.UploadInputFile(cmd.Context(), request, field, in.Name, in.Content)
			} else {
				stored, err = c.UploadFile(cmd.Context(), in)
			}
			done()
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(stored, "%s", fileLine(stored))
		}),
	}, `Uploads a file. One that nothing uses is deleted after a day, unless --expires says
otherwise; one of a run is kept as long as the run. With --request and --field it is
for the answer to a request for input, which names it by its id.`,
		`  toolcrib file upload floor-plan.png
  toolcrib file upload report.pdf --run 01987a3c-0000-7000-8000-000000000001
  toolcrib file upload receipt.jpg --request 01987a3c-0000-7000-8000-000000000002 --field receipt`)
	cmd.Flags().StringVar(&in.Name, "name", "", "name of the file (default: that of FILE)")
	cmd.Flags().StringVar(&in.Run, "run", "", "id of the run whose artifact it is")
	cmd.Flags().DurationVar(&in.Expires, "expires", 0, "for how long it is kept while nothing uses it")
	cmd.Flags().StringVar(&request, "request", "", "request for input that it is sent to")
	cmd.Flags().StringVar(&field, "field", "", "field of the request that it is for")
	return cmd
}

// fileLine says what a file is. Its name is untrusted: it must not control the terminal.
func fileLine(f v1.File) string {
	return fmt.Sprintf("%s: %s, %s, %s, sha256 %s", terminal.Clean(f.ID), terminal.Clean(f.Name),
		terminal.Clean(f.MediaType), sizeText(int(f.Size)), terminal.Clean(f.SHA256))
}

func (a *app) fileListCommand() *cobra.Command {
	var run string
	cmd := cli.Describe(listCommand(a, "List files, newest first",
		func(c *client.Client, ctx context.Context, page client.Page) (v1.Page[v1.File], error) {
			return c.ListFiles(ctx, run, page)
		}, listing[v1.File]{
			header: "FILE NAME~ TYPE SIZE KIND CREATED",
			row: func(f v1.File) []string {
				return []string{
					f.ID, terminal.Shorten(f.Name, 60), f.MediaType, sizeText(int(f.Size)), string(f.Kind),
					terminal.Since(f.CreatedAt),
				}
			},
			empty: "no files yet: upload one with toolcrib file upload FILE",
		}), `Lists the files of the tenant, or of a run and the runs that it made.`,
		`  toolcrib file list
  toolcrib file list --run 01987a3c-0000-7000-8000-000000000001`)
	cmd.Flags().StringVar(&run, "run", "", "id of the run, or of the outermost run")
	return cmd
}

func (a *app) fileShowCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "show FILE", Short: "Show a file, without its content", Args: cli.Operands("file"),
		ValidArgsFunction: a.completeFiles,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			f, err := c.File(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Printer.Show(f, func(w io.Writer) error {
				pixels := ""
				if f.Width > 0 {
					pixels = strconv.Itoa(f.Width) + " by " + strconv.Itoa(f.Height)
				}
				return terminal.Pairs(w, "file", f.ID, "name", f.Name, "type", f.MediaType, "size", sizeText(int(f.Size)),
					"pixels", pixels, "sha256", f.SHA256, "kind", string(f.Kind), "run", f.RunID, "request", f.ViewID,
					"by", f.CreatedBy, "created", terminal.StampSince(f.CreatedAt), "expires", terminal.StampSinceOf(f.ExpiresAt))
			})
		}),
	}, `Shows what a file is, where it came from, and when it is deleted unless it is used.`,
		`  toolcrib file show 01987a3c-0000-7000-8000-000000000003`)
}

func (a *app) fileDownloadCommand() *cobra.Command {
	var file string
	cmd := cli.Describe(&cobra.Command{
		Use: "download FILE", Short: "Download a file", Args: cli.Operands("file"), ValidArgsFunction: a.completeFiles,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			f, err := c.File(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			content, err := c.FileContent(cmd.Context(), f)
			if err != nil {
				return err
			}
			return a.writeFile(f, content, file)
		}),
	}, `Writes the content of a file to the standard output, or to a file. It is checked
against the digest of its record. What is no text is not written to a terminal.`,
		`  toolcrib file download 01987a3c-0000-7000-8000-000000000003 -o floor-plan.png`)
	cmd.Flags().StringVarP(&file, "output", "o", "", "file to write (default: the standard output)")
	return cmd
}

func (a *app) writeFile(f v1.File, content []byte, file string) error {
	if file == "" {
		if _, ok := a.Terminal(a.Env.Out); ok {
			if !strings.HasPrefix(f.MediaType, "text/") && f.MediaType != "application/json" {
				return cli.Usagef("the file is no text: give a file with -o")
			}
			content = []byte(terminal.CleanLines(string(content))) // It is untrusted: it must not control the terminal.
		}
		if _, err := a.Env.Out.Write(content); err != nil {
			return fmt.Errorf("writing the file: %w", err)
		}
		return nil
	}
	if err := os.WriteFile(file, content, 0o600); err != nil {
		return fmt.Errorf("writing the file: %w", err)
	}
	return a.Printer.ShowLine(f, "%s: %s", file, fileLine(f))
}

func (a *app) fileDeleteCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "delete FILE", Short: "Delete a file, at once and permanently", Args: cli.Operands("file"),
		ValidArgsFunction: a.completeFiles,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			f, err := c.DeleteFile(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(f, "the file %s is deleted", terminal.Clean(f.ID))
		}),
	}, `Deletes a file and its content. Answers that name it keep its name and digest.`,
		`  toolcrib file delete 01987a3c-0000-7000-8000-000000000003`)
}

// completeFiles completes ids of files.
func (a *app) completeFiles(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	return a.ask(cmd, typed, func(ctx context.Context, c *client.Client) ([]string, error) {
		page, err := c.ListFiles(ctx, "", client.Page{Limit: completionNames})
		return each(page.Items, func(f v1.File) string { return f.ID + "\t" + terminal.Shorten(f.Name, 60) }), err
	})
}
