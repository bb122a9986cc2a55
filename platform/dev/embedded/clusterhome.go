package embedded

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
)

// outsideHomes is where a cluster goes when the account that must run it
// cannot reach the data folder, as below /root.
const outsideHomes = "/var/lib/toolcrib"

// Files in the folder of a cluster, besides its lock.
const (
	dataFolder       = "data"                         // The cluster itself, the account's.
	partialFolder    = dataFolder + ".partial"        // A cluster that is being made.
	passwordFile     = "password"                     // The superuser's, for our eyes only.
	lentPasswordFile = passwordFile + ".initdb"       // The account's copy while it makes the cluster.
	logFile          = "server.log"                   // What the server said since its last start.
	versionFile      = dataFolder + "/PG_VERSION"     // The release that made the cluster.
	markFile         = dataFolder + "/postmaster.pid" // The server that runs it.
)

// clusterHome is the folder of one PostgreSQL cluster. The folder is owned by
// this process's user, and only the cluster in it by the account that runs
// PostgreSQL, so that code that runs as that account cannot replace a file that
// we open. The root keeps us from following links out of the folder all the
// same: data belongs to the account, and so does the whole folder where an
// earlier build made it.
type clusterHome struct {
	dir  string
	root *os.Root
	as   *account
}

func (h clusterHome) path(name string) string { return filepath.Join(h.dir, name) }

// openHome makes dir ready for a cluster. If the account cannot reach dir, the
// cluster lives in a folder elsewhere and dir is a link to it. The home must be
// closed.
func openHome(ctx context.Context, dir string, as *account, logger *slog.Logger) (clusterHome, error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil { //nolint:gosec // The account must pass through.
		return clusterHome{}, fmt.Errorf("making the data folder: %w", err)
	}
	if _, err := os.Lstat(dir); os.IsNotExist(err) {
		if err := makeHome(ctx, dir, as, logger); err != nil {
			return clusterHome{}, err
		}
	}
	resolved, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return clusterHome{}, fmt.Errorf("following %s to its cluster: %w", dir, err)
	}
	if !as.reaches(resolved) {
		return clusterHome{}, fmt.Errorf("user %s, who must run PostgreSQL because we are root, cannot reach %s", as.name,
			resolved)
	}
	root, err := os.OpenRoot(resolved)
	if err != nil {
		return clusterHome{}, fmt.Errorf("opening the cluster's folder: %w", err)
	}
	return clusterHome{dir: resolved, root: root, as: as}, nil
}

func makeHome(ctx context.Context, dir string, as *account, logger *slog.Logger) error {
	if as.reaches(filepath.Dir(dir)) {
		return makePrivate(dir, as)
	}
	if err := os.MkdirAll(outsideHomes, 0o755); err != nil { //nolint:gosec // The account must pass through.
		return fmt.Errorf("making a folder for clusters: %w", err)
	}
	outside := filepath.Join(outsideHomes, "cluster-"+rand.Text()[:12])
	if err := makePrivate(outside, as); err != nil {
		return err
	}
	if err := os.Symlink(outside, dir); err != nil {
		return fmt.Errorf("linking the cluster into the data folder: %w", err)
	}
	logger.InfoContext(ctx, "the cluster lives outside the data folder, which its user cannot reach",
		slog.String("user", as.name), slog.String("cluster", outside))
	return nil
}

// makePrivate makes a folder of ours that the account may only pass through.
func makePrivate(dir string, as *account) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("making a folder for the cluster: %w", err)
	}
	if as == nil {
		return nil
	}
	made, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return fmt.Errorf("opening the folder for the cluster: %w", err)
	}
	defer made.Close()
	if err := made.Chmod(0o711); err != nil {
		return fmt.Errorf("letting %s through %s: %w", as.name, dir, err)
	}
	return nil
}

// close gives up the home. It may be one that was never opened.
func (h clusterHome) close() error {
	if h.root == nil {
		return nil
	}
	return h.root.Close()
}

// remove deletes the cluster, and the link to it if there is one.
func (h clusterHome) remove(link string) error {
	if err := os.RemoveAll(h.dir); err != nil {
		return fmt.Errorf("removing the cluster: %w", err)
	}
	if err := os.RemoveAll(link); err != nil {
		return fmt.Errorf("removing the link to the cluster: %w", err)
	}
	return nil
}
