package api_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	commonpb "go.temporal.io/api/common/v1"
	"go.temporal.io/sdk/converter"

	"github.com/toolcrib/toolcrib/internal/payload"
	"github.com/toolcrib/toolcrib/platform/api"
	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	"github.com/toolcrib/toolcrib/wire"
)

func payloadKeys(t *testing.T) *payload.Keyring {
	t.Helper()
	keys, err := payload.ParseKeys(payload.GenerateKey())
	require.NoError(t, err)
	return keys
}

// sealed returns values as the workflow of an id has them in its history, in the codec's protocol.
func sealed(t *testing.T, keys *payload.Keyring, workflowID string, values ...any) string {
	t.Helper()
	data, _ := payload.Wrap(nil, nil, keys)
	data = converter.WithDataConverterSerializationContext(data,
		converter.WorkflowSerializationContext{WorkflowID: workflowID})
	encoded, err := data.ToPayloads(values...)
	require.NoError(t, err)
	return protocol(t, encoded.GetPayloads()...)
}

func protocol(t *testing.T, payloads ...*commonpb.Payload) string {
	t.Helper()
	out := v1.Payloads{Payloads: []v1.Payload{}}
	for _, p := range payloads {
		out.Payloads = append(out.Payloads, v1.Payload{Metadata: p.GetMetadata(), Data: p.GetData()})
	}
	raw, err := json.Marshal(out)
	require.NoError(t, err)
	return string(raw)
}

func payloadsOf(t *testing.T, a answer) []v1.Payload {
	t.Helper()
	require.Equal(t, http.StatusOK, a.status, string(a.body))
	var out v1.Payloads
	a.into(t, &out)
	return out.Payloads
}

const (
	decode = "/v1/codec/decode"
	encode = "/v1/codec/encode"
)

// The Temporal UI and CLI get the payloads of the key's tenant decrypted, and what they send encrypted.
func TestCodec(t *testing.T) {
	t.Parallel()

	keys := payloadKeys(t)
	b := setup(t, func(c *api.Config) { c.PayloadKeys = keys })
	reader := b.Key(t, b.tenant, api.PayloadsDecrypt)
	own := sealed(t, keys, wire.RunWorkflowID(b.tenant, "r"), map[string]string{"city": "Kyiv"}, "two")
	require.NotContains(t, own, base64.StdEncoding.EncodeToString([]byte(`"two"`)))
	opened := payloadsOf(t, b.do(t, http.MethodPost, decode+"?preserveStorageRefs=true", own, reader))
	require.Len(t, opened, 2)
	require.JSONEq(t, `{"city":"Kyiv"}`, string(opened[0].Data))
	require.Equal(t, converter.MetadataEncodingJSON, string(opened[0].Metadata["encoding"]))

	plain := `{"payloads":[{"metadata":{"encoding":"anNvbi9wbGFpbg=="},"data":"MQ==","externalPayloads":[{"sizeBytes":"1"}]},{}]}`
	require.Equal(t, http.StatusForbidden, b.do(t, http.MethodPost, encode, plain, reader).status)
	writer := b.Key(t, b.tenant, api.PayloadsEncrypt)
	require.Equal(t, http.StatusForbidden, b.do(t, http.MethodPost, decode, plain, writer).status)
	made := payloadsOf(t, b.do(t, http.MethodPost, encode, plain, writer))
	require.Equal(t, payload.Encoding, string(made[0].Metadata["encoding"]))
	require.Equal(t, string(b.tenant), string(made[0].Metadata[payload.TenantField]))
	raw, err := json.Marshal(v1.Payloads{Payloads: made})
	require.NoError(t, err)
	require.Equal(t, "1", string(payloadsOf(t, b.do(t, http.MethodPost, decode, string(raw), reader))[0].Data))
	require.Equal(t, "1", string(payloadsOf(t, b.do(t, http.MethodPost, decode, plain, reader))[0].Data),
		"what is not encrypted stays as it is")
}

// Payloads of another tenant, and of the workflows of hosts, stay encrypted for every caller.
func TestCodecOpensNoForeignPayload(t *testing.T) {
	t.Parallel()

	keys := payloadKeys(t)
	b := setup(t, func(c *api.Config) { c.PayloadKeys = keys })
	for _, workflow := range []string{wire.RunWorkflowID(b.Tenant(t), "r"), "orders-1"} {
		theirs := sealed(t, keys, workflow, "secret of theirs")
		got := b.do(t, http.MethodPost, decode, theirs)
		require.JSONEq(t, theirs, protocolOf(payloadsOf(t, got)))
	}
	// Nor does another name in the metadata open it.
	var renamed v1.Payloads
	require.NoError(t, json.Unmarshal([]byte(sealed(t, keys, wire.RunWorkflowID(b.Tenant(t), "r"), "x")), &renamed))
	renamed.Payloads[0].Metadata[payload.TenantField] = []byte(b.tenant)
	got := b.do(t, http.MethodPost, decode, protocolOf(renamed.Payloads))
	require.Equal(t, http.StatusUnprocessableEntity, got.status, string(got.body))
	require.NotContains(t, string(got.body), base64.StdEncoding.EncodeToString([]byte(`"x"`)))
}

