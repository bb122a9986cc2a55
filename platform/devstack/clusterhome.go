package devstack

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
)

// outsideHomes is where a cluster goes when the account that must run it
// cannot reach the data folder, as below /root.
const outsideHomes = "/var/lib/toolcrib"

// clusterHome is the folder of one PostgreSQL cluster:
//
//	data/       the cluster itself
//	password    the superuser's, for this machine's eyes only
//	server.log  what the server said since its last start
//	lock        held by the process that runs it
type clusterHome struct {
	dir string
	as  *account
}

func (h clusterHome) data() string     { return filepath.Join(h.dir, "data") }
func (h clusterHome) password() string { return filepath.Join(h.dir, "password") }
func (h clusterHome) log() string      { return filepath.Join(h.dir, "server.log") }

// openHome makes dir ready for a cluster. If the account cannot reach dir, the
// cluster lives in a folder elsewhere and dir is a link to it.
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
		return clusterHome{}, fmt.Errorf("user %s, who must run PostgreSQL because we are root, cannot reach %s", as.name, resolved)
	}
	return clusterHome{dir: resolved, as: as}, nil
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

func makePrivate(dir string, as *account) error {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return fmt.Errorf("making a folder for the cluster: %w", err)
	}
	return as.own(dir)
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
