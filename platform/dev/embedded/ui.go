package embedded

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
	"github.com/temporalio/ui-server/v2/server/api"
	uiconfig "github.com/temporalio/ui-server/v2/server/config"
	"github.com/temporalio/ui-server/v2/server/csrf"
	"github.com/temporalio/ui-server/v2/server/headers"
	"github.com/temporalio/ui-server/v2/server/route"
	"github.com/temporalio/ui-server/v2/ui"
)

// webUI serves Temporal's UI. The routes are mounted here and not by the UI's
// own server, because that one ends the process when its port is taken.
type webUI struct {
	echo *echo.Echo
	port int
	done chan struct{}
}

// startUI serves the UI of the server at temporalAddress, on the wanted port or
// a free one.
func startUI(ctx context.Context, wanted wish, temporalAddress, namespace string) (*webUI, error) {
	e, err := newUI(&uiconfig.Config{
		TemporalGRPCAddress: temporalAddress,
		DefaultNamespace:    namespace,
		EnableUI:            true,
		HideLogs:            true,
		DisableNewsFetch:    true, // Nothing here calls home.
		CORS:                uiconfig.CORS{CookieInsecure: true},
	})
	if err != nil {
		return nil, fmt.Errorf("making the Temporal UI: %w", err)
	}
	if e.Listener, err = wanted.listen(ctx); err != nil {
		return nil, fmt.Errorf("listening for the Temporal UI: %w", err)
	}
	w := &webUI{echo: e, done: make(chan struct{})}
	if w.port, err = portOf(e.Listener); err != nil {
		return nil, errors.Join(err, e.Listener.Close())
	}
	go func() {
		defer close(w.done)
		_ = e.Start("") // It only ends when it is closed.
	}()
	return w, nil
}

func newUI(cfg *uiconfig.Config) (*echo.Echo, error) {
	provider, err := uiconfig.NewConfigProviderWithRefresh(cfg)
	if err != nil {
		return nil, err
	}
	built, err := ui.Assets()
	if err != nil {
		return nil, err
	}
	assets, err := fs.Sub(built, "local")
	if err != nil {
		return nil, err
	}
	e := echo.New()
	e.HideBanner, e.HidePort = true, true
	e.Logger.SetOutput(io.Discard)
	e.Pre(onlyLocalNames)
	// The UI can end workflows: other sites that are open in the browser must
	// not be able to. Without the CORS middleware no other origin may read either.
	e.Use(middleware.Recover(), middleware.Gzip(), middleware.Secure(),
		csrf.EnsureTokenCookie(false), middleware.CSRFWithConfig(csrf.MiddlewareConfig(provider, false)))
	route.SetHealthRoute(e)
	forward := headers.WithForwardHeaders([]string{"Caller-Type"})
	if err := route.SetAPIRoutes(e, provider, []api.Middleware{forward}); err != nil {
		return nil, err
	}
	route.SetAuthRoutes(e, provider)
	route.SetRenderRoute(e, "")
	return e, route.SetUIRoutes(e, "", assets)
}

func (w *webUI) url() string { return "http://" + address(w.port) }

func (w *webUI) stop() {
	_ = w.echo.Close() // Whatever it says, nothing listens any more.
	<-w.done
}
