package operator

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/toolcrib/toolcrib/platform/cli"
	"github.com/toolcrib/toolcrib/platform/cli/terminal"
	"github.com/toolcrib/toolcrib/platform/offboard"
	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/tool"
)

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
		return shape, nil //nolint:nilerr // An erased tenant is not found, and its record is.
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
			Kind: tool.Conflict, Op: "tenant", Msg: shape.Slug + " was not erased: there is nothing to verify",
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
