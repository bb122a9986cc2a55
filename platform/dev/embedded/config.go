package embedded

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/toolcrib/toolcrib/platform/dev/programs"
)

// Where the stack is found unless a [Config] says otherwise. The ports are
// preferences: one that is taken is replaced by a free one.
const (
	DefaultDataDir      = ".toolcrib"
	DefaultTemporalPort = 7233
	DefaultUIPort       = 8233
	DefaultPostgresPort = 54320
	DefaultDatabase     = "toolcrib"
	DefaultNamespace    = "default"
)

// AnyPort asks for a free port.
const AnyPort = -1

// DatabaseURLVariable names the environment variable with the PostgreSQL
// server to use instead of a private cluster.
const DatabaseURLVariable = "TOOLCRIB_DATABASE_URL"

// Config says where a stack lives and listens. The zero value is the stack of
// the current directory.
type Config struct {
	// DataDir is the folder that keeps everything, made when missing. One
	// process at a time may use it. Defaults to [DefaultDataDir] below the
	// current directory, and to a temporary folder if Throwaway is set.
	DataDir string

	// DatabaseURL is a PostgreSQL server to use; no private cluster is run
	// then. Defaults to the variable [DatabaseURLVariable].
	DatabaseURL string

	// TemporalPort, UIPort and PostgresPort are the preferred ports. They
	// default to [DefaultTemporalPort], [DefaultUIPort] and
	// [DefaultPostgresPort], and to [AnyPort] if Throwaway is set.
	TemporalPort int
	UIPort       int
	PostgresPort int

	// PortsFixed makes it an error, [*PortTakenError], that a port is taken
	// that was given above. By default another is used, and the log says so.
	PortsFixed bool

	// Programs says where PostgreSQL is looked for. Defaults to
	// [programs.Machine].
	Programs *programs.Search

	// Download gets PostgreSQL where none is found. Nil for never.
	Download *programs.Download

	// Throwaway makes a stack for tests: PostgreSQL does not wait for the disk,
	// Temporal keeps its data in memory, Stop removes the cluster, and the
	// environment is not read.
	Throwaway bool

	// Headless leaves the Temporal UI out.
	Headless bool

	// Logger receives progress and what the services complain of. Defaults to
	// discarding it.
	Logger *slog.Logger

	temporary bool  // DataDir was made for this stack alone.
	fixed     fixed // Which ports are.
}

// fixed says for which services no other port will do.
type fixed struct{ temporal, ui, postgres bool }

func (c Config) withDefaults() (Config, error) {
	if c.DatabaseURL == "" && !c.Throwaway {
		c.DatabaseURL = os.Getenv(DatabaseURLVariable)
	}
	if c.Throwaway && c.DataDir == "" {
		dir, err := os.MkdirTemp("", "toolcrib-")
		if err != nil {
			return c, fmt.Errorf("making a temporary data folder: %w", err)
		}
		if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // The account that runs PostgreSQL must pass through.
			return c, fmt.Errorf("opening the temporary data folder: %w", err)
		}
		c.DataDir, c.temporary = dir, true
	}
	if c.DataDir == "" {
		c.DataDir = DefaultDataDir
	}
	dir, err := filepath.Abs(c.DataDir)
	if err != nil {
		return c, fmt.Errorf("locating the data folder: %w", err)
	}
	c.DataDir = dir
	if c.PortsFixed {
		c.fixed = fixed{temporal: c.TemporalPort > 0, ui: c.UIPort > 0, postgres: c.PostgresPort > 0}
	}
	c.TemporalPort = preferredPort(c.TemporalPort, DefaultTemporalPort, c.Throwaway)
	c.UIPort = preferredPort(c.UIPort, DefaultUIPort, c.Throwaway)
	c.PostgresPort = preferredPort(c.PostgresPort, DefaultPostgresPort, c.Throwaway)
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

func preferredPort(given, usual int, throwaway bool) int {
	switch {
	case given != 0:
		return given
	case throwaway:
		return AnyPort
	default:
		return usual
	}
}
