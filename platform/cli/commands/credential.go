package commands

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/definition"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

func (a *app) credentialCommand() *cobra.Command {
	return cli.Describe(cli.Group("credential", "Keep, rotate and revoke what tools authenticate with",
		a.credentialSetCommand(), a.credentialRotateCommand(), a.credentialListCommand(), a.credentialShowCommand(),
		a.credentialDeleteCommand()),
		`A credential is kept encrypted, under the name that tools give as credentials_ref.
It goes to the hosts it was given and nowhere else. Its value is read from a file,
a variable or standard input, never from the command line, and never shown again.`,
		`  toolcrib credential set orders-api --host api.example.com --from-env ORDERS_KEY
  toolcrib credential rotate orders-api --from-file new-key
  toolcrib credential list`)
}

// credentialFlags are what a credential is given by.
type credentialFlags struct {
	hosts    []string
	nowhere  bool
	file     string
	variable string
	use      v1.CredentialUse
	expires  time.Duration
	forGood  bool
}

func (f *credentialFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.hosts, "host", nil, "host, host:port or *.example.com it may be sent to; may be repeated")
	flags.BoolVar(&f.nowhere, "no-host", false, "let it be sent nowhere")
	flags.StringVar(&f.file, "from-file", "", "file that holds the value, less its last line break")
	flags.StringVar(&f.variable, "from-env", "", "variable of the environment that holds the value")
	flags.DurationVar(&f.expires, "expires", 0, "how long it is good for (default: for good)")
}

func (f *credentialFlags) registerUse(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.use.Category, "category", "", "with --provider, what it is for, where no tool names it")
	flags.StringVar(&f.use.Provider, "provider", "", "provider it is for, such as serper")
	flags.StringVar(&f.use.Variant, "variant", "", "distinguishes credentials of one provider")
}

// where returns the hosts of the flags, and whether any were given.
func (f *credentialFlags) where() (hosts []string, given bool, err error) {
	switch {
	case f.nowhere && len(f.hosts) > 0:
		return nil, false, cli.Usagef("give one of --host and --no-host")
	case f.nowhere:
		return []string{}, true, nil
	default:
		return f.hosts, len(f.hosts) > 0, nil
	}
}

// until returns when the credential ends.
func (f *credentialFlags) until() *time.Time {
	if f.expires <= 0 {
		return nil
	}
	at := time.Now().Add(f.expires).UTC()
	return &at
}

// credentialBytes is how much of a value is read: one byte more than the limit,
// so that the server refuses a value that is too long.
const credentialBytes = 64<<10 + 2

// secretValue reads a value from where the flags say.
func (a *app) secretValue(f *credentialFlags) (string, error) {
	var text string
	switch {
	case f.file != "" && f.variable != "":
		return "", cli.Usagef("give one of --from-file and --from-env")
	case f.variable != "":
		if text = a.Env.Getenv(f.variable); text == "" {
			return "", cli.Usagef("--from-env %s: the variable %[1]s is not set, or empty", f.variable)
		}
	case f.file != "":
		file, err := os.Open(f.file)
		if err != nil {
			return "", &tool.Error{
				Kind: tool.NotFound, Op: "credential", Msg: definition.Unreadable(f.file, err), Err: err,
			}
		}
		defer func() { _ = file.Close() }()
		if text, err = readValue(file); err != nil {
			return "", err
		}
	default:
		var err error
		if text, err = a.askValue(); err != nil {
			return "", err
		}
	}
	if text == "" {
		return "", cli.Usagef("the value is empty: give --from-file, --from-env, or standard input")
	}
	return text, nil
}

// askValue reads a value from standard input, without showing it where that is
// a terminal.
func (a *app) askValue() (string, error) {
	file, ok := a.Env.In.(*os.File)
	if !ok || !term.IsTerminal(int(file.Fd())) {
		return readValue(a.Env.In)
	}
	_, _ = io.WriteString(a.Env.Err, "value (not shown): ") // The prompt is optional.
	raw, err := term.ReadPassword(int(file.Fd()))
	_, _ = io.WriteString(a.Env.Err, "\n")
	if err != nil {
		return "", fmt.Errorf("reading the value: %w", err)
	}
	return string(raw), nil
}

func readValue(r io.Reader) (string, error) {
	if r == nil {
		return "", nil
	}
	raw, err := io.ReadAll(io.LimitReader(r, credentialBytes))
	if err != nil {
		return "", fmt.Errorf("reading the value: %w", err)
	}
	return strings.TrimSuffix(strings.TrimSuffix(string(raw), "\n"), "\r"), nil
}

