package embedded

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"github.com/toolcrib/toolcrib/platform/dev/programs"
)

const superuser = "postgres"

// major returns the PostgreSQL major version that made the cluster, 0 if
// there is none yet.
func (h clusterHome) major() (int, error) {
	raw, err := h.read(versionFile)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("reading the cluster's version: %w", err)
	}
	major, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return 0, fmt.Errorf("reading the cluster's version: %w", err)
	}
	return major, nil
}

// initialize makes the cluster. It is made under another name and renamed when
// complete, so that a start cut short leaves nothing half made.
func (h clusterHome) initialize(ctx context.Context, bin programs.Installation) error {
	if err := h.makePartial(); err != nil {
		return err
	}
	password := rand.Text() + "\n"
	if err := h.write(passwordFile, password, nil); err != nil {
		return err
	}
	// The account gets a copy for as long as it makes the cluster.
	if err := h.write(lentPasswordFile, password, h.as); err != nil {
		return err
	}
	err := h.runInitdb(ctx, bin)
	if err := errors.Join(err, h.root.Remove(lentPasswordFile)); err != nil {
		return err
	}
	if err := h.root.Rename(partialFolder, dataFolder); err != nil {
		return fmt.Errorf("putting the new cluster in place: %w", err)
	}
	return nil
}

// makePartial makes an empty folder of the account for its cluster.
func (h clusterHome) makePartial() error {
	if err := h.root.RemoveAll(partialFolder); err != nil {
		return fmt.Errorf("removing an unfinished cluster: %w", err)
	}
	if err := h.root.Mkdir(partialFolder, 0o700); err != nil {
		return fmt.Errorf("making a folder for the cluster: %w", err)
	}
	folder, err := h.root.OpenFile(partialFolder, os.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return fmt.Errorf("opening the folder for the cluster: %w", err)
	}
	defer folder.Close()
	return h.as.own(folder)
}

func (h clusterHome) runInitdb(ctx context.Context, bin programs.Installation) error {
	args := []string{
		"--pgdata=" + h.path(partialFolder), "--username=" + superuser, "--pwfile=" + h.path(lentPasswordFile),
		"--auth=scram-sha-256", "--encoding=UTF8", "--no-instructions",
	}
	cmd := exec.CommandContext(ctx, bin.Path("initdb"), //nolint:gosec // Programs we found, arguments of ours.
		append(args, localeArguments()...)...)
	h.prepare(cmd, syscall.SIGKILL)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := runChild(cmd); err != nil {
		return &StartError{
			Service: "PostgreSQL", Log: strings.TrimSpace(said.String()), Err: fmt.Errorf("making a cluster: %w", err),
		}
	}
	return nil
}

func (h clusterHome) readPassword() (string, error) {
	raw, err := h.read(passwordFile)
	if err != nil {
		return "", fmt.Errorf("reading the password file: %w", err)
	}
	return strings.TrimSpace(string(raw)), nil
}

// prepare makes cmd run as the cluster's account, from its folder, with
// nothing of our environment but $PATH.
func (h clusterHome) prepare(cmd *exec.Cmd, deathSignal syscall.Signal) {
	cmd.Dir = h.dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	cmd.SysProcAttr = childAttributes(h.as, deathSignal)
}

// localeArguments choose byte order for sorting, which is the same on every
// system, and Unicode for classifying letters.
func localeArguments() []string {
	if runtime.GOOS == "darwin" {
		return []string{"--locale=C", "--lc-ctype=UTF-8"}
	}
	return []string{"--locale=C", "--lc-ctype=C.UTF-8"}
}
