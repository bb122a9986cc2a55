package vault_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/secret"
	"github.com/toolcrib/toolcrib/internal/vault"
	"github.com/toolcrib/toolcrib/store/storetest"
	"github.com/toolcrib/toolcrib/tool"
)

// bundle is a vault over a database of its own.
type bundle struct {
	*storetest.Database
	*vault.Vault
	tenant tool.TenantID
	kek    string
}

func setup(t *testing.T) *bundle {
	t.Helper()
	b := &bundle{Database: storetest.NewDatabase(t), kek: vault.GenerateKey()}
	b.Vault = b.with(t, b.kek)
	b.tenant = b.Tenant(t)
	return b
}

// with returns a vault over the bundle's database with keys, the first of which
// wraps.
func (b *bundle) with(t *testing.T, keys ...string) *vault.Vault {
	t.Helper()
	ring, err := vault.ParseKeys(strings.Join(keys, ","))
	require.NoError(t, err)
	v := vault.New(b.Store, vault.Options{Keys: ring})
	t.Cleanup(func() { require.NoError(t, v.Close()) })
	return v
}

func (b *bundle) create(t *testing.T, ref, value string, hosts ...string) vault.Credential {
	t.Helper()
	c, err := b.Create(t.Context(), vault.Credential{Tenant: b.tenant, Ref: ref, Hosts: hosts}, value)
	require.NoError(t, err)
	return c
}

func (b *bundle) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	_, err := b.Conn(t).Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

func requireOpens(t *testing.T, v *vault.Vault, tenant tool.TenantID, ref, value string) {
	t.Helper()
	got, err := v.Resolve(t.Context(), tenant, ref)
	require.NoError(t, err)
	require.Equal(t, value, got.Reveal())
}

func TestCredentialIsKeptAndOpened(t *testing.T) {
	t.Parallel()

	b := setup(t)
	made, err := b.Create(t.Context(), vault.Credential{
		Tenant: b.tenant, Ref: "shop", Hosts: []string{"API.example.com", "*.shop.example.com:8443", "api.example.com"},
		Selector: secret.Selector{Category: "custom", Provider: "serper"},
	}, "planted-value")
	require.NoError(t, err)
	require.Equal(t, []string{"*.shop.example.com:8443", "api.example.com"}, made.Hosts)
	require.Equal(t, 1, made.Version)

	v, err := b.Resolve(t.Context(), b.tenant, "shop")
	require.NoError(t, err)
	require.Equal(t, "planted-value", v.Reveal())
	require.True(t, v.MaySendTo("api.example.com", "443"))
	require.False(t, v.MaySendTo("evil.example.com", "443"))
	found, err := b.Find(t.Context(), b.tenant, secret.Selector{Category: "custom", Provider: "serper"})
	require.NoError(t, err)
	require.True(t, v.Equal(found))
	_, err = b.Find(t.Context(), b.tenant, secret.Selector{Category: "custom", Provider: "serper", Variant: "eu"})
	storetest.RequireKind(t, tool.NotFound, err)
	_, err = b.Find(t.Context(), b.tenant, secret.Selector{})
	storetest.RequireKind(t, tool.NotFound, err)

	require.Eventually(t, func() bool {
		got, err := b.Get(t.Context(), b.tenant, made.ID)
		return err == nil && got.LastUsedAt != nil
	}, time.Minute, 10*time.Millisecond)

	for _, again := range []vault.Credential{
		{Tenant: b.tenant, Ref: "shop"},
		{Tenant: b.tenant, Ref: "other", Selector: secret.Selector{Category: "custom", Provider: "serper"}},
	} {
		_, err = b.Create(t.Context(), again, "other-value")
		storetest.RequireKind(t, tool.Conflict, err)
		require.ErrorContains(t, err, "exists already")
	}
	stranger := b.Tenant(t)
	for _, name := range []string{"shop", made.ID} {
		_, err = b.Get(t.Context(), stranger, name)
		storetest.RequireKind(t, tool.NotFound, err)
	}
	_, err = b.Resolve(t.Context(), stranger, "shop")
	storetest.RequireKind(t, tool.NotFound, err)
}

