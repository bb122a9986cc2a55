package secret_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/tool"
)

const (
	tenantA = tool.TenantID("01980000-0000-7000-8000-00000000000a")
	tenantB = tool.TenantID("01980000-0000-7000-8000-00000000000b")
)

func environment(vars map[string]string) secret.Env {
	return secret.Env{Lookup: func(name string) (string, bool) { v, ok := vars[name]; return v, ok }}
}

func TestEnv(t *testing.T) {
	t.Parallel()

	env := environment(map[string]string{
		"TOOLCRIB_SECRET_ORDERS_API":                                             "shared",
		"TOOLCRIB_SECRET_ORDERS_API_HOSTS":                                       "api.example.com, *.example.org",
		"TOOLCRIB_SECRET_01980000_0000_7000_8000_00000000000A__ORDERS_API":       "of a",
		"TOOLCRIB_SECRET_01980000_0000_7000_8000_00000000000A__ORDERS_API_HOSTS": "a.example.com",
		"TOOLCRIB_SECRET_01980000_0000_7000_8000_00000000000A__ONLY":             "only a",
		"TOOLCRIB_SECRET_EMPTY":                                                  "",
		"PATH":                                                                   "/bin",
	})
	v, err := env.Resolve(t.Context(), tenantA, "orders-api")
	require.NoError(t, err)
	require.Equal(t, "of a", v.Reveal())
	require.Equal(t, []string{"a.example.com"}, v.Hosts())
	v, err = env.Resolve(t.Context(), tenantB, "orders.api")
	require.NoError(t, err)
	require.Equal(t, "shared", v.Reveal())
	require.Equal(t, []string{"api.example.com", "*.example.org"}, v.Hosts())

	for ref, kind := range map[string]tool.Kind{
		"only": tool.NotFound, "empty": tool.NotFound, "absent": tool.NotFound, "orders-api-hosts": tool.NotFound,
		"01980000-0000-7000-8000-00000000000a--only": tool.NotFound,
		"01980000_0000_7000_8000_00000000000A__ONLY": tool.NotFound,
		"": tool.Invalid, "../PATH": tool.Invalid, "a b": tool.Invalid, "-x": tool.Invalid, "a\x00": tool.Invalid,
		"a=b": tool.Invalid,
	} {
		_, err := env.Resolve(t.Context(), tenantB, ref)
		require.Equal(t, kind, tool.KindOf(err), ref)
	}
	_, err = env.Resolve(t.Context(), "t/../x", "orders-api")
	require.Equal(t, tool.Invalid, tool.KindOf(err))
}

func TestFiles(t *testing.T) {
	t.Parallel()

	dir := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	write("secrets/_shared/orders", "shared\n")
	write("secrets/_shared/orders.hosts", "api.example.com\n*.example.org, x.example\n")
	write("secrets/"+string(tenantA)+"/orders", "of a\r\n")
	write("secrets/"+string(tenantA)+"/only", "only a")
	write("secrets/"+string(tenantA)+"/huge", string(make([]byte, 70<<10)))
	write("outside", "outside")
	require.NoError(t, os.Symlink(filepath.Join(dir, "outside"), filepath.Join(dir, "secrets", string(tenantB))))
	require.NoError(t, os.Symlink("../../outside", filepath.Join(dir, "secrets/_shared/link")))

	f, err := secret.OpenFiles(filepath.Join(dir, "secrets"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })

	v, err := f.Resolve(t.Context(), tenantA, "orders")
	require.NoError(t, err)
	require.Equal(t, "of a", v.Reveal())
	require.Empty(t, v.Hosts(), "hosts are those of the same place")
	v, err = f.Resolve(t.Context(), "01980000-0000-7000-8000-00000000000c", "orders")
	require.NoError(t, err)
	require.Equal(t, "shared", v.Reveal())
	require.Equal(t, []string{"api.example.com", "*.example.org", "x.example"}, v.Hosts())

	for _, ref := range []string{
		"only", "link", "../outside", "..", "a/b", "orders.hosts", "outside", "absent", "", "_shared/orders",
	} {
		v, err := f.Resolve(t.Context(), "01980000-0000-7000-8000-00000000000c", ref)
		require.Error(t, err, ref)
		require.Empty(t, v.Reveal(), ref)
	}
	_, err = f.Resolve(t.Context(), tenantA, "huge")
	require.Equal(t, tool.Unavailable, tool.KindOf(err))
	for _, tenant := range []tool.TenantID{"..", "../secrets", "a/b", ".", tenantB} {
		v, _ := f.Resolve(t.Context(), tenant, "outside")
		require.Empty(t, v.Reveal(), tenant)
	}
	_, err = secret.OpenFiles(filepath.Join(dir, "absent"))
	require.Error(t, err)
}

func TestFirstAndOpen(t *testing.T) {
	t.Parallel()

	one := environment(map[string]string{"TOOLCRIB_SECRET_ONE": "first-one"})
	two := environment(map[string]string{"TOOLCRIB_SECRET_ONE": "second-one", "TOOLCRIB_SECRET_TWO": "second-two"})
	broken := secret.ResolverFunc(func(context.Context, tool.TenantID, string) (secret.Value, error) {
		return secret.Value{}, &tool.Error{Kind: tool.Unavailable, Err: errors.New("down")}
	})
	r := secret.NewRedactor()
	ctx := secret.WithRedactor(t.Context(), r)
	v, err := secret.Open(ctx, secret.First(one, two), tenantA, "one")
	require.NoError(t, err)
	require.Equal(t, "first-one", v.Reveal())
	v, err = secret.Open(ctx, secret.First(one, two), tenantA, "two")
	require.NoError(t, err)
	require.Equal(t, "second-two", v.Reveal())
	require.Equal(t, "[redacted] and [redacted]", r.Text("first-one and second-two"), "what was opened is known")

	_, err = secret.Open(ctx, secret.First(one, two), tenantA, "three")
	require.Equal(t, tool.Denied, tool.KindOf(err))
	_, err = secret.Open(ctx, nil, tenantA, "one")
	require.Equal(t, tool.Denied, tool.KindOf(err))
	_, err = secret.Open(ctx, secret.First(broken, two), tenantA, "two")
	require.Equal(t, tool.Unavailable, tool.KindOf(err), "a broken source is not passed over")
}
