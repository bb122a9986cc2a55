package operator

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/internal/hostname"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/models/scripted"
	"github.com/toolcrib/toolcrib/platform/observe"
	"github.com/toolcrib/toolcrib/platform/observe/probe"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/worker"
)

// WorkerFlags configure a worker, such as the hosts it may reach. Commands that
// run a worker share them.
type WorkerFlags struct {
	AllowHosts  []string
	AllowPorts  []string
	DenyHosts   []string
	DenyCIDRs   []string
	Proxy       string
	OnlyHosts   []string
	OnlyMethods []string
	MaxAnswer   int64
	SecretsDir  string
	Transcripts string
	MCPCommands string
	Sandbox     SandboxFlags
}

// Register adds the flags to a command.
func (f *WorkerFlags) Register(cmd *cobra.Command) {
	f.registerReach(cmd)
	cmd.Flags().StringVar(&f.MCPCommands, "mcp-commands", "",
		"JSON file of the commands that mcp tools may run as servers, by name")
	cmd.Flags().StringVar(&f.Transcripts, "transcripts", "", "folder of transcripts that models called scripted/… play")
}

// registerReach adds the flags that say what may be reached, and what programs
// may have.
func (f *WorkerFlags) registerReach(cmd *cobra.Command) {
	f.Sandbox.Register(cmd)
	flags := cmd.Flags()
	flags.StringArrayVar(&f.AllowHosts, "allow-host", nil,
		"host or host:port that tools may reach though it is not public; may be repeated")
	flags.StringArrayVar(&f.AllowPorts, "allow-port", nil, "port that tools may use beside 80 and 443; may be repeated")
	flags.StringArrayVar(&f.DenyHosts, "deny-host", nil,
		"host, host:port or *.host that tools may never call, whatever allows it; may be repeated")
	flags.StringArrayVar(&f.DenyCIDRs, "deny-cidr", nil,
		"block of addresses that tools may never reach, such as 203.0.113.0/24; may be repeated")
	flags.StringVar(
		&f.Proxy, "egress-proxy", "",
		"http://host:port of the proxy that all requests of tools go through ("+ProxyVariable+")",
	)
	flags.StringArrayVar(&f.OnlyHosts, "only-host", nil,
		"host, host:port or *.host that tools may call, and no other; may be repeated")
	flags.StringArrayVar(&f.OnlyMethods, "only-method", nil,
		"HTTP method that tools may send, and no other; may be repeated")
	flags.Int64Var(&f.MaxAnswer, "max-answer-bytes", 0,
		"most that tools may read of an answer; 0 for the limits of each tool alone")
	flags.StringVar(&f.SecretsDir, "secrets-dir", "", "folder of credentials, beside TOOLCRIB_SECRET_… variables")
}

// Config returns the configuration of the plugin that the flags ask for, and the
// variables of the environment.
func (f *WorkerFlags) Config(log *slog.Logger, getenv func(string) string) (worker.Config, error) {
	cfg := worker.Config{SecretsDir: f.SecretsDir, Logger: log}
	var err error
	if cfg.SandboxLimits, err = f.Sandbox.Limits(getenv); err != nil {
		return worker.Config{}, err
	}
	allowed := worker.Allowance{Hosts: f.AllowHosts}
	for _, host := range f.AllowHosts {
		if _, rest, ok := strings.Cut(host, "://"); ok || strings.Contains(host, "/") {
			named, _, _ := strings.Cut(cmp.Or(rest, host), "/")
			return worker.Config{}, cli.Usagef("--allow-host %q is no host: name it as %s", host, named)
		}
	}
	for _, text := range f.AllowPorts {
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port == 0 {
			return worker.Config{}, cli.Usagef("--allow-port %q is no port", text)
		}
		allowed.Ports = append(allowed.Ports, uint16(port))
	}
	allowed.Rules = tool.EgressRules{Hosts: f.OnlyHosts, Methods: f.OnlyMethods, MaxBytes: f.MaxAnswer}
	if err := hostname.CheckRules(allowed.Rules, "", false); err != nil {
		return worker.Config{}, cli.Usagef("%s: %s", ruleFlag(tool.AsError(err).Path), tool.AsError(err).Msg)
	}
	if err := f.deny(&allowed); err != nil {
		return worker.Config{}, err
	}
	if cfg.Proxy, err = proxyURL(cmp.Or(f.Proxy, getenv(ProxyVariable))); err != nil {
		return worker.Config{}, err
	}
	if len(allowed.Hosts)+len(allowed.Ports)+len(allowed.DenyHosts)+len(allowed.DenyCIDRs) > 0 || !allowed.Rules.IsZero() {
		cfg.Allow = map[tool.TenantID]worker.Allowance{"": allowed}
	}
	if cfg.MCPCommands, err = mcpCommands(f.MCPCommands); err != nil {
		return worker.Config{}, err
	}
	if f.Transcripts != "" {
		if err := requireFolder("--transcripts", f.Transcripts); err != nil {
			return worker.Config{}, err
		}
		cfg.Models = map[string]agent.Model{"scripted": scripted.New(f.Transcripts)}
	}
	return cfg, nil
}

