package embedded

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"go.temporal.io/server/common/config"
	sqliteplugin "go.temporal.io/server/common/persistence/sql/sqlplugin/sqlite"
	sqliteschema "go.temporal.io/server/schema/sqlite"
	"google.golang.org/protobuf/types/known/durationpb"
)

const (
	databaseFile = "temporal.db"

	// schemaFile is written when the database is complete, and says which
	// schema it has: the server cannot migrate a file database.
	schemaFile = "schema"

	// retention is how long the history of a closed workflow is kept.
	retention = 30 * 24 * time.Hour
)

var schemaVersion = sqliteschema.Version + "/" + sqliteschema.VisibilityVersion

// temporalDatabase is a database with its schema and the namespace.
type temporalDatabase struct {
	config *config.SQL
}

// openTemporalDatabase opens the database in dir, or one in memory if dir is
// empty, and creates what is missing.
func openTemporalDatabase(dir, namespace string) (*temporalDatabase, error) {
	if dir == "" {
		db := &temporalDatabase{config: &config.SQL{
			PluginName:        sqliteplugin.PluginName,
			DatabaseName:      rand.Text(),
			ConnectAttributes: map[string]string{"mode": "memory", "cache": "shared"},
		}}
		return db, db.createNamespace(namespace) // In memory, opening makes the schema.
	}
	db := &temporalDatabase{config: &config.SQL{
		PluginName: sqliteplugin.PluginName,
		// A URI, so that any name of a folder will do.
		DatabaseName: (&url.URL{Path: filepath.Join(dir, databaseFile)}).EscapedPath(),
		ConnectAttributes: map[string]string{
			"mode": "rwc",
			// A killed process loses nothing; a machine without power at most
			// the last moments.
			"journal_mode": "wal",
			"synchronous":  "normal",
		},
	}}
	have, err := readSchemaVersion(dir)
	if err != nil {
		return nil, err
	}
	if have == "" {
		if err := db.create(dir); err != nil {
			return nil, err
		}
	} else if have != schemaVersion {
		return nil, &VersionMismatchError{
			Service: "Temporal", Dir: dir, Have: "schema " + have, Want: "schema " + schemaVersion,
		}
	}
	return db, db.createNamespace(namespace)
}

func readSchemaVersion(dir string) (string, error) {
	raw, err := os.ReadFile(filepath.Join(dir, schemaFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("reading the schema's version: %w", err)
	}
	return strings.TrimSpace(string(raw)), nil
}

// create creates the database anew: an existing one was never completed.
func (db *temporalDatabase) create(dir string) error {
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(filepath.Join(dir, databaseFile+suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("removing an unfinished database: %w", err)
		}
	}
	if err := sqliteschema.SetupSchema(db.config); err != nil {
		return fmt.Errorf("making Temporal's schema: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, schemaFile), []byte(schemaVersion+"\n"), 0o600); err != nil {
		return fmt.Errorf("writing the schema's version: %w", err)
	}
	return nil
}

// createNamespace makes the namespace unless it is there. It writes to the
// database, which is faster than asking a server and waiting for its caches.
func (db *temporalDatabase) createNamespace(name string) error {
	namespace, err := sqliteschema.NewNamespaceConfig(clusterName, name, false, searchAttributes)
	if err != nil {
		return fmt.Errorf("describing the namespace: %w", err)
	}
	namespace.Detail.Config.Retention = durationpb.New(retention)
	if err := sqliteschema.CreateNamespaces(db.config, namespace); err != nil {
		return fmt.Errorf("making the namespace: %w", err)
	}
	return nil
}
