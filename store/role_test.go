package store_test

import (
	"context"
	"net/url"
	"os"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// A server as a role that row level security does not bind would isolate
// nobody: it does not start.
func TestOpenRefusesPrivilege(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	role := func(attributes string, grants ...string) string {
		name := "login_" + storetest.NewID(t)[24:]
		conn := d.Conn(t)
		_, err := conn.Exec(t.Context(), "create role "+name+" "+attributes+" password '"+loginPassword+"'")
		require.NoError(t, err)
		t.Cleanup(func() { dropRole(t, name) })
		for _, grant := range grants {
			_, err = conn.Exec(t.Context(), "grant "+grant+" to "+name)
			require.NoError(t, err)
		}
		return name
	}
	login := func(attributes string, grants ...string) string {
		return as(t, d.URL, role("login "+attributes, grants...))
	}
	// acting begins its sessions as another role, and may go back.
	acting := func(address, role string) string {
		u, err := url.Parse(address)
		require.NoError(t, err)
		query := u.Query()
		query.Set("role", role)
		u.RawQuery = query.Encode()
		return u.String()
	}
	group := role("noinherit", store.OwnerRole)
	for name, tt := range map[string]struct {
		url  string
		opts store.Options
		want string // What the refusal says; empty when it opens.
	}{
		"superuser":               {url: d.URL, want: "superuser"},
		"superuser set to app":    {url: d.URL, opts: store.Options{SetRole: store.AppRole}},
		"superuser acting as app": {url: acting(d.URL, store.AppRole), want: "superuser"},
		"superuser allowed":       {url: d.URL, opts: store.Options{AllowPrivileged: true}},
		"bypassing":               {url: login("bypassrls", store.AppRole), want: "bypasses row level security"},
		"creating roles":          {url: login("createrole", store.AppRole), want: "may create roles"},
		"owner":                   {url: login("", store.OwnerRole), want: "owner of the tables"},
		"may become owner":        {url: login("noinherit", store.AppRole, store.OwnerRole), want: "owner of the tables"},
		"may become one who may": {
			url: login("noinherit", store.AppRole, group), want: store.OwnerRole + ", which is the owner",
		},
		"owner acting as app": {
			url: acting(login("noinherit", store.AppRole, group), store.AppRole), want: "owner of the tables",
		},
		"maintenance":          {url: login("", store.AppRole, store.MaintenanceRole), want: "across tenants"},
		"may become superuser": {url: login("noinherit", store.AppRole, role("superuser")), want: "superuser"},
		"may become bypassing": {
			url: login("noinherit", store.AppRole, role("bypassrls")), want: "bypasses row level security",
		},
		"may become creating roles": {url: login("noinherit", store.AppRole, role("createrole")), want: "may create roles"},
		"allowed to become":         {url: login("", store.AppRole, group), opts: store.Options{AllowPrivileged: true}},
		"set to owner":              {url: d.URL, opts: store.Options{SetRole: store.OwnerRole}, want: "owner of the tables"},
		"set to app": {
			url: login("noinherit", store.AppRole, group), opts: store.Options{SetRole: store.AppRole},
		},
		"app":            {url: login("", store.AppRole)},
		"app by a group": {url: login("", role("", store.AppRole))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := store.Open(t.Context(), tt.url, tt.opts)
			if tt.want == "" {
				require.NoError(t, err)
				s.Close()
				return
			}
			storetest.RequireKind(t, tool.Denied, err)
			require.Contains(t, tool.AsError(err).Msg, tt.want)
			require.Contains(t, tool.AsError(err).Msg, store.AppRole, "it says what to do")
		})
	}
}

func TestOpenSaysWhatIsWrong(t *testing.T) {
	t.Parallel()

	_, err := store.Open(t.Context(), "postgres://user:hunter2@127.0.0.1:1/x?sslmode=disable", store.Options{})
	storetest.RequireKind(t, tool.Unavailable, err)
	require.NotContains(t, err.Error(), "hunter2")
	_, err = store.Open(t.Context(), "postgres://user:hunter2@host:not-a-port/x", store.Options{})
	storetest.RequireKind(t, tool.Invalid, err)
	require.NotContains(t, err.Error(), "hunter2")
	_, err = store.Migrate(t.Context(), "nonsense")
	require.Error(t, err)
}

func TestOpenTakesItsRole(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	_, err := store.Open(t.Context(), d.URL, store.Options{SetRole: "no_such_role"})
	storetest.RequireKind(t, tool.Conflict, err)
	require.Contains(t, tool.AsError(err).Msg, "run the migrations")
	login := "login_" + storetest.NewID(t)[24:]
	_, err = d.Conn(t).Exec(t.Context(), "create role "+login+" login password '"+loginPassword+"'")
	require.NoError(t, err)
	t.Cleanup(func() { dropRole(t, login) })
	_, err = store.Open(t.Context(), as(t, d.URL, login), store.Options{SetRole: store.AppRole})
	storetest.RequireKind(t, tool.Denied, err)
	_, err = store.OpenPlatform(t.Context(), as(t, d.URL, login), store.Options{})
	storetest.RequireKind(t, tool.Denied, err)
}

// disown revokes what a login was granted in a database, so that it can be dropped.
func disown(t *testing.T, address, login string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	conn, err := pgx.Connect(ctx, address)
	require.NoError(t, err)
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, "drop owned by "+login+" cascade")
	require.NoError(t, err)
}

// dropRole drops a login of the cluster, where the test's database is gone or
// holds nothing of it.
func dropRole(t *testing.T, role string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	conn, err := pgx.Connect(ctx, os.Getenv(storetest.URLVariable))
	require.NoError(t, err)
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, "drop role if exists "+role); err != nil {
		t.Logf("leaving role %s behind: %v", role, err)
	}
}
