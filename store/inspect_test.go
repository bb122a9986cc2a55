package store_test

import (
	"net"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

func TestInspect(t *testing.T) {
	t.Parallel()

	steps, err := store.Migrations()
	require.NoError(t, err)
	empty := storetest.NewEmpty(t)
	got, err := store.Inspect(t.Context(), empty)
	require.NoError(t, err)
	require.Zero(t, got.Schema)
	require.Len(t, steps, got.Want)
	require.GreaterOrEqual(t, got.Major, store.MinServerMajor)
	require.Contains(t, got.Danger, "is a superuser")
	require.Less(t, got.Ahead.Abs(), time.Minute, "one machine has one clock")
	_, err = store.MigrationStatus(t.Context(), empty)
	require.NoError(t, err)
	require.Empty(
		t,
		texts(
			t, storetest.Connect(t, empty), "select relname::text from pg_class where relnamespace = 'public'::regnamespace",
		),
		"looking changes nothing",
	)

	d := storetest.NewDatabase(t)
	login := "inspected_" + storetest.NewID(t)[24:]
	_, err = d.Conn(t).Exec(t.Context(), "create role "+login+" login password '"+loginPassword+"' in role "+store.AppRole)
	require.NoError(t, err)
	t.Cleanup(func() { dropRole(t, login) })
	got, err = store.Inspect(t.Context(), as(t, d.URL, login))
	require.NoError(t, err)
	require.Empty(t, got.Danger)
	require.Equal(t, login, got.Role)
	require.Equal(t, len(steps), got.Schema)
}

// Whoever gives a URL that leads nowhere is told where it leads, why nobody is
// let in, and what to do, but never the password.
func TestUnreachableDatabases(t *testing.T) {
	t.Parallel()

	good, err := url.Parse(storetest.NewEmpty(t))
	require.NoError(t, err)
	password, _ := good.User.Password()
	other := func(change func(u *url.URL)) string {
		u := *good
		change(&u)
		return u.String()
	}
	silent, err := net.Listen("tcp4", "127.0.0.1:0") // Takes connections and never speaks.
	require.NoError(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	for name, tt := range map[string]struct {
		url  string
		kind tool.Kind
		says []string
	}{
		"refused": {
			other(func(u *url.URL) { u.Host = "127.0.0.1:1" }), tool.Unavailable,
			[]string{"no server accepts connections at 127.0.0.1:1", "start the server"},
		},
		"no such host": {
			other(func(u *url.URL) { u.Host = "nowhere..invalid:5432" }), tool.Unavailable,
			[]string{`host "nowhere..invalid" is unknown`, "correct it in the URL"},
		},
		"silent": {
			other(func(u *url.URL) { u.Host = silent.Addr().String(); u.RawQuery = "sslmode=disable&connect_timeout=1" }),
			tool.Unavailable,
			[]string{"did not answer in time", silent.Addr().String()},
		},
		"wrong password": {
			other(func(u *url.URL) { u.User = url.UserPassword(good.User.Username(), "wrong-"+password) }), tool.Denied,
			[]string{`refuses the password of "` + good.User.Username() + `"`, "correct it"},
		},
		"no such database": {
			other(func(u *url.URL) { u.Path = "/nothing_of_the_sort" }), tool.NotFound,
			[]string{`the database "nothing_of_the_sort" does not exist`, "CREATE DATABASE"},
		},
		"TLS where there is none": {
			other(func(u *url.URL) { u.RawQuery = "sslmode=require" }), tool.Unavailable,
			[]string{"has no TLS, which the URL requires", "sslmode=disable"},
		},
		"malformed": {"postgres://%zz", tool.Invalid, []string{"malformed"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for _, try := range []func() error{
				func() error { _, err := store.Inspect(t.Context(), tt.url); return err },
				func() error { _, err := store.Migrate(t.Context(), tt.url); return err },
				func() error {
					_, err := store.Open(t.Context(), tt.url, store.Options{MaxConns: 1})
					return err
				},
			} {
				err := try()
				storetest.RequireKind(t, tt.kind, err)
				for _, says := range tt.says {
					require.Contains(t, tool.AsError(err).Msg, says)
				}
				require.NotContains(t, tool.AsError(err).Msg, password)
			}
		})
	}
}