func TestWhatIsNoCredentialIsRefused(t *testing.T) {
	t.Parallel()

	b := setup(t)
	valid := vault.Credential{Tenant: b.tenant, Ref: "shop", Hosts: []string{"a.example.com"}}
	past := time.Now().Add(-time.Hour)
	tests := map[string]struct {
		change func(c *vault.Credential)
		value  string
		path   string
	}{
		"no ref":             {func(c *vault.Credential) { c.Ref = "" }, "v", "/ref"},
		"path as ref":        {func(c *vault.Credential) { c.Ref = "../x" }, "v", "/ref"},
		"id as ref":          {func(c *vault.Credential) { c.Ref = storetest.NewID(t) }, "v", "/ref"},
		"no value":           {nil, "", "/value"},
		"placeholder":        {nil, secret.Redacted, "/value"},
		"too long":           {nil, strings.Repeat("x", vault.MaxValueBytes+1), "/value"},
		"binary":             {nil, "\xff\xfe", "/value"},
		"URL as host":        {func(c *vault.Credential) { c.Hosts = []string{"https://a.example.com"} }, "v", "/hosts"},
		"path in host":       {func(c *vault.Credential) { c.Hosts = []string{"a.example.com/x"} }, "v", "/hosts"},
		"userinfo in host":   {func(c *vault.Credential) { c.Hosts = []string{"a@b.example.com"} }, "v", "/hosts"},
		"all hosts":          {func(c *vault.Credential) { c.Hosts = []string{"*"} }, "v", "/hosts"},
		"all of a top level": {func(c *vault.Credential) { c.Hosts = []string{"*.com"} }, "v", "/hosts"},
		"star inside":        {func(c *vault.Credential) { c.Hosts = []string{"a.*.example.com"} }, "v", "/hosts"},
		"odd number":         {func(c *vault.Credential) { c.Hosts = []string{"0x7f.1"} }, "v", "/hosts"},
		"not ASCII":          {func(c *vault.Credential) { c.Hosts = []string{"exämple.com"} }, "v", "/hosts"},
		"port out of range":  {func(c *vault.Credential) { c.Hosts = []string{"a.example.com:70000"} }, "v", "/hosts"},
		"empty host":         {func(c *vault.Credential) { c.Hosts = []string{""} }, "v", "/hosts"},
		"provider alone":     {func(c *vault.Credential) { c.Selector.Provider = "serper" }, "v", "/category"},
		"category alone":     {func(c *vault.Credential) { c.Selector.Category = "custom" }, "v", "/provider_key"},
		"expired":            {func(c *vault.Credential) { c.ExpiresAt = &past }, "v", "/expires_at"},
	}
	for name, tt := range tests {
		c := valid
		if tt.change != nil {
			tt.change(&c)
		}
		_, err := b.Create(t.Context(), c, tt.value)
		storetest.RequireKind(t, tool.Invalid, err)
		require.Equal(t, tt.path, tool.AsError(err).Path, name)
	}
	all, err := b.List(t.Context(), b.tenant, "", 10)
	require.NoError(t, err)
	require.Empty(t, all)
}