// requireFolder refuses a folder that is not there, and says where it was looked
// for.
func requireFolder(flag, folder string) error {
	info, err := os.Stat(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if whole, absErr := filepath.Abs(folder); absErr == nil {
			folder = whole
		}
		return cli.Usagef("%s: there is no folder %s", flag, folder)
	case err != nil:
		return cli.Usagef("%s: %v", flag, err)
	case !info.IsDir():
		return cli.Usagef("%s: %s is a file: give the folder that it is in", flag, folder)
	}
	return nil
}

// deny takes over what tools may never reach.
func (f *WorkerFlags) deny(to *worker.Allowance) error {
	for _, host := range f.DenyHosts {
		if !hostname.ValidEntry(host, true) {
			return cli.Usagef("--deny-host %q is not a host, host:port or *.host in ASCII", host)
		}
	}
	to.DenyHosts = f.DenyHosts
	for _, text := range f.DenyCIDRs {
		block, err := netip.ParsePrefix(text)
		if err != nil {
			return cli.Usagef("--deny-cidr %q is not a block of addresses, such as 203.0.113.0/24 or 2001:db8::/32", text)
		}
		to.DenyCIDRs = append(to.DenyCIDRs, block.Masked())
	}
	return nil
}

// ProxyVariable is the environment variable of --egress-proxy, for an address
// with a password, which a flag would show to all users of the machine.
const ProxyVariable = "TOOLCRIB_EGRESS_PROXY"

