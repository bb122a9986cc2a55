package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolcrib/toolcrib/internal/payload"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/platform/cli/settings"
)

// SettingsVariable names the file of settings.
const SettingsVariable = "TOOLCRIB_SETTINGS"

const settingsFlag = "settings"

// registerSettings adds --settings to the commands that operators configure:
// servers, and those that connect to the database or to Temporal by themselves.
func registerSettings(cmd *cobra.Command) {
	for _, below := range cmd.Commands() {
		registerSettings(below)
	}
	flags := cmd.LocalNonPersistentFlags()
	server := slices.Contains(servers, cmd.Name()) && cmd.Parent() == cmd.Root()
	if !server && flags.Lookup("database-url") == nil && flags.Lookup("temporal-address") == nil {
		return
	}
	cmd.Flags().String(settingsFlag, "",
		"YAML file of settings, which flags and variables override ("+SettingsVariable+")")
}

// unflagged are the settings that are no flags of servers.
var unflagged = []settings.Setting{
	{Key: vault.KeyVariable, Kind: settings.Text, Secret: true},
	{Key: payload.KeysVariable, Kind: settings.Text, Secret: true},
	{Key: "TOOLCRIB_S3_ACCESS_KEY_ID", Kind: settings.Text, Secret: true},
	{Key: "TOOLCRIB_S3_SECRET_ACCESS_KEY", Kind: settings.Text, Secret: true},
	{Key: "TOOLCRIB_S3_SESSION_TOKEN", Kind: settings.Text, Secret: true},
	{Key: "TEMPORAL_API_KEY", Kind: settings.Text, Secret: true},
	{Key: "TEMPORAL_CONFIG_FILE", Kind: settings.Text},
	{Key: "TEMPORAL_PROFILE", Kind: settings.Text},
	{Key: "OPENAI_API_KEY", Kind: settings.Text, Secret: true},
	{Key: "OPENAI_BASE_URL", Kind: settings.Text},
	{Key: "ANTHROPIC_API_KEY", Kind: settings.Text, Secret: true},
	{Key: "ANTHROPIC_BASE_URL", Kind: settings.Text},
	{Key: "TOOLCRIB_MODEL_*", Kind: settings.Text},
}

// secretFlags are those whose values hold a password.
var secretFlags = []string{"database-url", "maintenance-database-url", "egress-proxy"}

// notInFile are flags of a server that make no sense in the file.
var notInFile = []string{"help", settingsFlag}

// knownSettings lists what may be set: the flags of servers, in the order of their
// names, and then what are variables alone.
func knownSettings(root *cobra.Command) []settings.Setting {
	byKey := map[string]*settings.Setting{}
	for _, cmd := range root.Commands() {
		if !slices.Contains(servers, cmd.Name()) || cmd.Hidden {
			continue
		}
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			s := byKey[f.Name]
			if s == nil && !slices.Contains(notInFile, f.Name) {
				s = &settings.Setting{
					Key: f.Name, Variable: variableOf(f.Name), Kind: kindOf(f), Secret: slices.Contains(secretFlags, f.Name),
					Default: defaultOf(f),
				}
				byKey[f.Name] = s
			}
			if s != nil {
				s.Commands = append(s.Commands, cmd.Name())
			}
		})
	}
	known := make([]settings.Setting, 0, len(byKey)+len(unflagged))
	for _, s := range byKey {
		known = append(known, *s)
	}
	slices.SortFunc(known, func(a, b settings.Setting) int { return strings.Compare(a.Key, b.Key) })
	for _, s := range unflagged {
		s.Variable = s.Key
		known = append(known, s)
	}
	return known
}

func kindOf(f *pflag.Flag) settings.Kind {
	if _, many := f.Value.(pflag.SliceValue); many {
		return settings.List
	}
	switch f.Value.Type() {
	case "bool":
		return settings.Bool
	case "int", "int32", "int64", "uint", "uint64":
		return settings.Whole
	case "float64":
		return settings.Number
	case "duration":
		return settings.Duration
	default:
		return settings.Text
	}
}

// defaultOf returns a flag's own default; what its help calls the default where
// that is decided later.
func defaultOf(f *pflag.Flag) string {
	switch f.DefValue {
	case "", "[]", "0", "0s", "false":
	default:
		return f.DefValue
	}
	_, text, found := strings.Cut(f.Usage, "(default ")
	if !found {
		return ""
	}
	text, _, _ = strings.Cut(text, ";")
	text, _, _ = strings.Cut(text, ")")
	return text
}

// settingsFile returns the file that the user means; empty for none.
func (a *App) settingsFile(cmd *cobra.Command) string {
	f := cmd.Flags().Lookup(settingsFlag)
	if f == nil {
		return ""
	}
	return cmp.Or(f.Value.String(), a.Env.Getenv(SettingsVariable))
}

// readSettings reads the file of settings, if there is one.
func (a *App) readSettings(cmd *cobra.Command) ([]settings.Value, error) {
	file := a.settingsFile(cmd)
	if file == "" {
		return nil, nil
	}
	values, err := settings.Read(file, knownSettings(cmd.Root()), a.Env.Getenv)
	if err != nil {
		return nil, &UsageError{Err: err}
	}
	return values, nil
}

// applySettings adds the settings of the file to the environment, where it has no
// value for them.
func (a *App) applySettings(cmd *cobra.Command) error {
	if cmd.Name() == settingsFlag {
		return nil
	}
	values, err := a.readSettings(cmd)
	if err != nil || len(values) == 0 {
		return err
	}
	added := map[string]string{}
	for _, v := range values {
		if a.Env.Getenv(v.Variable) == "" {
			added[v.Variable] = v.Text
		}
	}
	environ := slices.DeleteFunc(slices.Clone(a.Env.Environ), func(entry string) bool {
		name, _, _ := strings.Cut(entry, "=")
		_, replaced := added[name]
		return replaced
	})
	for name, text := range added {
		environ = append(environ, name+"="+text)
	}
	a.Env.Environ = environ
	return nil
}
