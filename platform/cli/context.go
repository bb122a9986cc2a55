package cli

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/platform/cli/terminal"
)

// keysFolder holds the keys that are kept with the contexts.
const keysFolder = "keys"

func (a *App) contextCommand() *cobra.Command {
	cmd := Group("context", "Keep several servers apart by name",
		a.contextAddCommand(), a.contextUseCommand(), a.contextListCommand(), a.contextShowCommand(),
		a.contextRemoveCommand())
	cmd.Long = `A context is a server with a name, and where the key for it is: in a file that
only you can read, in another file, or in an environment variable.

What is named first goes first: --server and --key, then --context, then
TOOLCRIB_SERVER and TOOLCRIB_KEY, then TOOLCRIB_CONTEXT, then the context in use,
then the data folder of "toolcrib dev". The key of a context, or of a data folder,
goes to its server only. "local" stands for the stack of "toolcrib dev".`
	cmd.Example = `  toolcrib context add prod --server https://tools.example.com --key-env PROD_KEY
  toolcrib context use prod
  toolcrib tool list --context staging
  toolcrib context show`
	return cmd
}

// contextKey says where the key of a new context is.
type contextKey struct {
	env, file string
	stdin     bool
}

func (a *App) contextAddCommand() *cobra.Command {
	var key contextKey
	var use bool
	cmd := &cobra.Command{
		Use:   "add NAME --server URL",
		Short: "Keep a server and its key under a name",
		Long: `Keeps a server under a name, or changes what is kept. The key is read from --key
or from the standard input and put into a file that only you can read, or it
stays where --key-env or --key-file says. The first context is used from then on.`,
		Example: `  pass show toolcrib/prod | toolcrib context add prod --server https://tools.example.com --key-stdin
  toolcrib context add ci --server https://tools.example.com --key-env CI_KEY
  toolcrib context add staging --server https://staging.example.com --key-file /run/secrets/toolcrib --use`,
		Args: Operands("name"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, secret, err := a.newContext(cmd.InOrStdin(), args[0], key)
			if err != nil {
				return err
			}
			return a.addContext(args[0], c, secret, use)
		},
	}
	cmd.Flags().StringVar(&key.env, "key-env", "", "environment variable that holds the key")
	cmd.Flags().StringVar(&key.file, "key-file", "", "file that holds the key")
	cmd.Flags().BoolVar(&key.stdin, "key-stdin", false, "read the key from the standard input, and keep it")
	cmd.Flags().BoolVar(&use, "use", false, "use the context from now on")
	return cmd
}

// newContext reads a context from the command line, with the key to keep, if
// one is to be kept.
func (a *App) newContext(stdin io.Reader, name string, key contextKey) (c contextConfig, secret string, err error) {
	ways := 0
	for _, given := range []bool{a.flags.key != "", key.env != "", key.file != "", key.stdin} {
		if given {
			ways++
		}
	}
	switch {
	case !contextName.MatchString(name) || reserved(name):
		return c, "", Usagef("%s", badContextName(name))
	case a.flags.server == "":
		return c, "", Usagef("a context needs a --server, such as https://tools.example.com")
	case !isServer(a.flags.server):
		return c, "", Usagef("the server %q is no http or https URL", a.flags.server)
	case ways > 1:
		return c, "", Usagef("give one of --key, --key-stdin, --key-env and --key-file")
	}
	c = contextConfig{Server: a.flags.server, KeyEnv: key.env}
	switch {
	case key.file != "":
		if c.KeyFile, err = filepath.Abs(key.file); err != nil {
			return c, "", fmt.Errorf("naming the key's file: %w", err)
		}
	case key.stdin:
		raw, err := io.ReadAll(io.LimitReader(stdin, 4<<10))
		if err != nil {
			return c, "", fmt.Errorf("reading the key: %w", err)
		}
		if secret = strings.TrimSpace(string(raw)); secret == "" {
			return c, "", Usagef("the standard input holds no key")
		}
	default:
		secret = a.flags.key
	}
	if secret != "" {
		c.KeyFile = keysFolder + "/" + name
	}
	return c, secret, nil
}

// isServer reports whether text can be the URL of a server.
func isServer(text string) bool {
	u, err := url.Parse(text)
	return err == nil && u.Host != "" && u.User == nil && (u.Scheme == "http" || u.Scheme == "https")
}

func (a *App) addContext(name string, c contextConfig, secret string, use bool) error {
	err := a.changeContexts(func(dir string, contexts *contextFile) error {
		if secret != "" {
			if err := os.MkdirAll(filepath.Join(dir, keysFolder), 0o700); err != nil {
				return fmt.Errorf("making the folder of the keys: %w", err)
			}
			if err := writeWhole(filepath.Join(dir, c.KeyFile), []byte(secret+"\n")); err != nil {
				return err
			}
		}
		if old, ok := contexts.Contexts[name]; ok && old.KeyFile != c.KeyFile {
			if err := dropKey(dir, old); err != nil {
				return err
			}
		}
		if use || len(contexts.Contexts) == 0 {
			contexts.Current, use = name, true
		}
		contexts.Contexts[name] = c
		return nil
	})
	if err != nil {
		return err
	}
	return a.Printer.Show(contextShape{Name: name, Server: c.Server, KeyFrom: c.keyFrom(), Current: use},
		func(w io.Writer) error {
			used := ""
			if use {
				used = ", and is used from now on"
			}
			_, err := fmt.Fprintf(w, "context %s is %s%s\n", name, terminal.Clean(c.Server), used)
			return err
		})
}