// proxyURL reads the address of a proxy; nil for none. It is never quoted: it
// may hold a password.
func proxyURL(text string) (*url.URL, error) {
	if text == "" {
		return nil, nil // No proxy is none.
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.Path != "" && u.Path != "/" ||
		u.RawQuery != "" {
		return nil, cli.Usagef("--egress-proxy: expected http://host:port or https://host:port")
	}
	return u, nil
}

// ruleFlag returns the flag that gave the egress rule at a JSON Pointer.
func ruleFlag(path string) string {
	switch {
	case strings.HasPrefix(path, "/hosts"):
		return "--only-host"
	case strings.HasPrefix(path, "/methods"):
		return "--only-method"
	default:
		return "--max-answer-bytes"
	}
}

func (a *app) workerCommand() *cobra.Command {
	var database, metrics, queue, kek, payloads string
	var flags WorkerFlags
	var connections, cached int
	var verbose bool
	var temporal temporalFlags
	var version versionFlags
	cmd := &cobra.Command{
		Use:   "worker",
		Short: "Run a worker, which executes runs and calls",
		Long: `Runs workflows and activities until it is interrupted; then running calls finish.

The database role must own nothing and not bypass row level security. Temporal
is found as its own tools do it: TEMPORAL_ADDRESS, TEMPORAL_NAMESPACE, …

With --deployment the worker is a version of a Worker Deployment, and gets work once
that version is current: see "toolcrib deployment --help".

Metrics and health checks are served at --metrics-address, if it is given.
Traces go where OTEL_EXPORTER_OTLP_ENDPOINT says.`,
		Example: `  toolcrib worker --database-url postgres://app@db/toolcrib --secrets-dir /run/secrets
  toolcrib worker --allow-host orders.internal:8443 --task-queue tools`,
		Args: cli.Operands(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			url, err := a.DatabaseURL(database)
			if err != nil {
				return err
			}
			log := a.processLogger(verbose)
			cfg, err := flags.Config(log, a.Env.Getenv)
			if err != nil {
				return err
			}
			if cfg.DatabaseConnections, err = a.connections(connections); err != nil {
				return err
			}
			if cached < 1 {
				return cli.Usagef("--cached-workflows %d is out of range: expected 1 or more", cached)
			}
			keys, err := a.Keyring(kek)
			if err != nil {
				return err
			}
			if cfg.PayloadKeys, err = a.PayloadKeys(payloads); err != nil {
				return err
			}
			cfg.SandboxCommand = a.Env.Sandbox
			cfg.DatabaseURL, cfg.KeyEncryption = url, keys.Keys()
			work := serve.WorkerConfig{
				Plugin: cfg, Environ: a.Env.Environ, TaskQueue: cmp.Or(queue, a.Env.Getenv(cli.QueueVariable)),
				CachedWorkflows: cached,
			}
			if work.Options.DeploymentOptions, err = version.options(buildID()); err != nil {
				return err
			}
			if work.Temporal, err = temporal.options(a.Env.Environ, log); err != nil {
				return err
			}
			return a.work(cmd.Context(), work, metrics, log)
		},
	}
	flags.Register(cmd)
	metricsFlag(cmd, &metrics, "default: nowhere")
	cmd.Flags().StringVar(
		&queue, "task-queue", "", "where to listen (default "+serve.DefaultTaskQueue+"; "+cli.QueueVariable+")",
	)
	cmd.Flags().BoolVarP(&verbose, "verbose", "v", false, "log more")
	cli.DatabaseFlag(cmd, &database)
	connectionsFlag(cmd, &connections)
	cmd.Flags().IntVar(&cached, "cached-workflows", serve.DefaultCachedWorkflows,
		"workflows kept in memory, some 100 KB each; one that is not is replayed when it goes on")
	cli.KEKFlag(cmd, &kek)
	cli.PayloadKeysFlag(cmd, &payloads)
	temporal.register(cmd)
	version.register(cmd)
	return cmd
}

func (a *app) work(ctx context.Context, cfg serve.WorkerConfig, metrics string, log *slog.Logger) error {
	o, stop, err := a.observer(ctx, "toolcrib-worker", log)
	if err != nil {
		return err
	}
	defer stop()
	plugin := &cfg.Plugin
	if plugin.Store, err = store.Open(ctx, plugin.DatabaseURL, plugin.StoreOptions()); err != nil {
		return err
	}
	defer plugin.Store.Close()
	o.Collect(observe.Pool(plugin.Store), observe.Sweeps(plugin.Store), observe.Schema(plugin.Store))
	plugin.TracerProvider, plugin.MeterProvider = o.TracerProvider(), o.MeterProvider()
	cfg.Temporal = o.Metrics(cfg.Temporal)
	w, err := serve.StartWorker(ctx, cfg)
	if err != nil {
		return err
	}
	attributes := []slog.Attr{slog.String("task_queue", cmp.Or(cfg.TaskQueue, serve.DefaultTaskQueue))}
	if version := cfg.Options.DeploymentOptions.Version; version.DeploymentName != "" {
		attributes = append(attributes,
			slog.String("deployment", version.DeploymentName), slog.String("build_id", version.BuildID))
	}
	log.LogAttrs(ctx, slog.LevelInfo, "working", attributes...)
	defer w.Stop()
	return a.together(ctx, metrics, o, probe.New(append(probe.Database(plugin.Store), probe.Temporal(w.Client()))...), log,
		func(ctx context.Context) error {
			<-ctx.Done()
			return nil
		})
}