// Rows that are exchanged, in any way, open nothing: a ciphertext belongs to its
// tenant, its credential, its version and its hosts.
func TestMovedRowsDoNotOpen(t *testing.T) {
	t.Parallel()

	moves := map[string]string{
		"between credentials": `update credentials c set ciphertext = o.ciphertext from credentials o
			where c.ref = 'shop' and o.ref = 'other' and c.tenant_id = o.tenant_id`,
		"between tenants": `update credentials c set ciphertext = o.ciphertext from credentials o
			where c.ref = 'shop' and o.ref = 'shop' and c.tenant_id <> o.tenant_id`,
		"with the data key": `update tenant_keys c set wrapped = o.wrapped from tenant_keys o where c.tenant_id <> o.tenant_id`,
		"by another name":   `update credentials set ref = 'gone' where ref = 'shop'; update credentials set ref = 'shop' where ref = 'other'`,
		"to other hosts":    `update credentials set hosts = '{evil.example.com}'`,
		"to more hosts":     `update credentials set hosts = hosts || '{evil.example.com}'`,
		"another version":   `update credentials set version = version + 1`,
		"flipped":           `update credentials set ciphertext = set_byte(ciphertext, 30, get_byte(ciphertext, 30) # 1)`,
		"cut":               `update credentials set ciphertext = substring(ciphertext for 20)`,
	}
	for name, move := range moves {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			b := setup(t)
			b.create(t, "shop", "mine", "a.example.com")
			b.create(t, "other", "other", "a.example.com")
			value := "mine-2"
			_, err := b.Change(t.Context(), b.tenant, "shop", vault.Change{Value: &value})
			require.NoError(t, err)
			stranger := b.Tenant(t)
			_, err = b.Create(t.Context(), vault.Credential{Tenant: stranger, Ref: "shop", Hosts: []string{"a.example.com"}},
				"theirs")
			require.NoError(t, err)
			for statement := range strings.SplitSeq(move, ";") {
				b.exec(t, statement)
			}
			_, err = b.with(t, b.kek).Resolve(t.Context(), b.tenant, "shop")
			require.Error(t, err)
			require.NotContains(t, err.Error(), "mine")
			require.NotEqual(t, tool.NotFound, tool.KindOf(err), "a lesser source must not answer instead")
		})
	}
}

// Whoever changes credentials without knowing them can't have them sent to
// other hosts.
func TestWiderHostsNeedTheValue(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.create(t, "shop", "planted", "api.example.com", "*.shop.example.com", "pay.example.com:8443", "[2001:db8::1]:443")
	change := func(value *string, hosts ...string) error {
		_, err := b.Change(t.Context(), b.tenant, "shop", vault.Change{Value: value, Hosts: &hosts})
		return err
	}
	for _, wider := range []string{
		"evil.example.com", "*.example.com", "api.example.com.evil.test", "xapi.example.com", "shop.example.com",
		"pay.example.com", "pay.example.com:443", "[2001:db8::1]:8443", "[2001:db8::2]:443", "xshop.example.com",
		"*.api.example.com", "*.pay.example.com:8443",
	} {
		storetest.RequireKind(t, tool.Denied, change(nil, "api.example.com", wider))
		redacted := secret.Redacted
		storetest.RequireKind(t, tool.Denied, change(&redacted, wider))
	}
	requireOpens(t, b.Vault, b.tenant, "shop", "planted")
	require.NoError(
		t, change(nil, "api.example.com:443", "eu.shop.example.com", "*.eu.shop.example.com", "pay.example.com:8443"),
	)
	requireOpens(t, b.Vault, b.tenant, "shop", "planted")
	v, err := b.Resolve(t.Context(), b.tenant, "shop")
	require.NoError(t, err)
	require.True(t, v.MaySendTo("api.example.com", "443"))
	require.False(t, v.MaySendTo("api.example.com", "8080"))
	storetest.RequireKind(t, tool.Denied, change(nil, "api.example.com"))
	require.NoError(t, change(nil), "nowhere is not wider")
	storetest.RequireKind(t, tool.Denied, change(nil, "api.example.com"))
	value := "planted"
	require.NoError(t, change(&value, "evil.example.com"), "who knows it may send it anywhere anyway")
}

// A credential is rotated while it is used: every call gets one value or the
// other, and none after the change gets the old one.
func TestRotationUnderUse(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.create(t, "shop", "v1", "a.example.com")
	var current atomic.Int64
	current.Store(1)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	errs := make(chan error, 4)
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				before := current.Load()
				v, err := b.Resolve(t.Context(), b.tenant, "shop")
				var got int64
				if err == nil {
					_, err = fmt.Sscanf(v.Reveal(), "v%d", &got)
				}
				if err == nil && got < before {
					err = fmt.Errorf("got v%d after v%d was set", got, before)
				}
				if err != nil {
					errs <- err
					return
				}
			}
		})
	}
	var rotations error
	for n := int64(2); n <= 12; n++ {
		value := fmt.Sprintf("v%d", n)
		changed, err := b.Change(t.Context(), b.tenant, "shop", vault.Change{Value: &value})
		current.Store(n)
		rotations = errors.Join(rotations, err)
		if err == nil && (int64(changed.Version) != n || changed.RotatedAt == nil) {
			rotations = fmt.Errorf("version %d after %d rotations", changed.Version, n)
		}
		_, err = b.RotateDataKey(t.Context(), b.tenant)
		rotations = errors.Join(rotations, err)
	}
	close(stop)
	wg.Wait()
	close(errs)
	require.NoError(t, rotations)
	for err := range errs {
		require.NoError(t, err)
	}
}

