package commands

import (
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/definition"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

// uploadFlags describe a program that is uploaded.
type uploadFlags struct {
	version string
	inputs  []string
}

func (f *uploadFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.version, "version", "", "number of the version (default: the next patch)")
	cmd.Flags().StringArrayVar(&f.inputs, "input", nil,
		"input that the program takes, as name:type, with ! where it is required; may be repeated")
}

// readProgram reads a program from a file, and returns it with its size.
func (a *app) readProgram(file string, f uploadFlags) (v1.ArtifactUpload, int, error) {
	out := v1.ArtifactUpload{Version: f.version}
	for _, text := range f.inputs {
		out.Inputs = append(out.Inputs, parseInput(text))
	}
	in := a.Env.In
	if file != "-" {
		opened, err := os.Open(file) //nolint:gosec // Its user names the file.
		if err != nil {
			return out, 0, &tool.Error{
				Kind: tool.NotFound, Op: "artifact", Msg: definition.Unreadable(file, err), Err: err,
			}
		}
		defer func() { _ = opened.Close() }()
		in = opened
	}
	program, err := io.ReadAll(io.LimitReader(in, definition.ProgramBytes))
	if err != nil {
		return out, 0, fmt.Errorf("reading the program: %w", err)
	}
	if len(program) == 0 {
		return out, 0, cli.Usagef("the program %s is empty", file)
	}
	out.Content = base64.StdEncoding.EncodeToString(program)
	return out, len(program), nil
}

// parseInput reads name:type!, of which only the name is required.
func parseInput(text string) v1.ArtifactInput {
	text, required := strings.CutSuffix(text, "!")
	name, kind, _ := strings.Cut(text, ":")
	return v1.ArtifactInput{Name: name, Type: kind, Required: required}
}

// inputText is the other way round.
func inputText(in v1.ArtifactInput) string {
	text := in.Name
	if in.Type != "" {
		text += ":" + in.Type
	}
	if in.Required {
		text += "!"
	}
	return text
}

func (a *app) artifactDownloadCommand() *cobra.Command {
	var version, file string
	cmd := cli.Describe(&cobra.Command{
		Use: "download ARTIFACT", Short: "Download the program of a version", Args: cli.Operands("artifact"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			if version == "" {
				x, err := c.Artifact(cmd.Context(), args[0])
				if err != nil {
					return err
				}
				if version = x.Version; version == "" {
					return &tool.Error{
						Kind: tool.NotFound, Op: "artifact", Msg: fmt.Sprintf("artifact %q has no version yet", args[0]),
					}
				}
			}
			got, err := c.ArtifactContent(cmd.Context(), args[0], version)
			if err != nil {
				return err
			}
			return a.writeProgram(got, file)
		}),
	}, `Writes the program of a version as it was uploaded; of the newest, unless --version
names another. WebAssembly is not written to a terminal.`, `  toolcrib artifact download quote -o quote.js
  toolcrib artifact download quote --version 1.0.0 > quote.js`)
	cmd.Flags().StringVar(&version, "version", "", "number of the version (default: the newest)")
	cmd.Flags().StringVarP(&file, "output", "o", "", "file to write (default: the standard output)")
	return cmd
}

func (a *app) writeProgram(got v1.ArtifactContent, file string) error {
	if a.Printer.JSON && file == "" {
		return a.Printer.Show(got, func(io.Writer) error { return nil })
	}
	program := []byte(got.Source)
	if got.Content != "" {
		var err error
		if program, err = base64.StdEncoding.DecodeString(got.Content); err != nil {
			return fmt.Errorf("reading the program: %w", err)
		}
	}
	if file == "" {
		if _, ok := a.Terminal(a.Env.Out); ok {
			if got.Content != "" {
				return cli.Usagef("the program is no text: give a file with -o")
			}
			program = []byte(terminal.CleanLines(got.Source)) // The program is untrusted: it must not control the terminal.
		}
		_, err := a.Env.Out.Write(program)
		return err
	}
	if err := os.WriteFile(file, program, 0o644); err != nil { //nolint:gosec // A program is no secret of its user's.
		return fmt.Errorf("writing the program: %w", err)
	}
	return a.Printer.ShowLine(got, "%s: artifact %s %s, %s, sha256 %s",
		file, terminal.Clean(got.Artifact), terminal.Clean(got.Version), sizeText(len(program)), terminal.Clean(got.Digest))
}
