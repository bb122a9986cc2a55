package cli

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolcrib/toolcrib/platform/client"
)

// Environment variables that commands read.
const (
	ServerVariable   = "TOOLCRIB_SERVER"       // URL of the server.
	KeyVariable      = "TOOLCRIB_KEY"          // API key.
	DataVariable     = "TOOLCRIB_DATA"         // Data folder of toolcrib dev.
	DatabaseVariable = "TOOLCRIB_DATABASE_URL" // Database of serve, worker, migrate and tenant.
	ListenVariable   = "TOOLCRIB_LISTEN"       // Address that serve listens on.
	QueueVariable    = "TOOLCRIB_TASK_QUEUE"   // Task queue of serve and worker.
)

const (
	defaultServer = "http://127.0.0.1:8080"
	dataFolder    = ".toolcrib"
)

// connect returns a client of the server the user means.
func (a *app) connect() (*client.Client, error) {
	return client.New(client.Config{
		Server: cmp.Or(a.flags.server, a.env.Getenv(ServerVariable), a.devFile("server"), defaultServer),
		Key:    a.key(), UserAgent: "toolcrib/" + cmp.Or(a.env.Version, "dev"),
	})
}

func (a *app) key() string {
	return cmp.Or(a.flags.key, a.env.Getenv(KeyVariable), a.devFile("key"))
}

// devFile returns the line in a file that toolcrib dev keeps in its data folder.
func (a *app) devFile(name string) string {
	for _, dir := range a.dataFolders() {
		raw, err := os.ReadFile(filepath.Join(dir, name)) //nolint:gosec // Its user names the folder.
		if err == nil {
			return strings.TrimSpace(string(raw))
		}
	}
	return ""
}

// dataFolders lists where the data folder may be: where the user says, or here
// and in the folders above.
func (a *app) dataFolders() []string {
	if named := cmp.Or(a.flags.data, a.env.Getenv(DataVariable)); named != "" {
		return []string{named}
	}
	dir, err := filepath.Abs(a.env.Dir)
	if err != nil {
		return nil
	}
	var folders []string
	for {
		folders = append(folders, filepath.Join(dir, dataFolder))
		parent := filepath.Dir(dir)
		if parent == dir {
			return folders
		}
		dir = parent
	}
}
