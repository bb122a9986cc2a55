package store

import (
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// Migration is one step of the schema.
type Migration struct {
	Version   int        `json:"version"`
	Name      string     `json:"name"`
	Checksum  string     `json:"checksum"`             // sha256 of the step's text.
	AppliedAt *time.Time `json:"applied_at,omitempty"` // Nil if it is not applied.

	up, down   string
	online     bool // Its statements commit one by one; see applyOnline.
	compatible int  // The least version that a binary must know to work with the schema after this step.
}

// SchemaError is a mismatch between a database's schema and this binary.
type SchemaError struct {
	Have int // Version of the database; zero when it was never migrated.
	Want int // Version this binary needs.
	// Needs is the least version that a binary must know to work with the
	// database; zero where that is not the problem.
	Needs int
}

// Error implements the error interface.
func (e *SchemaError) Error() string {
	if e.Needs > e.Want {
		return fmt.Sprintf("the database is at schema version %d, which works with binaries that know version %d or later; "+
			"this one knows %d: use a newer binary", e.Have, e.Needs, e.Want)
	}
	if e.Have > e.Want {
		return fmt.Sprintf("the database is at schema version %d, newer than the %d this binary knows: use a newer binary",
			e.Have, e.Want)
	}
	return fmt.Sprintf(
		"the database is at schema version %d, this binary needs %d: run the migrations first, with toolcrib migrate",
		e.Have, e.Want,
	)
}

func schemaFailure(op string, have, want int) error {
	return schemaMisfit(op, &SchemaError{Have: have, Want: want})
}

func schemaMisfit(op string, cause *SchemaError) error {
	return &tool.Error{Kind: tool.Conflict, Op: op, Msg: cause.Error(), Err: cause}
}

var migrationName = regexp.MustCompile(`^(\d{3})_([a-z_]+)\.up\.sql$`)

// Migrations returns the steps this binary knows, in order.
func Migrations() ([]Migration, error) {
	files, err := fs.Glob(migrationFiles, "migrations/*.up.sql")
	if err != nil {
		return nil, fmt.Errorf("listing migrations: %w", err)
	}
	steps := make([]Migration, 0, len(files))
	for _, file := range files {
		parts := migrationName.FindStringSubmatch(file[len("migrations/"):])
		if parts == nil {
			return nil, fmt.Errorf("migration %q is not named NNN_name.up.sql", file)
		}
		up, err := migrationFiles.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading migration: %w", err)
		}
		down, err := migrationFiles.ReadFile(fmt.Sprintf("migrations/%s_%s.down.sql", parts[1], parts[2]))
		if err != nil {
			return nil, fmt.Errorf("reading migration: %w", err)
		}
		version, err := strconv.Atoi(parts[1])
		if err != nil {
			return nil, fmt.Errorf("reading migration number: %w", err)
		}
		sum := sha256.Sum256(up)
		step := Migration{
			Version: version, Name: parts[2], Checksum: hex.EncodeToString(sum[:]), up: string(up), down: string(down),
		}
		if err := step.parseDirectives(); err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
	slices.SortFunc(steps, func(a, b Migration) int { return cmp.Compare(a.Version, b.Version) })
	for i, step := range steps {
		if step.Version != i+1 {
			return nil, fmt.Errorf("migration %d is missing", i+1)
		}
	}
	return steps, nil
}

// parseDirectives reads the lines of a step that are directives to the migrator:
//
//	-- migrate: online           its statements commit one by one
//	-- migrate: compatible 17    binaries that know version 17 or later work with
//	                             the schema after it; without it, all that worked before
func (m *Migration) parseDirectives() error {
	for line := range strings.Lines(m.up) {
		directive, ok := strings.CutPrefix(strings.TrimSpace(line), "-- migrate:")
		if !ok {
			continue
		}
		word, argument, _ := strings.Cut(strings.TrimSpace(directive), " ")
		switch word {
		case "online":
			m.online = true
		case "compatible":
			version, err := strconv.Atoi(argument)
			if err != nil || version < 1 || version > m.Version {
				return fmt.Errorf("migration %03d_%s: compatible %q is not the number of a step up to it", m.Version, m.Name,
					argument)
			}
			m.compatible = version
		default:
			return fmt.Errorf("migration %03d_%s: unknown directive %q", m.Version, m.Name, word)
		}
	}
	return nil
}
