package cli

import (
	"cmp"
	"net/netip"
	"net/url"
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

// connect returns a client of the server the user means. What toolcrib dev left
// in a folder that was merely found is used as a pair, so that a key the user
// named never goes to a server that a folder names.
func (a *app) connect() (*client.Client, error) {
	server, key := a.named(a.flags.server, ServerVariable), a.named(a.flags.key, KeyVariable)
	if dev, ok := a.devServer(); ok {
		switch {
		case a.named(a.flags.data, DataVariable) != "":
			server, key = cmp.Or(server, dev.url), cmp.Or(key, dev.key)
		case key == "" && (server == "" || server == dev.url):
			server, key = dev.url, dev.key
		}
	}
	return client.New(client.Config{
		Server: cmp.Or(server, defaultServer), Key: key, UserAgent: "toolcrib/" + cmp.Or(a.env.Version, "dev"),
	})
}

// named returns what the user named by a flag, or else by a variable.
func (a *app) named(flag, variable string) string { return cmp.Or(flag, a.env.Getenv(variable)) }

// hasKey reports whether the user has a key, named or left by toolcrib dev.
func (a *app) hasKey() bool {
	_, dev := a.devServer()
	return dev || a.named(a.flags.key, KeyVariable) != ""
}

// devServer is a server that toolcrib dev runs, as its data folder tells.
type devServer struct{ url, key string }

// devServer returns the server of the nearest data folder that is the user's
// own. A folder that others may write to, or that names a server on another
// machine, was not left there by toolcrib dev.
func (a *app) devServer() (devServer, bool) {
	for _, dir := range a.dataFolders() {
		info, err := os.Stat(dir)
		if err != nil || !info.IsDir() {
			continue
		}
		if !private(info) {
			return devServer{}, false
		}
		d := devServer{url: line(filepath.Join(dir, "server")), key: line(filepath.Join(dir, "key"))}
		return d, d.key != "" && local(d.url)
	}
	return devServer{}, false
}

// line returns what stands in a file, and nothing where there is none.
func line(path string) string {
	raw, err := os.ReadFile(path) //nolint:gosec // Below a folder of the user's own.
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}

// local reports whether a URL names this machine.
func local(raw string) bool {
	u, err := url.Parse(raw)
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return u.Hostname() == "localhost" || err == nil && addr.IsLoopback()
}

// dataFolders lists where the data folder may be: where the user says, or here
// and in the folders above.
func (a *app) dataFolders() []string {
	if named := a.named(a.flags.data, DataVariable); named != "" {
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
