package operator

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/sdk/client"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/offboard"
	"github.com/toolcrib/toolcrib/platform/serve"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

// tenantCommand has the commands of a tenant that leaves. The group has further commands in package
// commands.
func (a *app) tenantCommand() *cobra.Command {
	return cli.Group("tenant", "Export and erase tenants", a.tenantExportCommand(), a.tenantEraseCommand())
}

// leaveFlags are the flags of exports and erasures.
type leaveFlags struct {
	database, payloads string
	temporal           temporalFlags
	files              fileFlags
}

func (f *leaveFlags) register(cmd *cobra.Command) {
	cli.DatabaseFlag(cmd, &f.database)
	f.temporal.register(cmd)
	f.files.registerObjects(cmd)
}

// open connects to the database as its owner, to the store of objects, and to Temporal if it is asked
// for.
func (a *app) openOffboard(
	ctx context.Context, f *leaveFlags, temporal bool,
) (cfg offboard.Config, closeAll func(), err error) {
	var closers []func()
	closeAll = func() {
		for _, fn := range slices.Backward(closers) {
			fn()
		}
	}
	defer func() {
		if err != nil {
			closeAll()
		}
	}()
	url, err := a.DatabaseURL(f.database)
	if err != nil {
		return cfg, closeAll, err
	}
	cfg.Version = a.Env.Version
	if cfg.Keys, err = a.PayloadKeys(f.payloads); err != nil {
		return cfg, closeAll, err
	}
	if err := f.files.read(a.Env.Getenv); err != nil {
		return cfg, closeAll, err
	}
	cfg.Store, err = store.OpenPlatform(ctx, url, store.Options{
		Logger: a.Logger(), MaxConns: 1,
		Timeouts: store.Timeouts{Operation: time.Minute, Long: time.Hour, Lock: 10 * time.Second},
	})
	if err != nil {
		return cfg, closeAll, err
	}
	closers = append(closers, cfg.Store.Close)
	config, closeFiles, err := f.files.open(ctx, a.Env.Getenv)
	if err != nil {
		return cfg, closeAll, err
	}
	closers = append(closers, closeFiles)
	cfg.Contents = config.Contents
	if !temporal {
		return cfg, closeAll, nil
	}
	opts, err := f.temporal.options(a.Env.Environ, a.Logger())
	if err != nil {
		return cfg, closeAll, err
	}
	cfg.Namespace = cmp.Or(opts.Namespace, client.DefaultNamespace)
	if cfg.Temporal, err = serve.DialTemporal(ctx, opts); err != nil {
		return cfg, closeAll, err
	}
	closers = append(closers, cfg.Temporal.Close)
	return cfg, closeAll, nil
}