func (a *app) credentialSetCommand() *cobra.Command {
	var f credentialFlags
	cmd := cli.Describe(&cobra.Command{
		Use: "set NAME", Short: "Keep a credential, or give one that is there another value", Args: cli.Operands("name"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			hosts, given, err := f.where()
			if err != nil {
				return err
			}
			value, err := a.secretValue(&f)
			if err != nil {
				return err
			}
			was, err := c.Credential(cmd.Context(), args[0])
			switch {
			case err == nil:
				return a.replaceCredential(cmd.Context(), c, was, f, value, hosts, given)
			case !isNotFound(err):
				return err
			case !given:
				return cli.Usagef("say where the credential may go: --host api.example.com, or --no-host for nowhere")
			}
			made, err := c.CreateCredential(cmd.Context(), v1.NewCredential{
				Ref: args[0], Value: value, Hosts: hosts, CredentialUse: f.use, ExpiresAt: f.until(),
			})
			if err != nil {
				return err
			}
			return a.showCredential("made", made)
		}),
	}, `Keeps a credential under a name, or gives the one of that name another value. The
value comes from --from-file, --from-env, or standard input.

Every credential says where it may go: a tool that names it can send it to those
hosts and no others.`, `  toolcrib credential set orders-api --host api.example.com --from-env ORDERS_KEY
  toolcrib credential set search --host google.serper.dev --category custom --provider serper --from-file key
  printf %s "$TOKEN" | toolcrib credential set github --host api.github.com --expires 720h`)
	f.register(cmd)
	f.registerUse(cmd)
	return cmd
}

// replaceCredential rotates a credential, and changes what other flags name.
func (a *app) replaceCredential(
	ctx context.Context, c *client.Client, was v1.Credential, f credentialFlags, value string, hosts []string, given bool,
) error {
	change := v1.CredentialChange{Value: &value, ExpiresAt: f.until(), NoExpiry: f.forGood}
	if given {
		change.Hosts = hosts
	}
	if f.use != (v1.CredentialUse{}) {
		change.Use = &f.use
	}
	changed, err := c.ChangeCredential(ctx, was.ID, change)
	if err != nil {
		return err
	}
	return a.showCredential("rotated", changed)
}

func (a *app) credentialRotateCommand() *cobra.Command {
	var f credentialFlags
	cmd := cli.Describe(&cobra.Command{
		Use: "rotate NAME", Short: "Give a credential another value", Args: cli.Operands("name"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			hosts, given, err := f.where()
			if err != nil {
				return err
			}
			value, err := a.secretValue(&f)
			if err != nil {
				return err
			}
			was, err := c.Credential(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.replaceCredential(cmd.Context(), c, was, f, value, hosts, given)
		}),
	}, `Gives a credential another value. Calls under way go on with the old one, calls
from now on send the new one. Its hosts stay, unless others are given.`,
		`  toolcrib credential rotate orders-api --from-file new-key
  toolcrib credential rotate orders-api --from-env ORDERS_KEY --expires 720h`)
	f.register(cmd)
	cmd.Flags().BoolVar(&f.forGood, "no-expiry", false, "let it last for good from now on")
	return cmd
}

func (a *app) showCredential(did string, c v1.Credential) error {
	return a.Printer.ShowLine(c, "%s %s, version %d, for %s",
		did, terminal.Clean(c.Ref), c.Version, terminal.Clean(hostsOf(c)))
}

func hostsOf(c v1.Credential) string {
	if len(c.Hosts) == 0 {
		return "no host"
	}
	return strings.Join(c.Hosts, " ")
}

func (a *app) credentialListCommand() *cobra.Command {
	list := (*client.Client).ListCredentials
	return cli.Describe(listCommand(a, "List credentials, never their values", list, listing[v1.Credential]{
		header: "NAME FOR HOSTS~ VERSION EXPIRES USED ROTATED",
		row: func(c v1.Credential) []string {
			return []string{
				c.Ref, useOf(c.CredentialUse), hostsOf(c), strconv.Itoa(c.Version), terminal.SinceOf(c.ExpiresAt),
				terminal.SinceOf(c.LastUsedAt), terminal.SinceOf(c.RotatedAt),
			}
		},
		empty: "no credentials: keep one with toolcrib credential set NAME --host HOST",
	}), `Lists the tenant's credentials: where they may go, what they are for, and when
they were used last. Values are not shown, here or anywhere.`, `  toolcrib credential list
  toolcrib credential list --json`)
}

func useOf(u v1.CredentialUse) string {
	if u == (v1.CredentialUse{}) {
		return ""
	}
	return u.Selector().String()
}

func (a *app) credentialShowCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "show NAME", Short: "Show a credential, never its value", Args: cli.Operands("name"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			found, err := c.Credential(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Printer.Show(found, func(w io.Writer) error {
				return terminal.Pairs(w, "credential", found.Ref, "id", found.ID, "value", found.Value,
					"for", useOf(found.CredentialUse), "hosts", hostsOf(found),
					"version", strconv.Itoa(found.Version), "data key", strconv.Itoa(found.KeyVersion), "expires",
					terminal.StampSinceOf(found.ExpiresAt),
					"used", terminal.StampSinceOf(found.LastUsedAt), "rotated", terminal.StampSinceOf(found.RotatedAt))
			})
		}),
	}, `Shows a credential by its name or id: where it may go, what it is for, and how
often its value was replaced.`, `  toolcrib credential show orders-api`)
}

func (a *app) credentialDeleteCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "delete NAME", Short: "Revoke a credential, at once and for good", Args: cli.Operands("name"),
		RunE: a.Online(func(cmd *cobra.Command, c *client.Client, args []string) error {
			gone, err := c.DeleteCredential(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.Printer.ShowLine(gone, "revoked %s", terminal.Clean(gone.Ref))
		}),
	}, `Revokes a credential and destroys its value. The next call that needs it is
refused; calls under way are let finish.`, `  toolcrib credential delete orders-api`)
}

func isNotFound(err error) bool {
	return err != nil && tool.KindOf(err) == tool.NotFound
}
