package payload_test

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/toolcrib/toolcrib/internal/payload"
	"github.com/toolcrib/toolcrib/tool"
	"github.com/toolcrib/toolcrib/wire"
)

func ring(tb testing.TB, keys ...string) *payload.Keyring {
	tb.Helper()
	r, err := payload.ParseKeys(strings.Join(keys, ","))
	require.NoError(tb, err)
	return r
}

// in returns the codec as the SDK has it in a workflow.
func in(c *payload.Codec, workflowID string) converter.PayloadCodec {
	return c.WithSerializationContext(converter.WorkflowSerializationContext{WorkflowID: workflowID})
}

func one(
	tb testing.TB, do func([]*commonpb.Payload) ([]*commonpb.Payload, error), p *commonpb.Payload,
) *commonpb.Payload {
	tb.Helper()
	out, err := do([]*commonpb.Payload{p})
	require.NoError(tb, err)
	require.Len(tb, out, 1)
	return out[0]
}

// Whatever is encrypted decrypts to the same, in any context of the tenant and in none, and shows
// neither its content nor its metadata.
func TestRoundTrip(t *testing.T) {
	t.Parallel()

	keys := ring(t, payload.GenerateKey())
	rapid.Check(t, func(t *rapid.T) {
		tenant := rapid.SampledFrom([]tool.TenantID{"", tool.TenantID(uuid.NewString())}).Draw(t, "tenant")
		id := "orders-1"
		if tenant != "" {
			id = wire.RunWorkflowID(tenant, "r")
		}
		p := &commonpb.Payload{
			Metadata: rapid.MapOf(rapid.StringMatching("[a-z]{1,8}"), rapid.SliceOf(rapid.Byte())).Draw(t, "metadata"),
			Data:     append([]byte("marker of the test"), rapid.SliceOfN(rapid.Byte(), 0, 5000).Draw(t, "data")...),
		}
		before := proto.CloneOf(p)
		codec := payload.NewCodec(keys)
		sealed, err := in(codec, id).Encode([]*commonpb.Payload{p, p})
		require.NoError(t, err)
		require.True(t, proto.Equal(before, p), "the original is unchanged")
		require.NotEqual(t, sealed[0].Data, sealed[1].Data, "equal payloads do not look equal")
		require.Equal(t, tenant, payload.TenantOf(sealed[0]))
		require.Equal(t, keys.IDs()[0], payload.KeyOf(sealed[0]))
		raw, err := proto.Marshal(sealed[0])
		require.NoError(t, err)
		require.NotContains(t, string(raw), "marker of the test")
		require.LessOrEqual(t, len(raw), proto.Size(p)+payload.Overhead)
		for _, reader := range []converter.PayloadCodec{codec, in(codec, id), in(codec, "orders-1")} {
			opened, err := reader.Decode(sealed)
			require.NoError(t, err)
			require.True(t, proto.Equal(p, opened[0]) && proto.Equal(p, opened[1]))
		}
		again, err := in(codec, id).Encode(sealed)
		require.NoError(t, err)
		require.True(t, proto.Equal(sealed[0], again[0]), "what is encrypted is not encrypted again")
	})
}

