package commands

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/definition"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
)

func (a *app) artifactCommand() *cobra.Command {
	return cli.Describe(cli.Group("artifact", "Upload programs of your own, which tools run",
		a.artifactCreateCommand(), a.artifactUploadCommand(), a.artifactListCommand(), a.artifactShowCommand(),
		a.artifactDownloadCommand(),
		a.artifactChangeCommand("disable", "Stop an artifact",
			"Calls of tools that run any version of it are refused from the next on, those of runs\nthat pin it too."),
		a.artifactChangeCommand("deprecate", "Let nothing new pin an artifact",
			"Tools that pin a version of it go on; none is published that would pin it anew."),
		a.artifactChangeCommand("enable", "Let an artifact go on",
			"The artifact is active again, for tools to pin and to run.")),
		`An artifact is a program in JavaScript, jq or WebAssembly, in versions that never
change. A tool whose artifact_id names it runs a version: publishing the tool pins
it, so that a later upload changes nothing that is published.`,
		`  toolcrib artifact create quote --file quote.js --input lines:array!
  toolcrib artifact upload quote quote.js --version 1.1.0
  toolcrib artifact show quote
  toolcrib artifact download quote -o quote-as-uploaded.js`)
}

func (a *app) artifactCreateCommand() *cobra.Command {
	var file, language, name, description string
	var upload uploadFlags
	cmd := cli.Describe(&cobra.Command{
		Use: "create ARTIFACT", Short: "Make an artifact, with its first version perhaps", Args: cli.Operands("slug"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			d := v1.ArtifactDefinition{Slug: args[0], Name: name, Description: description, Language: language}
			if d.Language == "" {
				if d.Language = definition.LanguageOf(file); d.Language == "" {
					return cli.Usagef("%s needs --language: jq, javascript or wasm", cmd.CommandPath())
				}
			}
			size := 0
			if file != "" {
				var err error
				if d.ArtifactUpload, size, err = a.readProgram(file, upload); err != nil {
					return err
				}
			}
			done := a.Progress("uploading %s (%s)", args[0], sizeText(size))
			uploaded, err := c.CreateArtifact(cmd.Context(), d)
			done()
			if err != nil {
				return err
			}
			return a.showUpload(uploaded)
		}),
	}, `Makes an artifact under a slug. With --file, the program becomes its first version,
and its language is that of the file's name: .js, .mjs, .jq or .wasm. A program
that does not compile makes nothing.`,
		`  toolcrib artifact create quote --file quote.js
  toolcrib artifact create render --language wasm --description "Renders a label."`)
	flags := cmd.Flags()
	flags.StringVarP(&file, "file", "f", "", "file of the program; - for the standard input")
	flags.StringVar(&language, "language", "", "jq, javascript or wasm (default: by the file's name)")
	flags.StringVar(&name, "name", "", "what people call it (default: the slug)")
	flags.StringVar(&description, "description", "", "what it does")
	upload.register(cmd)
	return cmd
}

func (a *app) artifactUploadCommand() *cobra.Command {
	var upload uploadFlags
	cmd := cli.Describe(&cobra.Command{
		Use: "upload ARTIFACT FILE", Short: "Upload a version of an artifact", Args: cli.Operands("artifact", "file"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			program, size, err := a.readProgram(args[1], upload)
			if err != nil {
				return err
			}
			done := a.Progress("uploading %s (%s)", args[0], sizeText(size))
			uploaded, err := c.UploadArtifact(cmd.Context(), args[0], program)
			done()
			if err != nil {
				return err
			}
			return a.showUpload(uploaded)
		}),
	}, `Uploads a program as the next version, after it was compiled. What is there already
with the same content is no error. Tools that are published go on with the version
that they pin, until they are published anew.`,
		`  toolcrib artifact upload quote quote.js
  toolcrib artifact upload quote quote.wasm --version 2.0.0 --input lines:array! --input tax_percent:integer`)
	upload.register(cmd)
	return cmd
}

