package commands

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/schema/field"
)

func (a *app) toolFieldsCommand() *cobra.Command {
	var version string
	cmd := cli.Describe(&cobra.Command{
		Use: "fields TOOL", Short: "Show the form of a tool: what a person fills in", Args: cli.Operands("tool"),
		ValidArgsFunction: a.completeTools,
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			form, err := c.ToolFields(cmd.Context(), args[0], version)
			if err != nil {
				return a.suggestTool(cmd.Context(), c, args[0], err)
			}
			return a.Printer.Show(form, func(w io.Writer) error { return writeForm(w, form) })
		}),
	}, `Shows the form that a tool's input schema says, of the draft or of a version: its
fields in order, with what each accepts, then the sections of the result. Agents
are given the same schema. What fields cannot say is listed with its place in the
schema.`, `  toolcrib tool fields getOrder
  toolcrib tool fields getOrder --version 1.2.0 --json`)
	cmd.Flags().StringVar(&version, "version", "", "number of a version; the draft when absent")
	a.CompleteFlag(cmd, "version", a.completeVersions)
	return cmd
}

func writeForm(w io.Writer, form v1.ToolForm) error {
	confirm := "no"
	if form.Confirm.Required {
		confirm = strings.Join(form.Confirm.Reasons, "; ")
	}
	state := "version"
	if form.Draft {
		state = "draft"
	}
	if err := errors.Join(
		terminal.Pairs(w, "tool", form.Slug, "name", form.Name, "description", form.Description, state, form.Version,
			"intent", string(form.Intent), "audience", string(form.Audience), "asked first", confirm),
		writeFields(w, form.Input),
	); err != nil || len(form.OutputSections) == 0 {
		return err
	}
	rows := make([][]string, len(form.OutputSections))
	for i, s := range form.OutputSections {
		rows[i] = []string{s.Key, string(s.Type), s.Label}
	}
	return errors.Join(gap(w), terminal.Table(w, "RESULT SHOWN_AS LABEL~", rows))
}

func gap(w io.Writer) error {
	_, err := io.WriteString(w, "\n")
	return err
}

// writeFields writes a form as a table, and lists the parts of its schema that
// are no field.
func writeFields(w io.Writer, raw json.RawMessage) error {
	var form field.Form
	if err := json.Unmarshal(raw, &form); err != nil {
		return fmt.Errorf("reading the form: %w", err)
	}
	if err := gap(w); err != nil {
		return err
	}
	if len(form.Fields) == 0 {
		if _, err := fmt.Fprintln(w, "no fields"); err != nil {
			return err
		}
	} else if err := terminal.Table(
		w, "FIELD TYPE SHOWN_AS REQUIRED ACCEPTS~ LABEL~", fieldRows(form.Fields, ""),
	); err != nil {
		return err
	}
	for i, k := range form.Kept {
		if i == 0 {
			if err := gap(w); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintf(w, "kept as JSON Schema: %s: %s\n", cmp.Or(terminal.Clean(k.Pointer), "the whole"),
			terminal.Clean(k.Reason)); err != nil {
			return err
		}
	}
	return nil
}

// fieldRows lists fields; nested ones are prefixed by the name of their parent.
func fieldRows(fields []field.Field, within string) [][]string {
	var rows [][]string
	for i := range fields {
		f := &fields[i]
		name, required := within+f.Key, ""
		if f.Required {
			required = "yes"
		}
		takes := accepts(f)
		if when := field.ConditionWords(fields, f); when != "" {
			takes = strings.TrimPrefix(takes+", only if "+when, ", ")
		}
		rows = append(rows, []string{name, string(f.Type), string(f.Display), required, takes, f.Label})
		rows = append(rows, fieldRows(f.Fields, name+".")...)
		if f.Items != nil {
			rows = append(rows, fieldRows(f.Items.Fields, name+"[].")...)
		}
	}
	return rows
}

// accepts says in short what a field takes.
func accepts(f *field.Field) string {
	var out []string
	say := func(given bool, format string, args ...any) {
		if given {
			out = append(out, fmt.Sprintf(format, args...))
		}
	}
	say(f.Integer, "whole")
	say(f.Min != "", "at least %s", f.Min)
	say(f.Above != "", "more than %s", f.Above)
	say(f.Max != "", "at most %s", f.Max)
	say(f.Below != "", "less than %s", f.Below)
	say(f.Step != "", "multiples of %s", f.Step)
	say(f.Unit != "", "in %s", f.Unit)
	for _, n := range []struct {
		bound *int
		text  string
	}{
		{f.MinLength, "at least %d characters"},
		{f.MaxLength, "at most %d characters"},
		{f.MinItems, "at least %d of them"},
		{f.MaxItems, "at most %d of them"},
	} {
		if n.bound != nil {
			say(true, n.text, *n.bound)
		}
	}
	say(f.Pattern != "", "matching %s", f.Pattern)
	say(f.Format != "", "%s", f.Format)
	say(len(f.Options) > 0, "%s", optionsOf(f))
	say(len(f.Accept) > 0, "%s", strings.Join(f.Accept, " or "))
	say(f.Entity != "", "of %s", f.Entity)
	if f.Items != nil {
		say(true, "each %s", strings.TrimSpace(string(f.Items.Type)+" "+accepts(f.Items)))
	}
	say(f.Nullable, "or null")
	say(len(f.Default) > 0, "default %s", f.Default)
	return strings.Join(out, ", ")
}

func optionsOf(f *field.Field) string {
	values := make([]string, len(f.Options))
	for i, o := range f.Options {
		values[i] = string(o.Value)
	}
	how := "one of "
	if f.Multiple {
		how = "some of "
	}
	return how + strings.Join(values, ", ")
}
