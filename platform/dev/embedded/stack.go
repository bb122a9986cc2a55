package embedded

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/toolcrib/toolcrib/platform/dev/folder"
)

// Stack is a running PostgreSQL and Temporal. Its methods may be called
// concurrently.
type Stack struct {
	cfg      Config
	lock     *folderLock
	postgres *Postgres // Nil when a server was given.
	temporal *Temporal
	stop     sync.Once
	err      error
}

// Start starts the services of cfg and returns when they answer. They start at
// the same time; if one fails, the other is stopped.
//
// For the sources of the services and for typed errors, see [StartPostgres] and
// [StartTemporal]. ctx limits the start only: a stack runs until it is stopped
// or the process ends.
func Start(ctx context.Context, cfg Config) (*Stack, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, err
	}
	began := time.Now()
	s := &Stack{cfg: cfg}
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(err, s.Stop(context.WithoutCancel(ctx)))
	}
	cfg.Logger.InfoContext(ctx, "the stack is ready",
		slog.String("temporal", s.TemporalAddress()), slog.String("ui", s.UIURL()),
		slog.String("data", cfg.DataDir), slog.Duration("took", time.Since(began)))
	return s, nil
}

func (s *Stack) start(ctx context.Context) error {
	if err := s.openFolder(); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	if s.cfg.DatabaseURL == "" {
		group.Go(func() (err error) {
			s.postgres, err = StartPostgres(ctx, s.postgresConfig())
			return err
		})
	}
	group.Go(func() (err error) {
		s.temporal, err = StartTemporal(ctx, s.temporalConfig())
		return err
	})
	return group.Wait()
}

// openFolder makes the data folder, keeps it out of version control, and takes
// its lock. It fails with a [*folder.Error] for a folder that cannot be used.
func (s *Stack) openFolder() error {
	if _, err := folder.Usable(s.cfg.DataDir); err != nil {
		return err
	}
	if err := s.makeFolder(); err != nil {
		return folder.Explain(s.cfg.DataDir, err)
	}
	return nil
}

func (s *Stack) makeFolder() error {
	if err := os.MkdirAll( //nolint:gosec // The user that runs PostgreSQL must pass through.
		s.cfg.DataDir, 0o755,
	); err != nil {
		return fmt.Errorf("making the data folder: %w", err)
	}
	lock, err := lockFolder(s.cfg.DataDir)
	if err != nil {
		return err
	}
	s.lock = lock
	if err := os.WriteFile(filepath.Join(s.cfg.DataDir, ".gitignore"), []byte("*\n"), 0o600); err != nil {
		return fmt.Errorf("keeping the data folder out of version control: %w", err)
	}
	return nil
}

func (s *Stack) postgresConfig() PostgresConfig {
	return PostgresConfig{
		Dir:       filepath.Join(s.cfg.DataDir, "postgres"),
		Port:      s.cfg.PostgresPort,
		PortFixed: s.cfg.fixed.postgres,
		Programs:  s.cfg.Programs,
		Download:  s.cfg.Download,
		Throwaway: s.cfg.Throwaway,
		Logger:    s.cfg.Logger,
	}
}

func (s *Stack) temporalConfig() TemporalConfig {
	cfg := TemporalConfig{
		Dir:      filepath.Join(s.cfg.DataDir, "temporal"),
		Port:     s.cfg.TemporalPort,
		UIPort:   s.cfg.UIPort,
		Headless: s.cfg.Headless,
		Logger:   s.cfg.Logger,

		PortFixed:   s.cfg.fixed.temporal,
		UIPortFixed: s.cfg.fixed.ui,
	}
	if s.cfg.Throwaway {
		cfg.Dir = ""
	}
	return cfg
}

// DataDir returns the folder that keeps everything.
func (s *Stack) DataDir() string { return s.cfg.DataDir }

// DatabaseURL returns the address of the database: its owner's, with the right
// to make roles, or the one that was given.
func (s *Stack) DatabaseURL() string {
	if s.postgres == nil {
		return s.cfg.DatabaseURL
	}
	return s.postgres.URL()
}

// TemporalAddress returns the host and port that Temporal clients connect to.
func (s *Stack) TemporalAddress() string { return s.temporal.Address() }

// Namespace returns the Temporal namespace.
func (s *Stack) Namespace() string { return s.temporal.Namespace() }

// UIURL returns the address of the Temporal UI, empty when headless.
func (s *Stack) UIURL() string { return s.temporal.UIURL() }

// PostgresDone returns a channel that is closed when the private cluster has
// ended, for any reason. Without a private cluster it is nil.
func (s *Stack) PostgresDone() <-chan struct{} {
	if s.postgres == nil {
		return nil
	}
	return s.postgres.Done()
}

// Stop stops the services and releases the folder. It waits no longer than ctx
// allows; a shutdown that was cut short is recovered by the next start. Only
// the first call does anything; the others return its outcome.
func (s *Stack) Stop(ctx context.Context) error {
	s.stop.Do(func() {
		var errs []error
		if s.temporal != nil {
			errs = append(errs, s.temporal.Stop(ctx))
		}
		if s.postgres != nil {
			errs = append(errs, s.postgres.Stop(ctx))
		}
		if s.lock != nil {
			errs = append(errs, s.lock.release())
		}
		if s.cfg.temporary {
			errs = append(errs, os.RemoveAll(s.cfg.DataDir))
		}
		s.err = errors.Join(errs...)
	})
	return s.err
}
