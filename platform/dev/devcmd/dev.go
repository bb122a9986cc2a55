package devcmd

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/operator"
	"github.com/toolcrib/toolcrib/platform/dev"
	"github.com/toolcrib/toolcrib/platform/dev/embedded"
	"github.com/toolcrib/toolcrib/platform/dev/folder"
	"github.com/toolcrib/toolcrib/platform/dev/programs"
	"github.com/toolcrib/toolcrib/platform/observe"
	"github.com/toolcrib/toolcrib/tool"
)

// stopTimeout bounds a graceful stop.
const stopTimeout = 45 * time.Second

// New returns the command, for [cli.Run].
func New(invocation *cli.App) []*cobra.Command {
	return []*cobra.Command{command(invocation.Env)}
}

func command(env cli.Env) *cobra.Command {
	var listen, tenant, payloads string
	var flags operator.WorkerFlags
	var headless, verbose bool
	var hosts []string
	var ports portFlags
	cmd := &cobra.Command{
		Use:   "dev",
		Short: "Run everything on this machine: database, Temporal, API and worker",
		Long: `Runs PostgreSQL, Temporal with its UI, the API and a worker in one process, with
their data in one folder, until it is interrupted. On the first start it makes a
tenant, and a key that may do anything in it, which the other commands find in
the folder.

PostgreSQL is the server of TOOLCRIB_DATABASE_URL, else this machine's programs.
Where there are neither, its programs are downloaded once, to your cache folder;
TOOLCRIB_POSTGRES_DOWNLOAD=never or ask says otherwise, and
TOOLCRIB_POSTGRES_REPOSITORY names another repository.

A port that is taken is replaced by a free one, and said, unless you ask for it.`,
		Example: `  toolcrib dev
  toolcrib dev --transcripts examples/transcripts --allow-host 127.0.0.1:8780`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			log := logger(env.Err, verbose)
			worker, err := flags.Config(log, env.Getenv)
			if err != nil {
				return err
			}
			worker.SandboxCommand = env.Sandbox
			if worker.PayloadKeys, err = (&cli.App{Env: env}).PayloadKeys(payloads); err != nil {
				return err
			}
			data, err := cmd.Flags().GetString("data")
			if err != nil {
				return err
			}
			asJSON, err := cmd.Flags().GetBool("json")
			if err != nil {
				return err
			}
			fetch, err := download(env)
			if err != nil {
				return err
			}
			address := cmp.Or(listen, env.Getenv(cli.ListenVariable))
			if err := checkListen(address); err != nil {
				return err
			}
			names, err := operator.ReadPublicHosts(hosts, env.Getenv)
			if err != nil {
				return err
			}
			return run(cmd.Context(), env, asJSON, dev.Config{
				PublicHosts: names,
				Stack: embedded.Config{
					DataDir: cmp.Or(data, env.Getenv(cli.DataVariable)), Headless: headless, Logger: log, Download: fetch,
					TemporalPort: ports.temporal, UIPort: ports.ui, PostgresPort: ports.postgres, PortsFixed: true,
				},
				Listen: address, ListenFixed: address != "", Tenant: tenant, Worker: worker,
				TaskQueue: env.Getenv(cli.QueueVariable), Version: env.Version, Logger: log,
			})
		},
	}
	flags.Register(cmd)
	cmd.Flags().StringVar(
		&listen, "listen", "", "address of the API (default "+dev.DefaultListen+"; "+cli.ListenVariable+")",
	)
	operator.PublicHosts(cmd, &hosts)
	ports.register(cmd)
	cli.PayloadKeysFlag(cmd, &payloads)
	cmd.Flags().StringVar(&tenant, "tenant", "", "slug of the tenant (default "+dev.DefaultTenant+")")
	cmd.Flags().BoolVar(&headless, "headless", false, "leave Temporal's UI out")
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "log requests and what the services say")
	return cmd
}

// checkListen refuses an address that nothing can listen on, before anything is started.
func checkListen(address string) error {
	if address == "" {
		return nil
	}
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return &cli.UsageError{Err: fmt.Errorf("--listen %q is not host:port, such as 127.0.0.1:8080", address)}
	}
	if number, err := strconv.Atoi(port); err == nil && (number < 0 || number > 65535) { // It may be a name.
		return &cli.UsageError{Err: fmt.Errorf("--listen %q has no port from 0 to 65535", address)}
	}
	return nil
}

