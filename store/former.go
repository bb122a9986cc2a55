package store

import (
	"context"
	"embed"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// Before the first release some migrations were edited after databases had applied
// them. A repair adds what such a database lacks, is idempotent, and then records
// the migration's current text.

//go:embed repairs/*.sql
var repairFiles embed.FS

// formerStep is an earlier text of a migration.
type formerStep struct {
	version  int
	checksum string
	repair   string // File in repairs; empty for an empty step.
}

// Two empty texts were placeholders. Where one was applied, the current step of that
// number, if there is one, is applied in its place.
const (
	blankStep      = "6585698a792f494a213463e87e43ed7fbfc612702edd407d8c6cf5f9dcdbde0f"
	otherBlankStep = "da6389d5811b02ae883cd443c6266498f11213932105314246835ed4cf3d07fa"
)

var formerSteps = []formerStep{
	{2, "21ceb69fda37587a21de4ce57b99544a6ccffc5833d0faa38e4caab2fc631664", "002_tools.sql"},
	{4, "d7e69b19869d9fb813ba9d3ec93690ef5e9cc78868e1b12bf1bb925d72cd3552", "004_runs.sql"},
	{4, "da4392a905543cb2ed353346112a68e50a1f4f71fa60bd177690fcf44ab48d9c", "004_runs.sql"},
	{5, "4d0dc975410816d8f5e086332d99a6c14bce8e4b36af58887422ae82b5f71e21", "005_ledger.sql"},
	{5, "669756807bc7539c441ccef4ca67de251b9912168f8e061a8c600c9e798bee13", "005_ledger.sql"},
	{5, "fefb03c06e59e5c0e2d8a7ac034837053236a3b52f5eaefd6658c9be52412a27", "005_ledger.sql"},
	{8, blankStep, ""},
	{9, blankStep, ""},
	{10, blankStep, ""},
	{11, blankStep, ""},
	{12, blankStep, ""},
	{14, otherBlankStep, ""},
	{15, "2c6f5a13ba8136ad6413f5f00c5b01f8737f40887ead94abb68c7b957fbc82f9", "015_retrieval.sql"},
	{15, otherBlankStep, ""},
	{16, otherBlankStep, ""},
	{17, otherBlankStep, ""},
	{19, "e0f169307d40428d024721b077f05ae29c1ce38d0b7bbf1c5c0b304f883d00c7", "019_reconciler.sql"},
	{35, "7bb0844fc8fca467e857a98203968777a09fcd68bdb5d83936554c22e5e26cdb", "035_record_steps.sql"},
}

// formerOf returns the earlier text of an applied step, if it is not the current one.
func formerOf(applied Migration) (formerStep, bool) {
	for _, f := range formerSteps {
		if f.version == applied.Version && f.checksum == applied.Checksum {
			return f, true
		}
	}
	return formerStep{}, false
}

// repair upgrades databases with earlier texts of steps.
func (m *migrator) repair(ctx context.Context) error {
	applied, err := m.applied(ctx)
	if err != nil {
		return err
	}
	steps, err := Migrations()
	if err != nil {
		return err
	}
	for _, a := range applied {
		former, ok := formerOf(a)
		if !ok {
			continue
		}
		if err := m.patiently(ctx, func() error { return m.repairStep(ctx, former, steps) }); err != nil {
			return fmt.Errorf("repairing migration %03d_%s: %w", a.Version, a.Name, err)
		}
	}
	return nil
}

func (m *migrator) repairStep(ctx context.Context, former formerStep, steps []Migration) error {
	return pgx.BeginFunc(ctx, m.conn, func(tx pgx.Tx) error {
		if former.repair == "" {
			_, err := tx.Exec(ctx, "delete from toolcrib_migrations where version = $1", former.version)
			return err
		}
		raw, err := repairFiles.ReadFile("repairs/" + former.repair)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, string(raw)); err != nil {
			return err
		}
		_, err = tx.Exec(ctx, "update toolcrib_migrations set checksum = $2 where version = $1",
			former.version, steps[former.version-1].Checksum)
		return err
	})
}
