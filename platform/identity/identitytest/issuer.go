// Package identitytest is an OpenID Connect issuer for tests.
package identitytest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"
)

// Audience is what tokens of an [Issuer] are for, unless their claims say otherwise.
const Audience = "toolcrib"

// Issuer serves its configuration and its keys, and signs tokens.
type Issuer struct {
	URL     string
	Fetches atomic.Int64 // Of its keys.

	tb     testing.TB
	server *httptest.Server

	mu     sync.Mutex
	keys   map[string]key
	answer http.HandlerFunc // In place of its keys; nil for them.
}

type key struct {
	private   crypto.Signer
	algorithm jose.SignatureAlgorithm
}

// New starts an issuer with a key rsa of RS256 and a key ec of ES256. It stops with the test.
func New(tb testing.TB) *Issuer {
	tb.Helper()
	i := &Issuer{tb: tb, keys: map[string]key{}}
	i.AddKey("rsa", jose.RS256)
	i.AddKey("ec", jose.ES256)
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": i.URL, "jwks_uri": i.URL + "/keys"})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, r *http.Request) {
		i.Fetches.Add(1)
		i.mu.Lock()
		answer, set := i.answer, jose.JSONWebKeySet{}
		for kid, k := range i.keys {
			set.Keys = append(set.Keys, jose.JSONWebKey{
				Key: k.private.Public(), KeyID: kid, Algorithm: string(k.algorithm), Use: "sig",
			})
		}
		i.mu.Unlock()
		if answer != nil {
			answer(w, r)
			return
		}
		_ = json.NewEncoder(w).Encode(set)
	})
	i.server = httptest.NewServer(mux)
	i.URL = i.server.URL
	tb.Cleanup(i.server.Close)
	return i
}

// AddKey makes a key of RS256 or ES256.
func (i *Issuer) AddKey(kid string, algorithm jose.SignatureAlgorithm) {
	i.tb.Helper()
	var private crypto.Signer
	var err error
	if algorithm == jose.ES256 {
		private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	} else {
		private, err = rsa.GenerateKey(rand.Reader, 2048)
	}
	require.NoError(i.tb, err)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.keys[kid] = key{private, algorithm}
}

// RemoveKey removes a key from those that it serves and signs by.
func (i *Issuer) RemoveKey(kid string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	delete(i.keys, kid)
}

// Answer serves something else in place of the keys; nil for them again.
func (i *Issuer) Answer(answer http.HandlerFunc) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.answer = answer
}

// Public returns a public key.
func (i *Issuer) Public(kid string) crypto.PublicKey {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.keys[kid].private.Public()
}

// Claims returns those of a valid token for an hour, with some changed; nil removes one.
func (i *Issuer) Claims(change map[string]any) map[string]any {
	now := time.Now()
	claims := map[string]any{
		"iss": i.URL, "aud": Audience, "sub": "ada", "iat": now.Unix(), "exp": now.Add(time.Hour).Unix(),
	}
	maps.Copy(claims, change)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	return claims
}

// Token returns a token with [Issuer.Claims], signed by a key.
func (i *Issuer) Token(kid string, change map[string]any) string {
	i.tb.Helper()
	payload, err := json.Marshal(i.Claims(change))
	require.NoError(i.tb, err)
	return i.Sign(kid, payload, map[string]any{"kid": kid, "typ": "JWT"})
}

// Sign returns a token with a payload and what its head has beside alg.
func (i *Issuer) Sign(kid string, payload []byte, head map[string]any) string {
	i.tb.Helper()
	i.mu.Lock()
	k, ok := i.keys[kid]
	i.mu.Unlock()
	require.True(i.tb, ok, "no key %q", kid)
	opts := &jose.SignerOptions{}
	for name, value := range head {
		opts.WithHeader(jose.HeaderKey(name), value)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: k.algorithm, Key: k.private}, opts)
	require.NoError(i.tb, err)
	signed, err := signer.Sign(payload)
	require.NoError(i.tb, err)
	text, err := signed.CompactSerialize()
	require.NoError(i.tb, err)
	return text
}