// dropKey deletes the key that is kept with a context.
func dropKey(dir string, c contextConfig) error {
	if !strings.HasPrefix(c.KeyFile, keysFolder+"/") {
		return nil
	}
	if err := os.Remove(filepath.Join(dir, c.KeyFile)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("deleting the key: %w", err)
	}
	return nil
}

func (c contextConfig) keyFrom() string {
	switch {
	case c.KeyEnv != "":
		return "the variable " + c.KeyEnv
	case strings.HasPrefix(c.KeyFile, keysFolder+"/"):
		return "kept"
	case c.KeyFile != "":
		return "the file " + c.KeyFile
	default:
		return ""
	}
}

func (a *App) contextUseCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "use NAME",
		Short: "Use a context from now on",
		Long: `Makes a context the one that commands talk to when nothing else is named. The
name local takes that back: commands find the stack of "toolcrib dev" again.`,
		Example: `  toolcrib context use prod
  toolcrib context use local`,
		Args:              Operands("name"),
		ValidArgsFunction: a.completeContexts,
		RunE: func(_ *cobra.Command, args []string) error {
			server := ""
			err := a.changeContexts(func(_ string, contexts *contextFile) error {
				c, ok := contexts.Contexts[args[0]]
				switch {
				case args[0] == localContext:
					contexts.Current = ""
				case !ok && args[0] == approverContext:
					return Usagef("%s is for single commands: give each --context %[1]s", approverContext)
				case !ok:
					return noContext(args[0], *contexts)
				default:
					contexts.Current, server = args[0], c.Server
				}
				return nil
			})
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(contextShape{Name: args[0], Server: server, Current: true}, "using %s",
				strings.TrimSpace(args[0]+" "+terminal.Clean(server)))
		},
	}
}

func (a *App) contextRemoveCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME",
		Short: "Forget a context, and delete the key that is kept with it",
		Long: `Forgets a context. A key that is kept with it is deleted here; revoke it on its
server if it is not to be used any more.`,
		Example:           `  toolcrib context remove staging`,
		Args:              Operands("name"),
		ValidArgsFunction: a.completeContexts,
		RunE: func(_ *cobra.Command, args []string) error {
			err := a.changeContexts(func(dir string, contexts *contextFile) error {
				c, ok := contexts.Contexts[args[0]]
				if !ok {
					return noContext(args[0], *contexts)
				}
				delete(contexts.Contexts, args[0])
				if contexts.Current == args[0] {
					contexts.Current = ""
				}
				return dropKey(dir, c)
			})
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(contextShape{Name: args[0]}, "removed %s", args[0])
		},
	}
}

// contextShape is a context as JSON.
type contextShape struct {
	Name    string `json:"name"`
	Server  string `json:"server,omitempty"`
	KeyFrom string `json:"key_from,omitempty"`
	Current bool   `json:"current"`
}

func (a *App) contextListCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List contexts",
		Long:    `Lists the contexts there are, and which one is in use. Keys are not shown.`,
		Example: `  toolcrib context list`,
		Args:    Operands(),
		RunE: func(*cobra.Command, []string) error {
			_, contexts, err := a.readContexts()
			if err != nil {
				return err
			}
			items := []contextShape{}
			for _, name := range sortedNames(contexts.Contexts) {
				c := contexts.Contexts[name]
				items = append(items, contextShape{
					Name: name, Server: c.Server, KeyFrom: c.keyFrom(), Current: name == contexts.Current,
				})
			}
			return a.Printer.Show(map[string]any{"items": items}, func(w io.Writer) error {
				if len(items) == 0 {
					_, err := fmt.Fprintln(a.Env.Err, "no contexts yet: add one with toolcrib context add NAME --server URL")
					return err
				}
				rows := make([][]string, len(items))
				for i, c := range items {
					rows[i] = []string{map[bool]string{true: "*"}[c.Current], c.Name, c.Server, cmp.Or(c.KeyFrom, "none")}
				}
				return terminal.Table(w, "USED NAME SERVER~ KEY~", rows)
			})
		},
	}
}

// shownConnection is what showing the connection prints as JSON.
type shownConnection struct {
	Context string       `json:"context,omitempty"`
	File    string       `json:"file,omitempty"`
	Server  shownSetting `json:"server"`
	Key     shownSetting `json:"key"`
}

// shownSetting describes a setting. Value is empty for a key, whose Set only
// says whether there is one.
type shownSetting struct {
	Value string `json:"value,omitempty"`
	Set   bool   `json:"set"`
	From  string `json:"from,omitempty"`
}

func (a *App) contextShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show [NAME]",
		Short: "Show which server and key are used, and where each comes from",
		Long: `Shows which server commands talk to with these flags, in this folder and this
environment, whether they have a key, and where both come from. With a name it
shows what --context NAME would do. The key itself is not shown.`,
		Example: `  toolcrib context show
  toolcrib context show prod`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeContexts,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				a.flags.context = args[0]
			}
			c, err := a.connection()
			if err != nil {
				return err
			}
			file, err := a.configFile()
			if err != nil {
				return err
			}
			shown := shownConnection{
				Context: c.context, File: file,
				Server: shownSetting{Value: c.server.value, Set: true, From: c.server.from},
				Key:    shownSetting{Set: c.key.value != "", From: c.key.from},
			}
			return a.Printer.Show(shown, func(w io.Writer) error {
				key := []string{"key", "none", ""}
				if shown.Key.Set {
					key = []string{"key", "set", shown.Key.From}
				}
				return terminal.Table(w, "WHAT VALUE FROM~", [][]string{{"server", shown.Server.Value, shown.Server.From}, key})
			})
		},
	}
}
