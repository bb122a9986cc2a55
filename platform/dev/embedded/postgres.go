package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"github.com/toolcrib/toolcrib/platform/dev/programs"
)

// PostgresConfig says where a private cluster lives and listens.
type PostgresConfig struct {
	// Dir is the cluster's folder, made when missing. Required.
	Dir string

	// Port is the preferred port. Defaults to [DefaultPostgresPort]; [AnyPort]
	// asks for a free one.
	Port int

	// Database is made when missing. Defaults to [DefaultDatabase].
	Database string

	// PortFixed makes a taken Port an error, [*PortTakenError].
	PortFixed bool

	// Programs says where PostgreSQL is looked for. Defaults to
	// [programs.Machine].
	Programs *programs.Search

	// Download gets PostgreSQL where none is found. Nil for never.
	Download *programs.Download

	// Throwaway makes a cluster for tests: it does not wait for the disk, and
	// Stop removes it.
	Throwaway bool

	// Logger takes log messages. Defaults to discarding them.
	Logger *slog.Logger
}

// Postgres is a private PostgreSQL cluster that runs beside this process and
// ends with it. Its methods may be called concurrently.
type Postgres struct {
	cfg    PostgresConfig
	home   clusterHome
	lock   *folderLock
	server *child
	port   int
	url    string
	stop   sync.Once
	err    error
}

// StartPostgres starts the cluster in cfg.Dir, making it first if need be, and
// returns when it accepts connections. It fails with a [*programs.MissingError]
// where no server is installed, with a [*LockedError] if another process uses
// the folder, and with a [*VersionMismatchError] if none of the installed
// servers can read it. ctx limits the start only.
func StartPostgres(ctx context.Context, cfg PostgresConfig) (*Postgres, error) {
	if cfg.Dir == "" {
		return nil, errors.New("starting PostgreSQL: no folder is given")
	}
	dir, err := filepath.Abs(cfg.Dir)
	if err != nil {
		return nil, fmt.Errorf("locating the cluster: %w", err)
	}
	cfg.Dir = dir
	cfg.Port = preferredPort(cfg.Port, DefaultPostgresPort, false)
	if cfg.Programs == nil {
		machine := programs.Machine()
		cfg.Programs = &machine
	}
	if cfg.Database == "" {
		cfg.Database = DefaultDatabase
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	p := &Postgres{cfg: cfg}
	if err := p.start(ctx); err != nil {
		return nil, errors.Join(err, p.abandon())
	}
	return p, nil
}

func (p *Postgres) start(ctx context.Context) error {
	// Before anything is made: without a server there is no use for a folder.
	found, err := p.findPrograms(ctx)
	if err != nil {
		return err
	}
	as, err := unprivilegedAccount()
	if err != nil {
		return err
	}
	if p.home, err = openHome(ctx, p.cfg.Dir, as, p.cfg.Logger); err != nil {
		return err
	}
	if p.lock, err = lockRoot(p.home.root); err != nil {
		return err
	}
	major, err := p.home.major()
	if err != nil {
		return err
	}
	bin, err := fitting(found, major)
	if err != nil {
		return p.named(err)
	}
	if major == 0 {
		if err := p.home.initialize(ctx, bin); err != nil {
			return err
		}
	} else if err := p.home.stopOrphan(ctx, p.cfg.Logger); err != nil {
		return err
	}
	return p.serve(ctx, bin)
}

// named puts the cluster's folder into an error that came without it.
func (p *Postgres) named(err error) error {
	if mismatch, ok := errors.AsType[*VersionMismatchError](err); ok {
		mismatch.Dir = p.cfg.Dir
	}
	return err
}

// abandon undoes a start that failed.
func (p *Postgres) abandon() error {
	if p.server != nil {
		p.server.signal(syscall.SIGQUIT)
		<-p.server.done
	}
	var released error
	if p.lock != nil {
		released = p.lock.release()
	}
	return errors.Join(released, p.home.close())
}

// URL returns the address of the database, with the superuser and its password.
func (p *Postgres) URL() string { return p.url }

// Port returns the port the cluster listens on.
func (p *Postgres) Port() int { return p.port }

// Done returns a channel that is closed when the server has ended, for any
// reason.
func (p *Postgres) Done() <-chan struct{} { return p.server.done }

// stopGrace is how long a server gets to stop in order unless the caller's
// context is shorter.
const stopGrace = 10 * time.Second

// Stop stops the cluster: in order, and if that takes longer than ctx allows,
// at once, which the next start recovers from. Only the first call does
// anything; the others return its outcome.
func (p *Postgres) Stop(ctx context.Context) error {
	p.stop.Do(func() {
		stopped := p.stopServer(ctx)
		var removed error
		if p.cfg.Throwaway {
			removed = p.home.remove(p.cfg.Dir)
		}
		p.err = errors.Join(stopped, removed, p.lock.release(), p.home.close())
	})
	return p.err
}

func (p *Postgres) stopServer(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stopGrace)
	defer cancel()
	if !p.cfg.Throwaway {
		p.server.signal(syscall.SIGINT)
		select {
		case <-p.server.done:
			return nil
		case <-ctx.Done():
			p.cfg.Logger.WarnContext(ctx, "PostgreSQL takes too long to stop and is shut down at once")
		}
	}
	p.server.signal(syscall.SIGQUIT)
	select {
	case <-p.server.done:
		return nil
	case <-time.After(stopGrace / 2):
		p.server.signal(syscall.SIGKILL)
		<-p.server.done
		return errors.New("stopping PostgreSQL: it had to be killed")
	}
}

func (p *Postgres) databaseURL(database, password string) string {
	return (&url.URL{
		Scheme:   "postgres",
		User:     url.UserPassword(superuser, password),
		Host:     address(p.port),
		Path:     "/" + database,
		RawQuery: "sslmode=disable",
	}).String()
}