func TestChangesDoNotOverwriteOneAnother(t *testing.T) {
	t.Parallel()

	b := setup(t)
	made := b.create(t, "shop", "v1", "a.example.com")
	value := "v2"
	changed, err := b.Change(t.Context(), b.tenant, "shop", vault.Change{Value: &value, Revision: made.Revision})
	require.NoError(t, err)
	require.Greater(t, changed.Revision, made.Revision)
	_, err = b.Change(t.Context(), b.tenant, "shop", vault.Change{Value: &value, Revision: made.Revision})
	require.ErrorIs(t, err, vault.ErrChanged)
	storetest.RequireKind(t, tool.Conflict, err)
	_, err = b.Revoke(t.Context(), b.tenant, "shop", made.Revision)
	require.ErrorIs(t, err, vault.ErrChanged)

	var wg sync.WaitGroup
	all := make([]error, 6)
	for i := range all {
		wg.Go(func() {
			v := fmt.Sprintf("parallel-%d", i)
			_, all[i] = b.Change(t.Context(), b.tenant, "shop", vault.Change{Value: &v})
		})
	}
	wg.Wait()
	require.NoError(t, errors.Join(all...))
	last, err := b.Get(t.Context(), b.tenant, "shop")
	require.NoError(t, err)
	require.Equal(t, 2+len(all), last.Version)
}

// A revoked credential is refused at the next call, its value is gone, and its
// ref is free.
func TestRevocationStopsTheNextCall(t *testing.T) {
	t.Parallel()

	b := setup(t)
	made := b.create(t, "shop", "v1", "a.example.com")
	requireOpens(t, b.Vault, b.tenant, "shop", "v1")
	revoked, err := b.Revoke(t.Context(), b.tenant, "shop", 0)
	require.NoError(t, err)
	require.NotNil(t, revoked.RevokedAt)
	_, err = b.Resolve(t.Context(), b.tenant, "shop")
	storetest.RequireKind(t, tool.NotFound, err)
	_, err = b.Revoke(t.Context(), b.tenant, made.ID, 0)
	storetest.RequireKind(t, tool.NotFound, err)
	var left bool
	require.NoError(
		t, b.Conn(t).QueryRow(t.Context(), "select bool_or(ciphertext is not null) from credentials").Scan(&left),
	)
	require.False(t, left)
	b.create(t, "shop", "v2", "a.example.com")
	requireOpens(t, b.Vault, b.tenant, "shop", "v2")
}

// One that has expired is refused, and nobody asks a lesser source instead.
func TestExpiry(t *testing.T) {
	t.Parallel()

	b := setup(t)
	soon := time.Now().Add(time.Hour)
	_, err := b.Create(t.Context(), vault.Credential{Tenant: b.tenant, Ref: "shop", ExpiresAt: &soon}, "v1")
	require.NoError(t, err)
	requireOpens(t, b.Vault, b.tenant, "shop", "v1")
	b.exec(t, "update credentials set expires_at = now() - interval '1 second'")
	lesser := secret.ResolverFunc(nil)
	_, err = secret.First(b.Vault, lesser).Resolve(t.Context(), b.tenant, "shop")
	storetest.RequireKind(t, tool.Denied, err)
	require.ErrorContains(t, err, "has expired")
	value := "v2"
	_, err = b.Change(t.Context(), b.tenant, "shop", vault.Change{Value: &value, ExpiresAt: &time.Time{}})
	require.NoError(t, err)
	requireOpens(t, b.Vault, b.tenant, "shop", "v2")
}

