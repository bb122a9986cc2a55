package operator

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/platform/api"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/store"
)

const (
	defaultAdminListen  = "127.0.0.1:8082"
	adminTokensVariable = "TOOLCRIB_ADMIN_TOKENS" //nolint:gosec // The name of a variable, which holds the path of a file.
)

// adminCommand has the API for operators.
func (a *app) adminCommand() *cobra.Command {
	return cli.Describe(cli.Group("admin", "Serve the API for operators, which manages global tools and tenants",
		a.adminServeCommand(), a.adminTokenCommand()),
		`Operators manage global tools, what holds of them for every tenant, and tenants over HTTP,
without a login of the database of their own. Each operator has a token.`,
		`  toolcrib admin token ada
  toolcrib admin serve --tokens operators.txt --database-url postgres://owner@db/toolcrib`)
}

func (a *app) adminServeCommand() *cobra.Command {
	var database, address, file string
	var hosts []string
	var verbose bool
	cmd := cli.Describe(&cobra.Command{
		Use: "serve", Short: "Serve the API for operators", Args: cli.Operands(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			path := cmp.Or(file, a.Env.Getenv(adminTokensVariable))
			if path == "" {
				return cli.Usagef("say who may use it: --tokens with a file of lines that toolcrib admin token prints (%s)",
					adminTokensVariable)
			}
			raw, err := os.ReadFile(path) //nolint:gosec // The operator's own file.
			if err != nil {
				return cli.Usagef("--tokens: %v", err)
			}
			tokens, err := parseAdminTokens(path, string(raw))
			if err != nil {
				return err
			}
			url, err := a.DatabaseURL(database)
			if err != nil {
				return err
			}
			names, err := ReadPublicHosts(hosts, a.Env.Getenv)
			if err != nil {
				return err
			}
			log := a.processLogger(verbose)
			owner, err := store.OpenPlatform(ctx, url, store.Options{Logger: log, MaxConns: 4})
			if err != nil {
				return err
			}
			defer owner.Close()
			handler, err := api.NewOperator(api.OperatorConfig{
				Platform: owner, Registry: serve.GlobalTools(owner), Tokens: tokens, Version: a.Env.Version, Logger: log,
			})
			if err != nil {
				return err
			}
			listener, err := serve.Listen(ctx, cmp.Or(address, defaultAdminListen))
			if err != nil {
				return err
			}
			warnOfPlainTokens(ctx, log, listener)
			handler = serve.Hosts{Names: names, Setting: "--public-host"}.Guard(listener, handler)
			log.InfoContext(ctx, "serving operators", slog.String("url", "http://"+listener.Addr().String()),
				slog.Int("operators", len(tokens)))
			return serve.HTTP(ctx, listener, handler, log)
		},
	}, `Serves the API for operators until it is interrupted: the tools of the platform, what it
decides about them for every tenant, and the tenants. Its description is at /openapi.json.

It needs the URL of the database as its owner, which toolcrib serve must not have: keep
it on an address that operators alone reach, behind TLS where that is not this machine.
--tokens is a file with a line for each operator, NAME and the digest of a token, as
toolcrib admin token prints it. What an operator changes is in the platform's audit log,
by that name.`,
		`  toolcrib admin serve --tokens operators.txt --database-url postgres://owner@db/toolcrib`)
	cmd.Flags().StringVar(&address, "listen", "", "address to listen on (default "+defaultAdminListen+")")
	cmd.Flags().StringVar(&file, "tokens", "",
		"file of operators and the digests of their tokens ("+adminTokensVariable+")")
	PublicHosts(cmd, &hosts)
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "log more")
	cli.DatabaseFlag(cmd, &database)
	return cmd
}

// warnOfPlainTokens logs that others can read the tokens of operators, where they reach the listener: it has no TLS.
func warnOfPlainTokens(ctx context.Context, log *slog.Logger, l net.Listener) {
	if serve.Local(l) {
		return
	}
	log.WarnContext(ctx, "the API for operators listens beyond this machine, without TLS: put TLS in front of it, and "+
		"let operators alone reach this address, or listen on 127.0.0.1",
		slog.String("address", l.Addr().String()))
}

// operatorName is how operators are named.
var operatorName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@-]{0,99}$`)

// parseAdminTokens reads lines of a name and the digest of a token. Empty lines and comments with # are skipped.
func parseAdminTokens(path, text string) (api.OperatorTokens, error) {
	out := make(api.OperatorTokens)
	for n, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, digest, _ := strings.Cut(line, " ")
		raw, err := hex.DecodeString(strings.TrimSpace(digest))
		if !operatorName.MatchString(name) || err != nil || len(raw) != sha256.Size {
			return nil, cli.Usagef(
				"%s:%d: expected a name and the digest of a token, as toolcrib admin token prints them", path, n+1)
		}
		key := [sha256.Size]byte(raw)
		if other, taken := out[key]; taken {
			return nil, cli.Usagef("%s:%d: %s has the token of %s", path, n+1, name, other)
		}
		out[key] = name
	}
	if len(out) == 0 {
		return nil, cli.Usagef("%s names no operator: add a line that toolcrib admin token prints", path)
	}
	return out, nil
}

func (a *app) adminTokenCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "token NAME", Short: "Make a token of an operator", Args: cli.Operands("name"),
		RunE: func(_ *cobra.Command, args []string) error {
			if !operatorName.MatchString(args[0]) {
				return cli.Usagef("%q is no name of an operator: letters, digits, dots, dashes, underscores and @", args[0])
			}
			raw := make([]byte, 32)
			if _, err := rand.Read(raw); err != nil {
				return errors.New("no random numbers are to be had")
			}
			token := api.OperatorTokenPrefix + hex.EncodeToString(raw)
			digest := sha256.Sum256([]byte(token))
			line := fmt.Sprintf("%s %x", args[0], digest)
			return a.Printer.ShowLine(struct {
				Token string `json:"token"`
				Line  string `json:"line"`
			}{token, line}, "token: %s\nline for --tokens: %s", token, line)
		},
	}, `Prints a new token, which is shown this once, and the line that lets it in: append the
line to the file of toolcrib admin serve --tokens. The line holds the token's digest only.
To take a token away, remove its line and start the server again.`, `  toolcrib admin token ada`)
}
