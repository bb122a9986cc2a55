package cli

import (
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolcrib/toolcrib/platform/cli/settings"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
)

// settingShape is a setting in effect, as JSON.
type settingShape struct {
	Name     string   `json:"name"`
	Variable string   `json:"variable"`
	Type     string   `json:"type"`
	Value    string   `json:"value"` // Masked.
	Secret   bool     `json:"secret"`
	Origin   string   `json:"origin"` // flag, environment, file or default.
	Where    string   `json:"where,omitempty"`
	Commands []string `json:"commands"`
}

func (a *App) settingsCommand() *cobra.Command {
	var set bool
	cmd := Describe(&cobra.Command{
		Use:   "settings [COMMAND [-- FLAGS]]",
		Short: "Show the settings in effect and where each comes from, or check a file",
		Args:  cobra.ArbitraryArgs,
	}, `Shows what serve, worker and dev would be configured with, or one of them, here and
now: the value of each setting, and whether it comes from a flag, the environment,
the file of settings or is the default. What follows the command after -- is taken as
its flags. Secrets are not shown.

A file with a mistake is refused, with all mistakes and their lines and exit code 2.`,
		`  toolcrib settings --settings settings.yaml
  toolcrib settings worker --set --json
  toolcrib settings serve`)
	cmd.Flags().BoolVar(&set, "set", false, "leave out settings that have their defaults")
	cmd.Flags().String(settingsFlag, "", "YAML file of settings ("+SettingsVariable+")")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		only, err := settingsOf(cmd.Root(), args)
		if err != nil {
			return err
		}
		values, err := a.readSettings(cmd)
		if err != nil {
			return err
		}
		shapes := a.effective(cmd, only, values)
		if set {
			shapes = slices.DeleteFunc(shapes, func(s settingShape) bool { return s.Origin == "default" })
		}
		return a.Printer.Show(shapes, func(w io.Writer) error { return writeSettings(w, shapes) })
	}
	return cmd
}

// settingsOf returns the server that the operands name, with its flags parsed; nil
// for all.
func settingsOf(root *cobra.Command, args []string) (*cobra.Command, error) {
	if len(args) == 0 {
		return nil, nil
	}
	for _, cmd := range root.Commands() {
		if cmd.Name() != args[0] || !slices.Contains(servers, args[0]) {
			continue
		}
		if err := cmd.ParseFlags(args[1:]); err != nil {
			return nil, &UsageError{Err: flagFault(cmd, err)}
		}
		return cmd, nil
	}
	return nil, Usagef("%q has no settings: name one of %s", args[0], strings.Join(servers, ", "))
}

// effective returns the settings of a command, or of all, with their values.
func (a *App) effective(cmd, only *cobra.Command, values []settings.Value) []settingShape {
	file := a.settingsFile(cmd)
	shapes := []settingShape{}
	for _, s := range a.present(knownSettings(cmd.Root()), values) {
		if only != nil && len(s.Commands) > 0 && !slices.Contains(s.Commands, only.Name()) {
			continue
		}
		shape := settingShape{
			Name: s.Key, Variable: s.Variable, Type: string(s.Kind), Secret: s.Secret, Origin: "default", Commands: s.Commands,
		}
		if shape.Commands == nil {
			shape.Commands = []string{}
		}
		text := s.Default
		at := slices.IndexFunc(values, func(v settings.Value) bool { return v.Variable == s.Variable })
		switch given := flagText(only, s.Key); {
		case given != "":
			text, shape.Origin, shape.Where = given, "flag", "--"+s.Key
		case a.Env.Getenv(s.Variable) != "":
			text, shape.Origin, shape.Where = a.Env.Getenv(s.Variable), "environment", s.Variable
		case at >= 0:
			v := values[at]
			text, shape.Origin, shape.Where = v.Text, "file", file+":"+strconv.Itoa(v.Line)
			if v.From != "" {
				shape.Where += " (" + v.From + ")"
			}
		}
		shape.Value = text
		if shape.Origin != "default" {
			shape.Value = settings.Masked(s, text)
		}
		shapes = append(shapes, shape)
	}
	return shapes
}

// present replaces settings that stand for many by those that the environment and
// the file have.
func (a *App) present(known []settings.Setting, values []settings.Value) []settings.Setting {
	var out []settings.Setting
	var names []string
	for _, entry := range a.Env.Environ {
		name, _, _ := strings.Cut(entry, "=")
		names = append(names, name)
	}
	for _, v := range values {
		names = append(names, v.Variable)
	}
	slices.Sort(names)
	for _, s := range known {
		if !strings.HasSuffix(s.Key, "*") {
			out = append(out, s)
			continue
		}
		for _, name := range slices.Compact(names) {
			if one, ok := settings.Find(name, []settings.Setting{s}); ok {
				out = append(out, one)
			}
		}
	}
	return out
}

// flagText returns what the command line gives for a setting; empty for nothing.
func flagText(cmd *cobra.Command, name string) string {
	if cmd == nil {
		return ""
	}
	f := cmd.Flags().Lookup(name)
	if f == nil || !f.Changed {
		return ""
	}
	if many, ok := f.Value.(pflag.SliceValue); ok {
		return strings.Join(many.GetSlice(), ",")
	}
	return f.Value.String()
}

func writeSettings(w io.Writer, shapes []settingShape) error {
	rows := make([][]string, len(shapes))
	for i, s := range shapes {
		value := s.Value
		if value == "" {
			value = "-"
		}
		rows[i] = []string{s.Name, terminal.Clean(value), strings.TrimSpace(s.Origin + " " + terminal.Clean(s.Where))}
	}
	return terminal.Table(w, "SETTING VALUE~ ORIGIN~", rows)
}
