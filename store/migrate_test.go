package store_test

import (
	"errors"
	"net/url"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/store"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

func TestMigrateUpDownUp(t *testing.T) {
	t.Parallel()

	storetest.NewDatabase(t) // Roles are the server's: now it has them, whichever test is the first.
	address := storetest.NewEmpty(t)
	ctx := t.Context()
	steps, err := store.MigrationStatus(ctx, address)
	require.NoError(t, err)
	require.NotEmpty(t, steps)
	for _, step := range steps {
		require.Nil(t, step.AppliedAt)
	}
	_, err = store.Open(ctx, address, store.Options{SetRole: store.AppRole})
	requireSchemaError(t, err, 0, len(steps))

	applied, err := store.Migrate(ctx, address)
	require.NoError(t, err)
	require.Len(t, applied, len(steps))
	first := dump(t, address)
	applied, err = store.Migrate(ctx, address)
	require.NoError(t, err)
	require.Empty(t, applied)

	require.NoError(t, store.MigrateDown(ctx, address, 2))
	s, err := store.Open(ctx, address, store.Options{SetRole: store.AppRole})
	requireSchemaError(t, err, 2, len(steps))
	require.Nil(t, s)
	require.NoError(t, store.MigrateDown(ctx, address, 0))
	left := texts(t, storetest.Connect(t, address), `
		select relname::text from pg_class where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v')
		union all select proname::text from pg_proc where pronamespace = current_schema()::regnamespace`)
	require.Equal(t, []string{"toolcrib_migrations"}, left, "what goes up comes down")

	applied, err = store.Migrate(ctx, address)
	require.NoError(t, err)
	require.Len(t, applied, len(steps))
	require.Equal(t, first, dump(t, address))
	steps, err = store.MigrationStatus(ctx, address)
	require.NoError(t, err)
	for _, step := range steps {
		require.NotNil(t, step.AppliedAt)
	}
}

func TestMigrateRefusesWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()

	d := storetest.NewDatabase(t)
	conn := d.Conn(t)
	steps, err := store.Migrations()
	require.NoError(t, err)

	_, err = conn.Exec(
		t.Context(), "insert into toolcrib_migrations (version, name, checksum) values (999, 'future', 'x')",
	)
	require.NoError(t, err)
	_, err = store.Migrate(t.Context(), d.URL)
	requireSchemaError(t, err, 999, len(steps))
	_, err = store.MigrationStatus(t.Context(), d.URL)
	requireSchemaError(t, err, 999, len(steps))
	s, err := store.Open(t.Context(), d.URL, store.Options{SetRole: store.AppRole})
	require.NoError(t, err, "two versions of the binary share a database during a roll-out")
	s.Close()

	_, err = conn.Exec(t.Context(), "delete from toolcrib_migrations where version = 999")
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "update toolcrib_migrations set checksum = 'other' where version = 1")
	require.NoError(t, err)
	_, err = store.Migrate(t.Context(), d.URL)
	storetest.RequireKind(t, tool.Conflict, err)
	require.ErrorContains(t, err, "001_tenants")
	storetest.RequireKind(t, tool.Conflict, store.MigrateDown(t.Context(), d.URL, 0))
}

// Databases of one cluster share the roles; runners on one database share
// everything.
func TestMigrateInParallel(t *testing.T) {
	t.Parallel()

	one, other := storetest.NewEmpty(t), storetest.NewEmpty(t)
	var wg sync.WaitGroup
	applied := make([]int, 6)
	errs := make([]error, 6)
	for i := range applied {
		address := one
		if i%2 == 1 {
			address = other
		}
		wg.Go(func() {
			var steps []store.Migration
			steps, errs[i] = store.Migrate(t.Context(), address)
			applied[i] = len(steps)
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	steps, err := store.Migrations()
	require.NoError(t, err)
	require.Equal(t, len(steps), applied[0]+applied[2]+applied[4], "each step once")
	require.Equal(t, len(steps), applied[1]+applied[3]+applied[5])
}

func TestMigrateIntoASchemaOfItsOwn(t *testing.T) {
	t.Parallel()

	u, err := url.Parse(storetest.NewEmpty(t))
	require.NoError(t, err)
	query := u.Query()
	query.Set("search_path", "crib")
	u.RawQuery = query.Encode()
	_, err = store.Migrate(t.Context(), u.String())
	require.NoError(t, err)
	p, err := store.OpenPlatform(t.Context(), u.String(), store.Options{})
	require.NoError(t, err)
	defer p.Close()
	_, err = p.CreateTenant(t.Context(), store.Tenant{Slug: "acme"})
	require.NoError(t, err)
	made, err := p.EnsurePartitions(t.Context(), 5)
	require.NoError(t, err)
	require.Equal(t, 2, made)
	require.Empty(
		t,
		texts(
			t, storetest.Connect(t, u.String()),
			"select relname::text from pg_class where relnamespace = 'public'::regnamespace",
		),
	)
}

// A role that is no superuser migrates too, where it may create roles.
func TestMigrateWithoutSuperuser(t *testing.T) {
	t.Parallel()

	address := storetest.NewEmpty(t)
	conn := storetest.Connect(t, address)
	login := "migrator_" + storetest.NewID(t)[24:]
	_, err := conn.Exec(t.Context(), "create role "+login+" login createrole password '"+loginPassword+"'")
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "grant all on schema public to "+login+" with grant option")
	require.NoError(t, err)
	t.Cleanup(func() { dropRole(t, login) })
	t.Cleanup(func() { disown(t, address, login) })
	_, err = store.Migrate(t.Context(), as(t, address, login))
	require.NoError(t, err)
}

func requireSchemaError(t *testing.T, err error, have, want int) {
	t.Helper()
	schema, ok := errors.AsType[*store.SchemaError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, store.SchemaError{Have: have, Want: want}, *schema)
	storetest.RequireKind(t, tool.Conflict, err)
}

// loginPassword is what tests give the logins they make.
const loginPassword = "correct-horse"

// as returns a URL with another login.
func as(t *testing.T, address, login string) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	u.User = url.UserPassword(login, loginPassword)
	return u.String()
}