// The data key of a tenant is replaced, many credentials at once; what was
// stopped half-way is taken up; other tenants are left alone.
// A change that began before its credential was encrypted anew does not put it
// back under the older key, and nobody's If-Match fails for that.
func TestChangesMeetAKeyRotation(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.create(t, "shop", "value", "a.example.com")
	ring, err := vault.ParseKeys(b.kek)
	require.NoError(t, err)
	v := vault.New(&rotatesOnce{Store: b.Store, rotate: func() {
		_, err := b.RotateDataKey(t.Context(), b.tenant)
		require.NoError(t, err)
	}}, vault.Options{Keys: ring})
	t.Cleanup(func() { require.NoError(t, v.Close()) })
	before, err := b.Get(t.Context(), b.tenant, "shop")
	require.NoError(t, err)
	_, err = v.Change(t.Context(), b.tenant, "shop", vault.Change{
		Selector: &secret.Selector{Category: "custom", Provider: "shop"}, Revision: before.Revision,
	})
	require.NoError(t, err)
	after, err := b.Get(t.Context(), b.tenant, "shop")
	require.NoError(t, err)
	require.Equal(t, "shop", after.Selector.Provider)
	require.Equal(t, 2, after.KeyVersion, "it stays under the newer key")
	requireOpens(t, b.Vault, b.tenant, "shop", "value")
}

// rotatesOnce is a store where a key is rotated behind the back of the first
// change.
type rotatesOnce struct {
	vault.Store

	once   sync.Once
	rotate func()
}

func (r *rotatesOnce) ChangeCredential(ctx context.Context, c vault.Sealed) (vault.Credential, error) {
	r.once.Do(r.rotate)
	return r.Store.ChangeCredential(ctx, c)
}

func TestDataKeyRotation(t *testing.T) {
	t.Parallel()

	b := setup(t)
	const many = 130 // More than a batch.
	for i := range many {
		b.create(t, fmt.Sprintf("c%03d", i), fmt.Sprintf("value-%03d", i), "a.example.com")
	}
	stranger := b.Tenant(t)
	_, err := b.Create(t.Context(), vault.Credential{Tenant: stranger, Ref: "shop"}, "theirs")
	require.NoError(t, err)
	none, err := b.RotateDataKey(t.Context(), b.Tenant(t))
	require.NoError(t, err)
	require.Zero(t, none)

	before, err := b.Get(t.Context(), b.tenant, "c000")
	require.NoError(t, err)
	done, err := b.RotateDataKey(t.Context(), b.tenant)
	require.NoError(t, err)
	require.Equal(t, vault.Resealed{KeyVersion: 2, Resealed: many}, done)
	after, err := b.Get(t.Context(), b.tenant, "c000")
	require.NoError(t, err)
	require.Equal(t, 2, after.KeyVersion)
	require.Equal(t, before.Revision, after.Revision, "nobody's If-Match fails for it")

	// Of no use: it is sealed by the second.
	b.exec(t, "update credentials set key_version = 1, ciphertext = ciphertext where ref < 'c001'")
	_, err = b.Reseal(t.Context(), b.tenant)
	require.Error(t, err)
	b.exec(t, "update credentials set key_version = 2 where ref < 'c001'")
	done, err = b.Reseal(t.Context(), b.tenant)
	require.NoError(t, err)
	require.Zero(t, done.Resealed)
	for i := range many {
		requireOpens(t, b.Vault, b.tenant, fmt.Sprintf("c%03d", i), fmt.Sprintf("value-%03d", i))
	}
	uses, err := b.Status(t.Context(), b.tenant)
	require.NoError(t, err)
	require.Len(t, uses, 2)
	require.Equal(t, []int{0, many}, []int{uses[0].Credentials, uses[1].Credentials})
	requireOpens(t, b.Vault, stranger, "shop", "theirs")
}

