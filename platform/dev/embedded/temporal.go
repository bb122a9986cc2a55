package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"go.temporal.io/server/temporal"
)

// TemporalConfig says where a Temporal server lives and listens.
type TemporalConfig struct {
	// Dir is the folder of its database, made when missing. Without it the
	// server keeps everything in memory.
	Dir string

	// Port and UIPort are the preferred ports. They default to
	// [DefaultTemporalPort] and [DefaultUIPort]; [AnyPort] asks for a free one.
	Port   int
	UIPort int

	// PortFixed and UIPortFixed make a taken port an error, [*PortTakenError].
	PortFixed   bool
	UIPortFixed bool

	// Headless leaves the UI out.
	Headless bool

	// Namespace is made when missing, with the search attributes of Toolcrib.
	// Defaults to [DefaultNamespace].
	Namespace string

	// Logger receives warnings and errors. Defaults to discarding them.
	Logger *slog.Logger
}

// Temporal is a Temporal server, all its services in this process, and its UI.
// Its methods may be called concurrently.
type Temporal struct {
	cfg    TemporalConfig
	lock   *folderLock // Nil when in memory.
	log    *serverLogger
	server temporal.Server
	ui     *webUI // Nil when headless.
	port   int
	ports  func(ctx context.Context, wanted wish) (temporalPorts, error)
	stop   sync.Once
	err    error
}

// StartTemporal starts a server and returns when its namespace accepts
// workflows. A server started on the folder of an earlier one has its
// namespace, histories and running workflows. It fails with a [*LockedError]
// if another process uses the folder, and with a [*VersionMismatchError] if
// another release of Temporal wrote it. ctx limits the start only.
func StartTemporal(ctx context.Context, cfg TemporalConfig) (*Temporal, error) {
	cfg.Port = preferredPort(cfg.Port, DefaultTemporalPort, false)
	cfg.UIPort = preferredPort(cfg.UIPort, DefaultUIPort, false)
	if cfg.Namespace == "" {
		cfg.Namespace = DefaultNamespace
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	t := &Temporal{cfg: cfg, ports: chooseTemporalPorts}
	if err := t.start(ctx); err != nil {
		return nil, errors.Join(err, t.Stop(context.WithoutCancel(ctx)))
	}
	return t, nil
}

func (t *Temporal) start(ctx context.Context) error {
	if t.cfg.Dir != "" {
		if err := t.openFolder(); err != nil {
			return err
		}
	}
	if err := t.startServer(ctx); err != nil {
		return err
	}
	if err := t.ensureNamespace(ctx); err != nil {
		return err
	}
	if t.cfg.Headless {
		return nil
	}
	wanted := wish{service: "Temporal's UI", port: t.cfg.UIPort, fixed: t.cfg.UIPortFixed}
	ui, err := startUI(ctx, wanted, t.Address(), t.cfg.Namespace)
	if err != nil {
		return err
	}
	t.ui = ui
	wanted.tell(ctx, t.cfg.Logger, ui.port)
	return nil
}

func (t *Temporal) openFolder() error {
	dir, err := filepath.Abs(t.cfg.Dir)
	if err != nil {
		return fmt.Errorf("locating Temporal's folder: %w", err)
	}
	t.cfg.Dir = dir
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("making Temporal's folder: %w", err)
	}
	t.lock, err = lockFolder(dir)
	return err
}

// startServer starts the services. They bind their ports themselves, so one
// may be gone by then: others are chosen and it is tried again, on a database
// opened anew, since one in memory went with the server that did not start.
func (t *Temporal) startServer(ctx context.Context) error {
	const tries = 20
	wanted := wish{service: "Temporal", port: t.cfg.Port, fixed: t.cfg.PortFixed}
	for try := 1; ; try++ {
		ports, err := t.ports(ctx, wanted)
		if err != nil {
			return err
		}
		db, err := openTemporalDatabase(t.cfg.Dir, t.cfg.Namespace)
		if err != nil {
			return err
		}
		t.log = newServerLogger(ctx, t.cfg.Logger)
		server, err := runServer(serverConfig(db.config, ports), t.log)
		if err == nil {
			t.server, t.port = server, ports.frontend
			wanted.tell(ctx, t.cfg.Logger, t.port)
			return nil
		}
		if try == tries || ctx.Err() != nil || !strings.Contains(err.Error(), "address already in use") {
			return &StartError{Service: "Temporal", Err: err}
		}
	}
}

// Address returns the host and port that Temporal clients connect to.
func (t *Temporal) Address() string { return address(t.port) }

// Namespace returns the namespace that was made.
func (t *Temporal) Namespace() string { return t.cfg.Namespace }

// UIURL returns the address of the UI, empty when headless.
func (t *Temporal) UIURL() string {
	if t.ui == nil {
		return ""
	}
	return t.ui.url()
}

// Stop stops the server and its UI. It waits no longer than ctx allows; the
// database survives being left. Only the first call does anything; the others
// return its outcome.
func (t *Temporal) Stop(ctx context.Context) error {
	t.stop.Do(func() {
		stopped := make(chan error, 1)
		go func() { stopped <- t.stopServer() }()
		select {
		case t.err = <-stopped:
		case <-ctx.Done():
			t.err = fmt.Errorf("stopping Temporal: %w", context.Cause(ctx))
		}
		if t.lock != nil {
			t.err = errors.Join(t.err, t.lock.release())
		}
	})
	return t.err
}

func (t *Temporal) stopServer() error {
	if t.ui != nil {
		t.ui.stop()
	}
	if t.server == nil {
		return nil
	}
	t.log.hush()
	if err := t.server.Stop(); err != nil {
		return fmt.Errorf("stopping Temporal: %w", err)
	}
	return nil
}