func (a *app) showUpload(u v1.UploadedArtifact) error {
	return a.Printer.Show(u, func(w io.Writer) error {
		text := fmt.Sprintf("artifact %s made, without a version: toolcrib artifact upload %[1]s FILE",
			terminal.Clean(u.Artifact.Slug))
		if v := u.Version; v != nil {
			outcome := "uploaded"
			if !u.Added {
				outcome = "is there already, with this content"
			}
			text = fmt.Sprintf("artifact %s %s %s, %s, sha256 %s", terminal.Clean(u.Artifact.Slug), terminal.Clean(v.Version),
				outcome, sizeText(v.Size), terminal.Clean(v.Digest))
		}
		_, err := fmt.Fprintln(w, text)
		return err
	})
}

func (a *app) artifactListCommand() *cobra.Command {
	return cli.Describe(listCommand(a, "List artifacts", (*client.Client).Artifacts, listing[v1.Artifact]{
		header: "SLUG LANGUAGE VERSION STATUS UPDATED DESCRIPTION~",
		row: func(x v1.Artifact) []string {
			return []string{x.Slug, x.Language, x.Version, x.Status, terminal.Since(x.UpdatedAt), x.Description}
		},
		empty: "no artifacts yet: make one with toolcrib artifact create SLUG --file FILE",
	}), `Lists the artifacts of the tenant with their newest versions, in the order of slugs.`, `  toolcrib artifact list
  toolcrib artifact list --json`)
}

// artifactDetail is what showing an artifact prints as JSON.
type artifactDetail struct {
	Artifact v1.Artifact          `json:"artifact"`
	Versions []v1.ArtifactVersion `json:"versions"`
}

func (a *app) artifactShowCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "show ARTIFACT", Short: "Show an artifact and its versions", Args: cli.Operands("artifact"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			x, err := c.Artifact(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			versions, err := c.ArtifactVersions(cmd.Context(), x.ID)
			if err != nil {
				return err
			}
			return a.Printer.Show(artifactDetail{x, versions.Items}, func(w io.Writer) error {
				return writeArtifact(w, x, versions.Items)
			})
		}),
	}, `Shows what an artifact is, and its versions with their digests and inputs, newest
first.`, `  toolcrib artifact show quote`)
}

func writeArtifact(w io.Writer, x v1.Artifact, versions []v1.ArtifactVersion) error {
	err := terminal.Pairs(w, "artifact", x.Slug, "id", x.ID, "name", x.Name, "description", x.Description,
		"language", x.Language, "status", x.Status)
	row := func(v v1.ArtifactVersion) []string {
		return []string{
			v.Version, sizeText(v.Size), v.Digest[:min(12, len(v.Digest))], terminal.Since(v.CreatedAt),
			strings.Join(each(v.Inputs, inputText), " "),
		}
	}
	return errors.Join(err, gap(w), terminal.Table(w, "VERSION SIZE SHA256 UPLOADED INPUTS~", each(versions, row)))
}

func (a *app) artifactChangeCommand(change, short, long string) *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: change + " ARTIFACT", Short: short, Args: cli.Operands("artifact"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			x, err := c.ChangeArtifact(cmd.Context(), args[0], change)
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(x, "artifact %s is %s", terminal.Clean(x.Slug), terminal.Clean(x.Status))
		}),
	}, long, "  toolcrib artifact "+change+" quote")
}

// sizeText writes a number of bytes for people.
func sizeText(n int) string {
	switch {
	case n >= 1<<20:
		return strconv.FormatFloat(float64(n)/(1<<20), 'f', 1, 64) + " MiB"
	case n >= 1<<10:
		return strconv.FormatFloat(float64(n)/(1<<10), 'f', 1, 64) + " KiB"
	default:
		return strconv.Itoa(n) + " B"
	}
}