// No bit of an encrypted payload can be changed.
func TestTampering(t *testing.T) {
	t.Parallel()

	first, second := payload.GenerateKey(), payload.GenerateKey()
	codec := payload.NewCodec(ring(t, first, second))
	tenant := tool.TenantID(uuid.NewString())
	sealed := one(t, codec.For(tenant).Encode, &commonpb.Payload{Data: []byte(`{"a":1}`)})
	other := payload.NewCodec(ring(t, second, first)).For(tenant)
	changes := map[string]func(p *commonpb.Payload){
		"another key":    func(p *commonpb.Payload) { p.Metadata[payload.KeyField] = []byte(ring(t, second).IDs()[0]) },
		"another tenant": func(p *commonpb.Payload) { p.Metadata[payload.TenantField] = []byte(uuid.NewString()) },
		"no tenant":      func(p *commonpb.Payload) { delete(p.Metadata, payload.TenantField) },
		"no data":        func(p *commonpb.Payload) { p.Data = nil },
		"only a head":    func(p *commonpb.Payload) { p.Data = p.Data[:33] },
		"another format": func(p *commonpb.Payload) { p.Data[0]++ },
		"the end of another": func(p *commonpb.Payload) {
			p.Data = append(p.Data[:33:33], one(t, other.Encode, &commonpb.Payload{Data: []byte(`{"a":1}`)}).Data[33:]...)
		},
	}
	for i := range sealed.Data {
		changes["byte "+string(rune('a'+i%26))+strings.Repeat("'", i/26)] = func(p *commonpb.Payload) { p.Data[i] ^= 1 }
	}
	for name, change := range changes {
		changed := proto.CloneOf(sealed)
		change(changed)
		_, err := codec.Decode([]*commonpb.Payload{changed})
		require.Equal(t, tool.Invalid, tool.KindOf(err), name)
	}
}

// A payload that was put in the history of another tenant is refused there.
func TestForeignPayload(t *testing.T) {
	t.Parallel()

	codec := payload.NewCodec(ring(t, payload.GenerateKey()))
	mine, theirs := tool.TenantID(uuid.NewString()), tool.TenantID(uuid.NewString())
	sealed := one(t, codec.For(theirs).Encode, &commonpb.Payload{Data: []byte("x")})
	for _, ctx := range []converter.SerializationContext{
		converter.WorkflowSerializationContext{WorkflowID: wire.RunWorkflowID(mine, "r")},
		converter.ActivitySerializationContext{WorkflowID: wire.CallWorkflowID(mine, "c")},
	} {
		_, err := codec.WithSerializationContext(ctx).Decode([]*commonpb.Payload{sealed})
		require.Equal(t, tool.Denied, tool.KindOf(err))
	}
	platform := one(t, codec.Encode, &commonpb.Payload{Data: []byte("x")})
	require.Equal(t, "x", string(one(t, in(codec, wire.RunWorkflowID(mine, "r")).Decode, platform).Data),
		"what was encrypted without a context is of no tenant")
}

// Ids that only look like Toolcrib's own have no tenant.
func TestTenantOfWorkflow(t *testing.T) {
	t.Parallel()

	codec := payload.NewCodec(ring(t, payload.GenerateKey()))
	tenant := tool.TenantID(uuid.NewString())
	for id, want := range map[string]tool.TenantID{
		wire.RunWorkflowID(tenant, "r"): tenant, wire.WaitWorkflowID(tenant, "w"): tenant, "t/" + string(tenant): tenant,
		"t/acme/1": "", "t/": "", "": "", "order/t/" + string(tenant): "", string(tenant): "",
	} {
		sealed := one(t, in(codec, id).Encode, &commonpb.Payload{Data: []byte("x")})
		require.Equal(t, want, payload.TenantOf(sealed), id)
	}
}

// After a rotation the new key encrypts, and the old one still decrypts until it is taken away; the
// error then names it.
func TestRotation(t *testing.T) {
	t.Parallel()

	old, next := payload.GenerateKey(), payload.GenerateKey()
	before := payload.NewCodec(ring(t, old))
	sealed := one(t, before.Encode, &commonpb.Payload{Data: []byte("x")})
	prepared, active := payload.NewCodec(ring(t, old, next)), payload.NewCodec(ring(t, next, old))
	fresh := one(t, active.Encode, &commonpb.Payload{Data: []byte("y")})
	require.Equal(t, ring(t, next).IDs()[0], payload.KeyOf(fresh))
	require.Equal(t, payload.KeyOf(sealed), payload.KeyOf(one(t, prepared.Encode, &commonpb.Payload{})))
	for _, c := range []*payload.Codec{prepared, active} {
		require.Equal(t, "x", string(one(t, c.Decode, sealed).Data))
		require.Equal(t, "y", string(one(t, c.Decode, fresh).Data))
	}
	for _, c := range []*payload.Codec{payload.NewCodec(ring(t, next)), payload.NewCodec(nil)} {
		_, err := c.Decode([]*commonpb.Payload{sealed})
		require.Equal(t, tool.Unavailable, tool.KindOf(err))
		require.ErrorContains(t, err, payload.KeyOf(sealed))
	}
}

