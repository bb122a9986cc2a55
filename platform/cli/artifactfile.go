package cli

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

// programBytes is how much of a program is read: one byte more than the limit,
// so that the server refuses a program that is too long.
const programBytes = 4<<20 + 1

// languages are those of programs, by the ends of their files' names.
var languages = map[string]string{".js": "javascript", ".mjs": "javascript", ".jq": "jq", ".wasm": "wasm"}

func languageOf(file string) string { return languages[strings.ToLower(filepath.Ext(file))] }

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
	in := a.env.In
	if file != "-" {
		opened, err := os.Open(file) //nolint:gosec // Its user names the file.
		if err != nil {
			return out, 0, &tool.Error{
				Kind: tool.NotFound, Op: "artifact", Msg: unreadable(file, err), Err: err,
			}
		}
		defer func() { _ = opened.Close() }()
		in = opened
	}
	program, err := io.ReadAll(io.LimitReader(in, programBytes))
	if err != nil {
		return out, 0, fmt.Errorf("reading the program: %w", err)
	}
	if len(program) == 0 {
		return out, 0, usage("the program %s is empty", file)
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
	cmd := describe(&cobra.Command{
		Use: "download ARTIFACT", Short: "Download the program of a version", Args: operands("artifact"),
		RunE: a.online(func(cmd *cobra.Command, c *client.Client, args []string) error {
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
	if a.flags.json && file == "" {
		return a.printer.show(got, func(io.Writer) error { return nil })
	}
	program := []byte(got.Source)
	if got.Content != "" {
		var err error
		if program, err = base64.StdEncoding.DecodeString(got.Content); err != nil {
			return fmt.Errorf("reading the program: %w", err)
		}
	}
	if file == "" {
		if _, terminal := a.terminal(a.env.Out); terminal {
			if got.Content != "" {
				return usage("the program is no text: give a file with -o")
			}
			program = []byte(cleanLines(got.Source)) // The program is untrusted: it must not control the terminal.
		}
		_, err := a.env.Out.Write(program)
		return err
	}
	if err := os.WriteFile(file, program, 0o644); err != nil { //nolint:gosec // A program is no secret of its user's.
		return fmt.Errorf("writing the program: %w", err)
	}
	return a.printer.show(got, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%s: artifact %s %s, %s, sha256 %s\n", file, clean(got.Artifact), clean(got.Version),
			sizeText(len(program)), clean(got.Digest))
		return err
	})
}

// withPrograms puts the programs of artifacts that name a file, relative to
// their own and in its folder or below, into their definitions.
func withPrograms(documents []document) error {
	for i := range documents {
		var fields map[string]json.RawMessage
		if json.Unmarshal(documents[i].raw, &fields) != nil || string(fields["kind"]) != `"artifact"` ||
			fields["file"] == nil {
			continue
		}
		program, err := documents[i].program(fields)
		if err != nil {
			return documents[i].fault("/file", err.Error())
		}
		delete(fields, "file")
		if fields["content_base64"], err = json.Marshal(program); err != nil {
			return fmt.Errorf("encoding a program: %w", err)
		}
		if documents[i].raw, err = json.Marshal(fields); err != nil {
			return fmt.Errorf("encoding a definition: %w", err)
		}
	}
	return nil
}

// program reads the file that a definition names. The path cannot leave the
// definition's folder, so that an untrusted definition reads no other file.
func (d document) program(fields map[string]json.RawMessage) ([]byte, error) {
	var name string
	if err := json.Unmarshal(fields["file"], &name); err != nil {
		return nil, errors.New("expected the name of a file")
	}
	for _, other := range []string{"source", "content_base64", "contentBase64"} {
		if fields[other] != nil {
			return nil, fmt.Errorf("file and %s are the same program: expected one of them", other)
		}
	}
	if d.file == "-" {
		return nil, errors.New("a definition on the standard input has no folder: give its program in source or " +
			"content_base64")
	}
	root, err := os.OpenRoot(filepath.Dir(d.file))
	if err != nil {
		return nil, fmt.Errorf("opening the definition's folder: %w", err)
	}
	defer func() { _ = root.Close() }()
	if info, err := root.Lstat(filepath.Clean(name)); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file; symbolic links are not followed", name)
	}
	opened, err := root.Open(filepath.Clean(name))
	if err != nil {
		return nil, fmt.Errorf("the file %s can't be read: %w", name, err)
	}
	defer func() { _ = opened.Close() }()
	program, err := io.ReadAll(io.LimitReader(opened, programBytes))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	if len(program) == 0 {
		return nil, fmt.Errorf("the file %s is empty", name)
	}
	if fields["language"] == nil {
		if language := languageOf(name); language != "" {
			fields["language"] = json.RawMessage(`"` + language + `"`)
		}
	}
	return program, nil
}
