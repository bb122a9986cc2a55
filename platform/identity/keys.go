package identity

import (
	"context"
	"crypto"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/toolcrib/toolcrib/internal/egress"
	"github.com/toolcrib/toolcrib/schema/jsonvalue"
	"github.com/toolcrib/toolcrib/tool"
)

// Bounds of the keys of an issuer.
const (
	fetchTimeout  = 5 * time.Second
	maxDocument   = 512 << 10
	maxKeys       = 100
	minRSABits    = 2048
	maxRSABits    = 8192
	keysFresh     = 10 * time.Minute // After which keys are fetched again.
	keysUsable    = 24 * time.Hour   // For which keys are used while the issuer cannot be reached.
	fetchInterval = 10 * time.Second // Between fetches, whatever tokens name.
	documentDepth = 16
)

// errUnknownKey says that the issuer has no key that the token names.
var errUnknownKey = errors.New("no key of the issuer signed it")

// keyring has the public keys of an issuer. It is safe for concurrent use.
type keyring struct {
	issuer string
	url    string // Empty to ask the issuer's document.
	gate   *egress.Gate
	now    func() time.Time

	mu       sync.Mutex
	keys     []jose.JSONWebKey
	fetched  time.Time // Of keys.
	tried    time.Time // The last fetch, whatever came of it.
	failed   error     // Of the last fetch.
	fetching chan struct{}
}

// find returns the keys that may have signed a token: that of a name, or every one of those that fit
// for a token without. It fetches them where they are old or lack the name, once in a while and once
// for all that wait.
func (k *keyring) find(ctx context.Context, kid, algorithm string) ([]crypto.PublicKey, error) {
	for {
		k.mu.Lock()
		now := k.now()
		usable := !k.fetched.IsZero() && now.Sub(k.fetched) < keysUsable
		var found []crypto.PublicKey
		if usable {
			found = fitting(k.keys, kid, algorithm)
		}
		fresh := usable && now.Sub(k.fetched) < keysFresh
		bounded := !k.tried.IsZero() && now.Sub(k.tried) < fetchInterval
		switch {
		case len(found) > 0 && (fresh || bounded && k.fetching == nil):
			k.mu.Unlock()
			return found, nil
		case bounded && k.fetching == nil:
			failed, wait := k.failed, fetchInterval-now.Sub(k.tried)
			k.mu.Unlock()
			if failed != nil {
				return nil, unreachable(failed, wait)
			}
			return nil, errUnknownKey
		}
		if k.fetching == nil {
			k.fetching, k.tried = make(chan struct{}), now
			go k.fetch(context.WithoutCancel(ctx), k.fetching)
		}
		if len(found) > 0 && k.failed != nil { // The issuer was away: its keys serve, and nothing waits for it.
			k.mu.Unlock()
			return found, nil //nolint:nilerr // The failure is that of a fetch before.
		}
		done := k.fetching
		k.mu.Unlock()
		select {
		case <-done:
		case <-ctx.Done():
			return nil, unreachable(ctx.Err(), fetchInterval)
		}
	}
}

func unreachable(cause error, wait time.Duration) error {
	return &tool.Error{
		Kind: tool.Unavailable, Op: "identity.Verify", RetryAfter: max(time.Second, wait.Round(time.Second)),
		Msg: "the issuer of the token cannot be reached now, so that it cannot be verified", Err: cause,
	}
}

// fetch replaces the keys. Those there are stay where it fails.
func (k *keyring) fetch(ctx context.Context, done chan struct{}) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	keys, err := k.load(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	k.failed = err
	if err == nil {
		k.keys, k.fetched = keys, k.now()
	}
	k.fetching = nil
	close(done)
}

func (k *keyring) load(ctx context.Context) ([]jose.JSONWebKey, error) {
	at := k.url
	if at == "" {
		var document struct {
			Issuer  string `json:"issuer"`
			KeysURI string `json:"jwks_uri"`
		}
		if err := k.get(ctx, strings.TrimSuffix(k.issuer, "/")+"/.well-known/openid-configuration", &document); err != nil {
			return nil, err
		}
		if document.Issuer != k.issuer {
			return nil, fmt.Errorf("its configuration is of the issuer %.200q", document.Issuer)
		}
		if err := checkURL(document.KeysURI); err != nil {
			return nil, fmt.Errorf("its jwks_uri: %w", err)
		}
		at = document.KeysURI
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := k.get(ctx, at, &set); err != nil {
		return nil, err
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("it has %d keys; at most %d are read", len(set.Keys), maxKeys)
	}
	var keys []jose.JSONWebKey
	for _, raw := range set.Keys {
		var key jose.JSONWebKey
		if json.Unmarshal(raw, &key) == nil && signs(key) { // A key of another kind is none of those that are looked for.
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("it has no public keys for signatures")
	}
	return keys, nil
}

// get reads a JSON document of the issuer.
func (k *keyring) get(ctx context.Context, at string, into any) error {
	answer, err := k.gate.Do(ctx, egress.Access{Class: tool.EgressReadOnly}, &egress.Request{
		Method: http.MethodGet, URL: at, Header: http.Header{"Accept": {"application/json"}}, Repeatable: true,
		MaxBytes: maxDocument,
	})
	switch {
	case err != nil:
		return fmt.Errorf("getting %s: %w", at, err)
	case answer.Status != http.StatusOK:
		return fmt.Errorf("%s answers with status %d", at, answer.Status)
	case answer.Truncated:
		return fmt.Errorf("%s is larger than %d bytes", at, maxDocument)
	}
	if _, err := jsonvalue.Check(answer.Body, documentDepth); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	if err := json.Unmarshal(answer.Body, into); err != nil {
		return fmt.Errorf("%s: %w", at, err)
	}
	return nil
}

// signs reports whether a key is public and for signatures.
func signs(key jose.JSONWebKey) bool {
	if !key.Valid() || !key.IsPublic() || key.Use != "" && key.Use != "sig" {
		return false
	}
	if public, ok := key.Key.(*rsa.PublicKey); ok {
		bits := public.N.BitLen()
		return bits >= minRSABits && bits <= maxRSABits
	}
	return true
}

// fitting returns the keys of a name, or all without one, that may sign by an algorithm.
func fitting(keys []jose.JSONWebKey, kid, algorithm string) []crypto.PublicKey {
	var out []crypto.PublicKey
	for _, key := range keys {
		if (kid == "" || key.KeyID == kid) && (key.Algorithm == "" || key.Algorithm == algorithm) {
			out = append(out, key.Key)
		}
	}
	return out
}

// hostOf returns the host of a URL with its port, as operators allow hosts.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return ""
	}
	return u.Host
}