func run(ctx context.Context, env cli.Env, asJSON bool, cfg dev.Config) error {
	began := time.Now()
	var err error
	cfg.Observer, err = observe.New(ctx, observe.Config{
		Service: "toolcrib-dev", Version: env.Version, Getenv: env.Getenv, Logger: cfg.Logger,
	})
	if err != nil {
		return err
	}
	defer func() {
		stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
		defer cancel()
		_ = cfg.Observer.Stop(stopping) // The spans that waited are lost.
	}()
	d, err := dev.Start(ctx, cfg)
	if err != nil {
		return classified(err)
	}
	if err := announce(env.Out, d, asJSON, time.Since(began)); err != nil {
		return err
	}
	failed := d.Wait(ctx)
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := d.Stop(stopping); failed == nil && err != nil {
		failed = err
	}
	return failed
}

// portFlags are the ports that the user asks for.
type portFlags struct{ temporal, ui, postgres int }

func (f *portFlags) register(cmd *cobra.Command) {
	usual := func(port int) string { return fmt.Sprintf(" (default %d, or a free one; -1 for any)", port) }
	cmd.Flags().IntVar(&f.temporal, "temporal-port", 0, "port of Temporal"+usual(embedded.DefaultTemporalPort))
	cmd.Flags().IntVar(&f.ui, "ui-port", 0, "port of Temporal's UI"+usual(embedded.DefaultUIPort))
	cmd.Flags().IntVar(&f.postgres, "postgres-port", 0, "port of PostgreSQL"+usual(embedded.DefaultPostgresPort))
}

// classified gives the failures of the stack their kinds, and so exit codes.
func classified(err error) error {
	if e, ok := errors.AsType[*embedded.LockedError](err); ok {
		return &tool.Error{Kind: tool.Conflict, Op: "dev", Msg: e.Error(), Err: err}
	}
	if e, ok := errors.AsType[*embedded.VersionMismatchError](err); ok {
		return &tool.Error{Kind: tool.Conflict, Op: "dev", Msg: e.Error(), Err: err}
	}
	if e, ok := errors.AsType[*folder.Error](err); ok {
		return &tool.Error{Kind: tool.Denied, Op: "dev", Msg: e.Error(), Err: err}
	}
	if e, ok := errors.AsType[*embedded.PortTakenError](err); ok {
		return &tool.Error{Kind: tool.Unavailable, Op: "dev", Msg: e.Error(), Err: err}
	}
	if e, ok := errors.AsType[*programs.MissingError](err); ok {
		return &tool.Error{Kind: tool.Unavailable, Op: "dev", Msg: e.Error(), Err: err}
	}
	return err
}

// addresses is where things are, as it is printed.
type addresses struct {
	Server   string `json:"server"`
	Console  string `json:"console,omitempty"`
	OpenAPI  string `json:"openapi"`
	UI       string `json:"temporal_ui,omitempty"`
	Temporal string `json:"temporal"`
	Data     string `json:"data"`
	KeyFile  string `json:"key_file"`
	Approver string `json:"approver_key_file"`
	Tenant   string `json:"tenant"`
}

func announce(w io.Writer, d *dev.Dev, asJSON bool, took time.Duration) error {
	at := addresses{
		Server: d.URL(), Console: d.SignInURL(), OpenAPI: d.URL() + "/openapi.json", UI: d.Stack().UIURL(),
		Temporal: d.Stack().TemporalAddress(),
		Data:     d.Stack().DataDir(), KeyFile: d.KeyFile(), Approver: d.ApproverKeyFile(), Tenant: d.Tenant().Slug,
	}
	if asJSON {
		return json.NewEncoder(w).Encode(at)
	}
	_, err := fmt.Fprintf(w, `Toolcrib is ready after %s. Stop it with Ctrl-C.

  console      %s
  API          %s
  description  %s
  Temporal UI  %s
  Temporal     %s
  data folder  %s
  API key      %s (tenant %s)

The address of the console signs a browser in once.
Next, in another terminal: toolcrib apply -f FOLDER --data %s
Calls that write wait for an approval, which another key gives:
  toolcrib approvals list --data %s --context approver
`, took.Round(10*time.Millisecond), cmp.Or(at.Console, at.Server), at.Server, at.OpenAPI,
		cmp.Or(at.UI, "–"), at.Temporal, at.Data, at.KeyFile,
		at.Tenant, at.Data, at.Data)
	return err
}

func logger(w io.Writer, verbose bool) *slog.Logger {
	level := slog.LevelWarn
	if verbose {
		level = slog.LevelDebug
	}
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: level}))
}
