package embedded

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/toolcrib/toolcrib/platform/dev/programs"
)

// startTimeout is how long a server may take to accept connections, recovery
// from a crash included.
const startTimeout = 60 * time.Second

// serve starts the server and waits until it accepts connections. What may
// pass by itself is tried again: a port taken in between, or the last
// processes of a server that was killed.
func (p *Postgres) serve(ctx context.Context, bin programs.Installation) error {
	password, err := p.home.readPassword()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	wanted := wish{service: "PostgreSQL", port: p.cfg.Port, fixed: p.cfg.PortFixed}
	for {
		if p.port, err = wanted.choose(ctx); err != nil {
			return err
		}
		if p.server, err = p.launch(ctx, bin); err != nil {
			return err
		}
		conn, err := p.connect(ctx, p.databaseURL(superuser, password))
		if err == nil {
			wanted.tell(ctx, p.cfg.Logger, p.port)
			p.url = p.databaseURL(p.cfg.Database, password)
			return p.ensureDatabase(ctx, conn)
		}
		said := p.home.lastLog()
		if !passesByItself(said) {
			return &StartError{Service: "PostgreSQL", Log: said, Err: err}
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			return &StartError{Service: "PostgreSQL", Log: said, Err: context.Cause(ctx)}
		}
	}
}

func (p *Postgres) launch(ctx context.Context, bin programs.Installation) (*child, error) {
	log, err := p.home.create(logFile, os.O_APPEND)
	if err != nil {
		return nil, fmt.Errorf("opening the server's log: %w", err)
	}
	defer log.Close() // The child has its own.
	// The server outlives ctx, which is about starting it.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), bin.Path("postgres"), //nolint:gosec // A program we found, arguments of ours.
		p.arguments()...)
	death := syscall.SIGINT
	if p.cfg.Throwaway {
		death = syscall.SIGQUIT
	}
	p.home.prepare(cmd, death)
	cmd.Stdout, cmd.Stderr = log, log
	return startChild(cmd)
}

func (p *Postgres) arguments() []string {
	settings := []string{
		"listen_addresses=" + loopback,
		"port=" + strconv.Itoa(p.port),
		"unix_socket_directories=", // Loopback is enough, and socket paths are too short for deep folders.
		"max_connections=100",
		"shared_buffers=64MB",
		"max_wal_size=512MB",
		"jit=off", // Short queries only lose by it.
		"timezone=UTC",
		"log_timezone=UTC",
	}
	if p.cfg.Throwaway {
		settings = append(settings, "fsync=off", "synchronous_commit=off", "full_page_writes=off")
	}
	args := []string{"-D", p.home.path(dataFolder)}
	for _, setting := range settings {
		args = append(args, "-c", setting)
	}
	return args
}

// connect returns the first connection that succeeds, or an error when the
// server or ctx has ended. It waits until the server itself has reported that
// it is ready: until then the process that answers on the port may be another
// one that took it first.
func (p *Postgres) connect(ctx context.Context, address string) (*pgx.Conn, error) {
	for {
		mark, err := p.home.mark()
		if err != nil {
			return nil, err
		}
		if mark.ready && mark.pid == p.server.cmd.Process.Pid {
			conn, err := pgx.Connect(ctx, address)
			if err == nil {
				return conn, nil
			}
			if refused, ok := errors.AsType[*pgconn.PgError](err); ok && refused.Code != "57P03" { // cannot_connect_now
				return nil, fmt.Errorf("connecting to the server: %w", err)
			}
		}
		select {
		case <-p.server.done:
			return nil, fmt.Errorf("the server ended: %w", cmp.Or(p.server.err, errEndedCleanly))
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for the server: %w", context.Cause(ctx))
		case <-time.After(10 * time.Millisecond):
		}
	}
}

var errEndedCleanly = errors.New("without an error")

// ensureDatabase makes the database unless it is there, and closes conn.
func (p *Postgres) ensureDatabase(ctx context.Context, conn *pgx.Conn) (err error) {
	defer func() { err = errors.Join(err, conn.Close(ctx)) }()
	var there bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)",
		p.cfg.Database).Scan(&there); err != nil {
		return fmt.Errorf("looking for the database: %w", err)
	}
	if there {
		return nil
	}
	if _, err := conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{p.cfg.Database}.Sanitize()); err != nil {
		return fmt.Errorf("making the database: %w", err)
	}
	return nil
}

// passesByItself reports whether a server that said this may start in a moment.
func passesByItself(said string) bool {
	return strings.Contains(said, "could not bind") ||
		strings.Contains(said, "is another postmaster already running on port") ||
		strings.Contains(said, "pre-existing shared memory block")
}

// lastLog returns the end of the server's log.
func (h clusterHome) lastLog() string {
	const most = 4 << 10
	file, size, err := h.open(logFile)
	if err != nil {
		return ""
	}
	defer file.Close()
	raw, err := io.ReadAll(io.NewSectionReader(file, max(0, size-most), most))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(raw))
}