// Without a key nothing is encrypted, and with one what is not encrypted stays readable.
func TestWithoutKeys(t *testing.T) {
	t.Parallel()

	plain := &commonpb.Payload{Metadata: map[string][]byte{"encoding": []byte("json/plain")}, Data: []byte("1")}
	require.True(t, proto.Equal(plain, one(t, payload.NewCodec(nil).Encode, plain)))
	require.True(t, proto.Equal(plain, one(t, payload.NewCodec(ring(t, payload.GenerateKey())).Decode, plain)))
}

func TestKeys(t *testing.T) {
	t.Parallel()

	path := filepath.Join(t.TempDir(), "keys")
	require.NoError(t, payload.WriteKeyFile(path))
	require.ErrorIs(t, payload.WriteKeyFile(path), os.ErrExist)
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	env := func(vars map[string]string) (*payload.Keyring, error) {
		return payload.FromEnvironment(func(name string) string { return vars[name] })
	}
	none, err := env(nil)
	require.NoError(t, err)
	require.Empty(t, none.IDs())
	file, err := env(map[string]string{payload.FileVariable: path})
	require.NoError(t, err)
	text, err := env(map[string]string{payload.KeysVariable: string(raw)})
	require.NoError(t, err)
	require.Equal(t, file.IDs(), text.IDs())
	require.Regexp(t, "^pk-[0-9a-f]{12}$", file.IDs()[0])
	short := base64.StdEncoding.EncodeToString([]byte("short"))
	for says, vars := range map[string]map[string]string{
		"keep one":             {payload.FileVariable: path, payload.KeysVariable: string(raw)},
		"listed twice":         {payload.KeysVariable: string(raw) + "," + string(raw)},
		"has no payload key":   {payload.KeysVariable: "# none"},
		"is not in base64":     {payload.KeysVariable: "%"},
		"32 bytes, not 5":      {payload.KeysVariable: short},
		"no such file or dire": {payload.FileVariable: path + "x"},
	} {
		_, err := env(vars)
		require.ErrorContains(t, err, says)
		require.NotContains(t, err.Error(), short)
	}
	_, err = payload.NewKeyring([]byte("short"))
	require.Error(t, err)
}

// FuzzDecode feeds the codec what a reader of the namespace could put in a history.
func FuzzDecode(f *testing.F) {
	keys := ring(f, payload.GenerateKey())
	sealed := one(f, payload.NewCodec(keys).Encode, &commonpb.Payload{Data: []byte("x")})
	f.Add(sealed.Data, keys.IDs()[0], "", payload.Encoding)
	f.Add([]byte{1}, keys.IDs()[0], "t", payload.Encoding)
	f.Add([]byte("1"), "", "", "json/plain")
	f.Fuzz(func(t *testing.T, data []byte, key, tenant, encoding string) {
		p := &commonpb.Payload{Data: data, Metadata: map[string][]byte{
			"encoding": []byte(encoding), payload.KeyField: []byte(key), payload.TenantField: []byte(tenant),
		}}
		out, err := payload.NewCodec(keys).Decode([]*commonpb.Payload{p})
		switch {
		case encoding != payload.Encoding:
			require.NoError(t, err)
			require.True(t, proto.Equal(p, out[0]))
		case err == nil: // Only what was encrypted decrypts.
			require.Equal(t, sealed.Data, data)
			require.Empty(t, tenant)
		}
	})
}

func BenchmarkCodec(b *testing.B) {
	codec := payload.NewCodec(ring(b, payload.GenerateKey())).For(tool.TenantID(uuid.NewString()))
	p := &commonpb.Payload{Data: make([]byte, 4096)}
	for b.Loop() {
		_ = one(b, codec.Decode, one(b, codec.Encode, p))
	}
}
