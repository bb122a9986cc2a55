package webhook_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/webhook"
)

// The example of the reference libraries of Standard Webhooks.
func TestTheReferenceSignature(t *testing.T) {
	t.Parallel()

	got, err := webhook.Sign("msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`),
		"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	require.NoError(t, err)
	require.Equal(t, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=", got)
}

func TestVerify(t *testing.T) {
	t.Parallel()

	const id, body = "01975c2e-7d1a-7c3e-9f00-0000000000f1", `{"type":"run.failed"}`
	first, second := webhook.NewSecret(), webhook.NewSecret()
	require.NotEqual(t, first, second)
	now := time.Now()
	signed := func(at time.Time, secrets ...string) http.Header {
		signature, err := webhook.Sign(id, at, []byte(body), secrets...)
		require.NoError(t, err)
		return http.Header{
			webhook.IDHeader: {id}, webhook.TimestampHeader: {strconv.FormatInt(at.Unix(), 10)},
			webhook.SignatureHeader: {signature},
		}
	}
	verify := func(h http.Header, text string, secrets ...string) error {
		return webhook.Verify(h, []byte(text), now, 0, secrets...)
	}
	require.NoError(t, verify(signed(now, first), body, first))
	require.NoError(t, verify(signed(now, second, first), body, first), "signed by both")
	require.NoError(t, verify(signed(now, first), body, second, first), "the receiver has both")
	require.NoError(t, verify(signed(now.Add(-4*time.Minute), first), body, first))
	require.ErrorIs(t, verify(signed(now.Add(-6*time.Minute), first), body, first), webhook.ErrTimestamp)
	require.ErrorIs(t, verify(signed(now.Add(6*time.Minute), first), body, first), webhook.ErrTimestamp)
	require.ErrorIs(t, verify(signed(now, first), body, second), webhook.ErrSignature)
	require.ErrorIs(t, verify(signed(now, first), body+" ", first), webhook.ErrSignature)
	require.ErrorIs(t, verify(signed(now, first), body), webhook.ErrSignature)
	require.ErrorIs(t, verify(signed(now, first), body, "whsec_", "not base64!"), webhook.ErrSignature)
	for name, change := range map[string]func(http.Header){
		"another id":         func(h http.Header) { h.Set(webhook.IDHeader, "other") },
		"no id":              func(h http.Header) { h.Del(webhook.IDHeader) },
		"another timestamp":  func(h http.Header) { h.Set(webhook.TimestampHeader, strconv.FormatInt(now.Unix()+1, 10)) },
		"no timestamp":       func(h http.Header) { h.Del(webhook.TimestampHeader) },
		"no signature":       func(h http.Header) { h.Del(webhook.SignatureHeader) },
		"an empty signature": func(h http.Header) { h.Set(webhook.SignatureHeader, "v1,") },
		"another version": func(h http.Header) {
			h.Set(webhook.SignatureHeader, strings.Replace(h.Get(webhook.SignatureHeader), "v1,", "v2,", 1))
		},
		"the signature beyond a bound": func(h http.Header) {
			h.Set(webhook.SignatureHeader, strings.Repeat("v1,eA== ", 10)+h.Get(webhook.SignatureHeader))
		},
	} {
		h := signed(now, first)
		change(h)
		require.ErrorIs(t, verify(h, body, first), webhook.ErrSignature, name)
	}
}
