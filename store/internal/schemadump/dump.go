// Package schemadump writes a database's schema as SQL that people can read and compare.
// It queries the catalog instead of running pg_dump, which may not be installed and whose
// output differs between versions.
package schemadump

import (
	"context"
	_ "embed"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

//go:embed dump.sql
var statements string

const header = `-- The schema that the migrations make, written by
--     go test ./store -run TestSchemaDump -update
-- Monthly partitions are left out: they depend on the day.

`

// Dump returns the first schema of the search path.
func Dump(ctx context.Context, conn *pgx.Conn) (string, error) {
	rows, err := conn.Query(ctx, statements)
	if err != nil {
		return "", fmt.Errorf("reading the catalog: %w", err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return "", fmt.Errorf("reading the catalog: %w", err)
	}
	text := strings.Join(lines, "\n")
	return header + strings.ReplaceAll(text, ",\n)", "\n)") + "\n", nil
}
