package operator

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/internal/payload"
	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/runs/reconcile"
	"github.com/toolcrib/toolcrib/store"
)

// defaultUnknown is how far back calls of unknown outcome are listed.
const defaultUnknown = 7 * 24 * time.Hour

type reconcileFlags struct {
	database      string
	payloads      string
	dryRun, adopt bool
	unknown       time.Duration
	temporal      temporalFlags
}

func maintenanceFlag(cmd *cobra.Command, url *string) {
	cmd.Flags().StringVar(url, "maintenance-database-url", "",
		"URL of the database, with the login of the reconciler ("+cli.MaintenanceVariable+")")
}

// maintenanceURL returns the database with the reconciler's login, or nothing.
func (a *app) maintenanceURL() string {
	return cmp.Or(a.maintenance, a.Env.Getenv(cli.MaintenanceVariable))
}

// startReconciler reconciles until stop is called, or says why nothing does.
func (a *app) startReconciler(ctx context.Context, cfg serve.ReconcileConfig) (stop func(), err error) {
	if cfg.MaintenanceURL = a.maintenanceURL(); cfg.MaintenanceURL == "" {
		cfg.Logger.WarnContext(ctx, "nothing is reconciled by this server: runs whose workflows are terminated or lost "+
			"stay open",
			slog.String(
				"mend", "set "+cli.MaintenanceVariable+" to the database's URL with a login that is granted "+store.MaintenanceRole,
			))
		return func() {}, nil
	}
	r, err := serve.NewReconciler(ctx, cfg)
	if err != nil {
		return nil, fmt.Errorf("opening the maintenance connection: %w", err)
	}
	r.Start(ctx)
	return r.Stop, nil
}

func (a *app) reconcileCommand() *cobra.Command {
	var flags reconcileFlags
	cmd := &cobra.Command{
		Use:   "reconcile",
		Short: "Close what has ended without saying so",
		Long: `Compares the record with Temporal once, and closes what has ended without saying
so: runs that were never started, runs and calls whose workflows were terminated,
timed out or are gone, workflows whose runs a restored database has lost, and
documents that nothing ingests any more. A server with a maintenance connection
does the same every few seconds; both at once do each thing once.

Calls whose outcome is unknown are listed with what to check. They are never
repeated by themselves.

With --dry-run it changes nothing. It ends with 0 when all was compared, whatever
was found, and with 6 when the database or Temporal does not answer.`,
		Example: `  toolcrib reconcile --dry-run
  toolcrib reconcile --json | jq '.unknown[] | {tool, host, idempotency_key}'`,
		Args: cli.Operands(),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.reconcile(cmd.Context(), flags) },
	}
	cmd.Flags().BoolVar(&flags.dryRun, "dry-run", false, "say what would be closed, and change nothing")
	cmd.Flags().BoolVar(&flags.adopt, "adopt-namespace", false,
		"bind the record to this Temporal namespace: runs that it does not know are closed as lost")
	cmd.Flags().DurationVar(&flags.unknown, "unknown-within", defaultUnknown, "list calls of unknown outcome of this time")
	cli.DatabaseFlag(cmd, &flags.database)
	maintenanceFlag(cmd, &a.maintenance)
	cli.PayloadKeysFlag(cmd, &flags.payloads)
	flags.temporal.register(cmd)
	return cmd
}

func (a *app) reconcile(ctx context.Context, flags reconcileFlags) error {
	url, err := a.DatabaseURL(flags.database)
	if err != nil {
		return err
	}
	maintenance := a.maintenanceURL()
	if maintenance == "" {
		return cli.Usagef(
			"this command needs a second login: give --maintenance-database-url or set %s to the database's URL "+
				"with a login that is granted %s; toolcrib dev reconciles by itself", cli.MaintenanceVariable,
			store.MaintenanceRole)
	}
	log := a.Logger()
	s, err := store.Open(ctx, url, store.Options{Logger: log})
	if err != nil {
		return err
	}
	defer s.Close()
	opts, err := flags.temporal.options(a.Env.Environ, log)
	if err != nil {
		return err
	}
	keys, err := a.PayloadKeys(flags.payloads)
	if err != nil {
		return err
	}
	payload.Configure(&opts, keys)
	temporal, err := serve.DialTemporal(ctx, opts)
	if err != nil {
		return err
	}
	defer temporal.Close()
	r, err := serve.NewReconciler(ctx, serve.ReconcileConfig{
		Store: s, Temporal: temporal, Namespace: opts.Namespace, MaintenanceURL: maintenance, Adopt: flags.adopt, Logger: log,
	})
	if err != nil {
		return fmt.Errorf("opening the maintenance connection: %w", err)
	}
	defer r.Stop()
	report, err := r.Once(ctx, reconcile.PassOptions{DryRun: flags.dryRun, UnknownSince: time.Now().Add(-flags.unknown)})
	if err != nil {
		return err
	}
	return a.Printer.Show(report, func(w io.Writer) error { return writeReport(w, report) })
}

func writeReport(w io.Writer, report reconcile.Report) error {
	rows := make([][]string, len(report.Findings))
	for i, f := range report.Findings {
		done := "closed"
		switch {
		case report.DryRun:
			done = "would close"
		case !f.Closed:
			done = "changed meanwhile"
		}
		rows[i] = []string{string(f.Subject), f.ID, cmp.Or(f.Was, "-") + " -> " + f.Status, string(f.Reason), done, f.Message}
	}
	if _, err := fmt.Fprintf(w, "%d open runs and %d open workflows compared\n", report.Runs,
		report.Workflows); err != nil {
		return err
	}
	if len(rows) == 0 {
		if _, err := fmt.Fprintln(w, "nothing to close"); err != nil {
			return err
		}
	} else if err := terminal.Table(w, "WHAT ID CHANGE REASON DONE WHY~", rows); err != nil {
		return err
	}
	return writeUnknown(w, report.Unknown)
}

func writeUnknown(w io.Writer, calls []reconcile.UnknownCall) error {
	if len(calls) == 0 {
		return nil
	}
	if _, err := fmt.Fprintf(w, "\ncalls whose outcome is unknown, to check by hand: %d\n", len(calls)); err != nil {
		return err
	}
	for _, c := range calls {
		_, err := fmt.Fprintf(w, "\n%s  %s\n  run %s, turn %d, call %s\n  sent to %s between %s and %s\n  idempotency key "+
			"%s\n  arguments digest %s\n  %s\n",
			c.InvocationID, terminal.Clean(c.Tool), cmp.Or(c.RunID, "none"), c.Turn, terminal.Clean(c.CallID),
			terminal.Clean(cmp.Or(c.Host, "a place its configuration does not name")),
			terminal.Stamp(c.SentAfter), terminal.Stamp(c.SentBefore), cmp.Or(c.IdempotencyKey, "none"),
			cmp.Or(c.ArgumentsDigest, "none"),
			terminal.Clean(c.Advice))
		if err != nil {
			return err
		}
	}
	return nil
}