func (a *app) tenantExportCommand() *cobra.Command {
	var flags leaveFlags
	var to string
	var histories bool
	cmd := cli.Describe(&cobra.Command{
		Use: "export TENANT", Short: "Write all that a tenant has to files", Args: cli.Operands("tenant"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if to == "" {
				return cli.Usagef("say where the export is written: --to acme-export, a new folder, or --to acme.tar")
			}
			cfg, closeAll, err := a.openOffboard(cmd.Context(), &flags, histories)
			if err != nil {
				return err
			}
			defer closeAll()
			tenant, err := cfg.Store.FindTenant(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			step, done := a.Steps("exporting %s", tenant.Slug)
			cfg.Step = step
			m, err := offboard.Export(cmd.Context(), cfg, tenant.ID, to)
			done()
			if err != nil {
				return err
			}
			return a.Printer.Show(exportShape{to, m}, func(w io.Writer) error { return writeExport(w, to, m) })
		},
	}, `Writes all rows of a tenant as JSON, a file for each table with a row on each line;
its files, programs and documents; its audit log, which "toolcrib audit verify --file"
verifies too; and a manifest with the number of rows and the hash of each file, and
with what is left out and why. Secrets are left out: of credentials there are names and
hosts, of keys there are no hashes. With --histories there are the histories of its
workflows, decoded by the payload keys that are given.

Rows are of one snapshot of the database, which the export keeps open. The URL is that
of the database's owner; where files are in a store of objects, name its bucket.`,
		`  toolcrib tenant export acme --to acme.tar --database-url postgres://owner@db/toolcrib
  toolcrib tenant export acme --to acme-export --histories --payload-keys-file payload-keys
  toolcrib tenant export verify acme.tar`)
	cmd.Flags().StringVar(&to, "to", "", "a new folder, or a new file that ends in .tar")
	cmd.Flags().BoolVar(&histories, "histories", false, "write the histories of the tenant's workflows too")
	cli.PayloadKeysFlag(cmd, &flags.payloads)
	flags.register(cmd)
	cmd.AddCommand(a.tenantExportVerifyCommand())
	return cmd
}

// exportShape is what an export prints as JSON.
type exportShape struct {
	Path string `json:"path"`
	offboard.Manifest
}

func writeExport(w io.Writer, to string, m offboard.Manifest) error {
	var rows, bytes int64
	for _, f := range m.Files {
		rows, bytes = rows+f.Rows, bytes+f.Bytes
	}
	_, err := fmt.Fprintf(w, "exported %s to %s: %d files with %d rows, %d bytes\n", m.Slug, terminal.Clean(to),
		len(m.Files), rows, bytes)
	if err == nil && m.Histories != nil {
		_, err = fmt.Fprintf(w, "histories: %d workflows, %d had not ended, %d not decoded\n", m.Histories.Workflows,
			m.Histories.Open, m.Histories.Undecoded)
	}
	if err == nil {
		_, err = fmt.Fprintf(w, "its manifest lists what is left out: %d; verify it with: toolcrib tenant export verify %s\n",
			len(m.Left), terminal.Clean(to))
	}
	return err
}

// verifyShape is what the verification of an export prints as JSON.
type verifyShape struct {
	Path    string        `json:"path"`
	Tenant  tool.TenantID `json:"tenant_id"`
	TakenAt time.Time     `json:"taken_at"`
	Files   int           `json:"files"`
	Audit   int64         `json:"audit_seq"`
	Faults  []string      `json:"faults"`
}

func (a *app) tenantExportVerifyCommand() *cobra.Command {
	return cli.Describe(&cobra.Command{
		Use: "verify PATH", Short: "Compare an export with its manifest", Args: cli.Operands("path"),
		RunE: func(_ *cobra.Command, args []string) error {
			m, faults, err := offboard.Verify(args[0])
			if err != nil {
				return err
			}
			shape := verifyShape{args[0], m.Tenant, m.TakenAt, len(m.Files), m.Audit.Seq, append([]string{}, faults...)}
			err = a.Printer.Show(shape, func(w io.Writer) error {
				if len(faults) > 0 {
					_, err := fmt.Fprintln(w, terminal.Clean(strings.Join(faults, "\n")))
					return err
				}
				_, err := fmt.Fprintf(w, "%s is whole: %d files of %s, taken at %s; the audit log is whole up to row %d\n",
					terminal.Clean(args[0]), len(m.Files), terminal.Clean(m.Slug), m.TakenAt.Format(time.RFC3339), m.Audit.Seq)
				return err
			})
			if err == nil && len(faults) > 0 {
				return &tool.Error{
					Kind: tool.Conflict, Op: "tenant", Msg: fmt.Sprintf("%s is not as its manifest has it: %s", args[0], faults[0]),
				}
			}
			return err
		},
	}, `Reads a folder or a tar file, and compares the size, the rows and the hash of each file
with the manifest, and the audit log with its chain of hashes. It needs no database.
An export that is not whole ends with exit code 5.`, `  toolcrib tenant export verify acme.tar`)
}

// eraseShape is what an erasure prints as JSON.
type eraseShape struct {
	DryRun  bool           `json:"dry_run"`
	Tenant  tool.TenantID  `json:"tenant_id"`
	Slug    string         `json:"slug"`
	Held    offboard.Held  `json:"held"`              // Of a dry run what would be deleted, else what is left.
	Erasure *store.Erasure `json:"erasure,omitempty"` // The record that stays.
}

func (a *app) tenantEraseCommand() *cobra.Command {
	var flags leaveFlags
	var confirm string
	var verify bool
	var rows store.EraseRows
	cmd := cli.Describe(&cobra.Command{
		Use: "erase TENANT", Short: "Delete a tenant with all that it has", Args: cli.Operands("tenant"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if confirm != "" && (verify || confirm != args[0]) {
				return cli.Usagef("to erase %s, repeat its name: --confirm %s; without it nothing is deleted", args[0], args[0])
			}
			cfg, closeAll, err := a.openOffboard(cmd.Context(), &flags, true)
			if err != nil {
				return err
			}
			defer closeAll()
			cfg.Rows = rows
			return a.erase(cmd.Context(), cfg, args[0], confirm != "", verify)
		},
	}, `Without --confirm it lists what there is of the tenant, and deletes nothing.

With it, the tenant must be suspended ("toolcrib tenant suspend"). Its data keys,
credentials and API keys are destroyed first; then its schedules and workflows in
Temporal, its files in stores of objects, and all rows are deleted, in batches. An
erasure that was interrupted is finished by the same command. One row stays: the
tenant's id and slug, which are not used again, who erased it and when, how much there
was, and the last hash of its audit log. At the end it looks again, as --verify does at
any time: what is left is printed, and ends with exit code 5.

It cannot be undone: export the tenant before. Backups keep what they have.`,
		`  toolcrib tenant erase acme --database-url postgres://owner@db/toolcrib
  toolcrib tenant erase acme --confirm acme
  toolcrib tenant erase acme --verify`)
	cmd.Flags().StringVar(&confirm, "confirm", "", "the tenant again, to delete it")
	cmd.Flags().BoolVar(&verify, "verify", false, "look whether anything is left of an erased tenant")
	cmd.Flags().IntVar(&rows.Batch, "batch", 0, "rows that are deleted in one transaction (default 500)")
	cmd.Flags().DurationVar(&rows.Pause, "pause", 0, "rest between transactions (default none)")
	flags.register(cmd)
	return cmd
}

// findErased returns a tenant, or the record of its erasure.
func findErased(ctx context.Context, platform *store.Platform, name string) (shape eraseShape, err error) {
	found, err := platform.FindTenant(ctx, name)
	shape.Tenant, shape.Slug = found.ID, found.Slug
	e, missing := platform.FindErasure(ctx, name)
	switch {
	case missing == nil && (err != nil || e.Tenant == found.ID):
		shape.Tenant, shape.Slug, shape.Erasure = e.Tenant, e.Slug, &e
		return shape, nil
	case tool.KindOf(missing) != tool.NotFound:
		return shape, missing
	}
	return shape, err
}

func (a *app) erase(ctx context.Context, cfg offboard.Config, name string, confirmed, verify bool) error {
	shape, err := findErased(ctx, cfg.Store, name)
	if err != nil {
		return err
	}
	if verify && shape.Erasure == nil {
		return &tool.Error{
			Kind: tool.Conflict, Op: "tenant", Msg: fmt.Sprintf("%s was not erased: there is nothing to verify", shape.Slug),
		}
	}
	if confirmed {
		step, done := a.Steps("erasing %s", shape.Slug)
		cfg.Step = step
		e, err := offboard.Erase(ctx, cfg, shape.Tenant)
		done()
		if err != nil {
			return err
		}
		shape.Erasure = &e
	}
	shape.DryRun = !confirmed && !verify
	if shape.Held, err = offboard.Look(ctx, cfg, shape.Tenant, shape.Slug); err != nil {
		return err
	}
	if err := a.Printer.Show(shape, func(w io.Writer) error { return writeErase(w, shape) }); err != nil {
		return err
	}
	if !shape.DryRun && !shape.Held.None() {
		return &tool.Error{
			Kind: tool.Conflict, Op: "tenant",
			Msg: fmt.Sprintf("something is left of %[1]s: repeat toolcrib tenant erase %[1]s --confirm %[1]s", name),
		}
	}
	return nil
}

func writeErase(w io.Writer, s eraseShape) error {
	if s.Erasure != nil && s.Held.None() {
		e := s.Erasure
		_, err := fmt.Fprintf(w, "nothing is left of %s (%s): no row, no content, no workflow and no schedule\n"+
			"erased by %s, begun at %s: %d workflows, %d schedules, %d contents, rows of %d tables\n"+
			"its audit log ended at %d:%s\n", e.Slug, e.Tenant, terminal.Clean(e.RequestedBy), e.StartedAt.Format(time.RFC3339),
			e.Workflows, e.Schedules, e.Objects, len(e.Counts), e.AuditSeq, e.AuditHash)
		return err
	}
	var rows [][]string
	for _, r := range s.Held.Rows {
		rows = append(rows, []string{r.Table, strconv.FormatInt(r.Rows, 10)})
	}
	for _, location := range slices.Sorted(maps.Keys(s.Held.Contents)) {
		rows = append(rows, []string{"contents in " + location, strconv.FormatInt(s.Held.Contents[location], 10)})
	}
	rows = append(rows, []string{"workflows", strconv.FormatInt(s.Held.Workflows, 10)},
		[]string{"of these running", strconv.FormatInt(s.Held.Open, 10)},
		[]string{"schedules", strconv.FormatInt(s.Held.Schedules, 10)})
	if err := terminal.Table(w, "WHAT COUNT", rows); err != nil || !s.DryRun {
		return err
	}
	_, err := fmt.Fprintf(w, "\nnothing was deleted; to delete all of it: toolcrib tenant suspend %[1]s, then\n"+
		"toolcrib tenant erase %[1]s --confirm %[1]s\n", s.Slug)
	return err
}