// The key-encryption key is replaced: processes with both keys go on all the
// while, and those with the new one alone once it is done.
func TestKeyEncryptionKeyRotation(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.create(t, "shop", "v1", "a.example.com")
	next := vault.GenerateKey()
	only, both := b.with(t, next), b.with(t, next, b.kek)
	_, err := only.Resolve(t.Context(), b.tenant, "shop")
	storetest.RequireKind(t, tool.Unavailable, err)
	require.ErrorContains(t, err, vault.FileVariable)
	requireOpens(t, both, b.tenant, "shop", "v1")

	done, err := both.Rewrap(t.Context(), b.tenant)
	require.NoError(t, err)
	require.Equal(t, vault.Rewrapped{Keys: 1, Rewrapped: 1}, done)
	done, err = both.Rewrap(t.Context(), b.tenant)
	require.NoError(t, err)
	require.Equal(t, vault.Rewrapped{Keys: 1}, done)
	requireOpens(t, only, b.tenant, "shop", "v1")
	requireOpens(t, b.with(t, b.kek, next), b.tenant, "shop", "v1")
	_, err = b.with(t, b.kek).Resolve(t.Context(), b.tenant, "shop")
	storetest.RequireKind(t, tool.Unavailable, err)
}

// Without a key the database opens nothing, and neither does it with another.
func TestWithoutKeys(t *testing.T) {
	t.Parallel()

	b := setup(t)
	b.create(t, "shop", "v1", "a.example.com")
	bare := vault.New(b.Store, vault.Options{})
	defer func() { require.NoError(t, bare.Close()) }()
	_, err := bare.Create(t.Context(), vault.Credential{Tenant: b.tenant, Ref: "other"}, "v")
	require.ErrorIs(t, err, vault.ErrNoKeys)
	require.ErrorContains(t, err, vault.FileVariable)
	value := "v2"
	_, err = bare.Change(t.Context(), b.tenant, "shop", vault.Change{Value: &value})
	require.ErrorIs(t, err, vault.ErrNoKeys)
	_, err = bare.Resolve(t.Context(), b.tenant, "shop")
	require.ErrorIs(t, err, vault.ErrNoKeys)
	_, err = bare.Resolve(t.Context(), b.tenant, "none")
	storetest.RequireKind(t, tool.NotFound, err)
	_, err = bare.Digest(t.Context(), b.tenant, []byte("x"))
	require.ErrorIs(t, err, vault.ErrNoKeys)
	all, err := bare.List(t.Context(), b.tenant, "", 10)
	require.NoError(t, err)
	require.Len(t, all, 1)
	_, err = bare.Revoke(t.Context(), b.tenant, "shop", 0)
	require.NoError(t, err)
}

// What the database holds tells nothing, in no encoding; and the same value
// looks different each time.
func TestTheDatabaseHoldsNoValue(t *testing.T) {
	t.Parallel()

	const value = "planted-credential-5d1e0c"
	b := setup(t)
	for _, ref := range []string{"one", "two"} {
		b.create(t, ref, value, "a.example.com")
	}
	_, err := b.RotateDataKey(t.Context(), b.tenant)
	require.NoError(t, err)
	raw, err := base64.StdEncoding.DecodeString(b.kek)
	require.NoError(t, err)
	var tables []string
	for _, table := range []string{"credentials", "tenant_keys"} {
		var rows string
		require.NoError(t, b.Conn(t).QueryRow(t.Context(), "select string_agg(x::text, E'\\n') from "+table+" x").Scan(&rows))
		tables = append(tables, rows)
	}
	dump := strings.Join(tables, "\n")
	require.Contains(t, dump, "a.example.com")
	for _, s := range []string{value, string(raw)} {
		for _, form := range []string{
			s, hex.EncodeToString([]byte(s)), base64.RawStdEncoding.EncodeToString([]byte(s)),
			base64.RawURLEncoding.EncodeToString([]byte(s)), url.QueryEscape(s),
		} {
			require.NotContains(t, dump, form)
		}
	}
	var different bool
	require.NoError(
		t, b.Conn(t).QueryRow(t.Context(), "select count(distinct ciphertext) = 2 from credentials").Scan(&different),
	)
	require.True(t, different)
}

func TestDigestIsTheTenantsOwn(t *testing.T) {
	t.Parallel()

	b := setup(t)
	first, err := b.Digest(t.Context(), b.tenant, []byte("guess"))
	require.NoError(t, err)
	again, err := b.with(t, b.kek).Digest(t.Context(), b.tenant, []byte("guess"))
	require.NoError(t, err)
	require.Equal(t, first, again, "on every server")
	other, err := b.Digest(t.Context(), b.Tenant(t), []byte("guess"))
	require.NoError(t, err)
	require.NotEqual(t, first, other)
}