func protocolOf(payloads []v1.Payload) string {
	raw, err := json.Marshal(v1.Payloads{Payloads: payloads})
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// A tenant that hides what looks like a secret hides it in payloads too.
func TestCodecMasks(t *testing.T) {
	t.Parallel()

	keys := payloadKeys(t)
	b := setup(t, func(c *api.Config) { c.PayloadKeys = keys })
	const planted = "hush-4f1c9e7a"
	own := sealed(t, keys, wire.RunWorkflowID(b.tenant, "r"), map[string]any{
		"message": "refused password=" + planted, "arguments": map[string]string{"smtppassword": planted, "user": "ada"},
	})
	shown := func() string { return string(payloadsOf(t, b.do(t, http.MethodPost, decode, own))[0].Data) }
	require.NotContains(t, shown(), planted)
	require.Contains(t, shown(), "ada")
	_, err := b.Store.SetTenantMasking(t.Context(), b.tenant, false)
	require.NoError(t, err)
	require.Contains(t, shown(), planted)
}

// A missing key is named, and a hostile body is refused.
func TestCodecRefuses(t *testing.T) {
	t.Parallel()

	keys := payloadKeys(t)
	b := setup(t)
	own := sealed(t, keys, wire.RunWorkflowID(b.tenant, "r"), "x")
	got := b.do(t, http.MethodPost, decode, own)
	require.Equal(t, http.StatusServiceUnavailable, got.status)
	require.Contains(t, string(got.body), keys.IDs()[0])
	for body, status := range map[string]int{
		`{"payloads":[{"data":"%%%"}]}`:                http.StatusUnprocessableEntity,
		`{"payloads":[{"metadata":{"encoding":1}}]}`:   http.StatusUnprocessableEntity,
		`{"payloads":null}`:                            http.StatusUnprocessableEntity,
		`{"payloads":[null]}`:                          http.StatusUnprocessableEntity,
		`{}`:                                           http.StatusUnprocessableEntity,
		`{"payloads":[{"data":"MQ==","data":"Mg=="}]}`: http.StatusBadRequest,
		`[`: http.StatusBadRequest,
		`{"payloads":[` + strings.Repeat("{},", 10000) + `{}]}`:                    http.StatusUnprocessableEntity,
		`{"payloads":[{"data":"` + strings.Repeat("A", api.MaxApplyBytes) + `"}]}`: http.StatusRequestEntityTooLarge,
	} {
		for _, path := range []string{decode, encode} {
			got := b.do(t, http.MethodPost, path, body)
			require.Equal(t, status, got.status, "%.60s: %s", body, got.body)
		}
	}
	large := `{"payloads":[{"data":"` + strings.Repeat("A", 4<<20) + `"}]}`
	require.Equal(t, http.StatusOK, b.do(t, http.MethodPost, decode, large).status, "as large as Temporal takes one")
}

// The pages of the Temporal UI may call the codec from a browser, and nothing else.
func TestCodecOrigins(t *testing.T) {
	t.Parallel()

	const ui, page = "https://temporal.example.com", "https://app.example.com"
	b := setup(t, func(c *api.Config) { c.AllowedOrigins, c.CodecOrigins = []string{page}, []string{ui} })
	allowed := func(path, origin string) string {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodOptions, b.url+path, nil)
		require.NoError(t, err)
		req.Header.Set("Origin", origin)
		req.Header.Set("Access-Control-Request-Method", http.MethodPost)
		req.Header.Set("Access-Control-Request-Headers", "authorization,content-type,x-namespace")
		if origin == page {
			req.Header.Set("Access-Control-Request-Headers", "authorization,content-type")
		}
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		return resp.Header.Get("Access-Control-Allow-Origin")
	}
	require.Equal(t, ui, allowed(decode, ui))
	require.Equal(t, page, allowed("/v1/runs", page))
	require.Empty(t, allowed("/v1/runs", ui))
	require.Empty(t, allowed(decode, page))
	require.Empty(t, allowed(decode, "https://evil.example.com"))
	closed := setup(t)
	b.url = closed.url
	require.Empty(t, allowed(decode, ui), "none is allowed by default")
	_, err := api.New(api.Config{CodecOrigins: []string{"*"}})
	require.ErrorContains(t, err, "CodecOrigins")
}
