package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/toolcrib/toolcrib/platform/api"
)

// Limits of connections. The write timeout is above the longest wait of a call.
const (
	headerTimeout  = 10 * time.Second
	readTimeout    = 60 * time.Second
	writeTimeout   = 120 * time.Second
	idleTimeout    = 120 * time.Second
	maxHeaderBytes = 4 * api.MaxHeaderBytes // The API answers headers below this limit with a problem.
	stopTimeout    = 15 * time.Second
)

// HTTP serves a handler on a listener until ctx ends, then drains the running
// requests and ends the streams.
func HTTP(ctx context.Context, listener net.Listener, handler http.Handler, log *slog.Logger) error {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: headerTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHeaderBytes,
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context {
			return api.WithStopping(context.WithoutCancel(ctx), ctx.Done())
		},
	}
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(listener) }()
	select {
	case err := <-failed:
		return fmt.Errorf("serving HTTP: %w", err)
	case <-ctx.Done():
	}
	stopping, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	if err := server.Shutdown(stopping); err != nil {
		return errors.Join(fmt.Errorf("stopping the HTTP server: %w", err), server.Close())
	}
	return nil
}
