package httpcall

import (
	"context"
	"crypto/sha256"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Limits of the token cache.
const (
	maxTokens   = 1024
	tokenSkew   = 30 * time.Second // Tokens are not used this close to their expiry.
	tokenAge    = 5 * time.Minute  // Of tokens without an expiry.
	maxTokenAge = time.Hour
)

// tokens caches access tokens until they expire, one for each grant. It is safe
// for concurrent use: concurrent requests for the same token are sent once.
type tokens struct {
	now   func() time.Time
	waits func() // Called for each call that waits for another's request; may be nil.

	mu   sync.Mutex
	kept map[tokenKey]*keptToken
}

// tokenKey is the cache key of a grant. Tokens are shared neither between tenants
// nor between values of one credential.
type tokenKey struct {
	tenant                      tool.TenantID
	ref                         string
	credential                  [sha256.Size]byte
	url, scopes, audience, auth string
}

func (g *grant) key() tokenKey {
	return tokenKey{
		g.access.Tenant, g.auth.CredentialsRef, sha256.Sum256([]byte(g.credential.Reveal())),
		g.auth.TokenURL, strings.Join(g.auth.Scopes, " "), g.auth.Audience, g.auth.ClientAuth,
	}
}

// keptToken is a cached token, and the lock of its request.
type keptToken struct {
	turn chan struct{} // Full while a request is in flight.

	mu    sync.Mutex
	text  string
	until time.Time
	asked int         // Number of requests that ended.
	err   *tool.Error // Of the last request that failed.
}

func newTokens() *tokens { return &tokens{now: time.Now, kept: make(map[tokenKey]*keptToken)} }

// get returns the grant's token, requesting one unless it is cached. A caller that
// waited for a request that failed gets the same failure, so that a rejected client
// does not send one request for each of its calls.
func (t *tokens) get(ctx context.Context, g *grant) (string, error) {
	k := t.entry(g.key())
	text, asked := k.read(t.now())
	if text != "" {
		return text, nil
	}
	if err := t.wait(ctx, k); err != nil {
		return "", err
	}
	defer func() { <-k.turn }()
	text, again := k.read(t.now())
	if text != "" {
		return text, nil
	}
	if err := k.failure(); err != nil && again != asked {
		return "", err
	}
	a, err := g.ask(ctx)
	if err != nil {
		if ctx.Err() == nil { // The end of this call is not a failure of the others.
			k.fail(tool.AsError(err))
		}
		return "", err
	}
	k.keep(a, t.now())
	return a.text, nil
}

// wait acquires the lock of the request. The caller releases it.
func (t *tokens) wait(ctx context.Context, k *keptToken) error {
	select {
	case k.turn <- struct{}{}:
		return nil
	default:
	}
	if t.waits != nil {
		t.waits()
	}
	select {
	case k.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ended(ctx)
	}
}

// drop removes a rejected token, unless it was replaced already.
func (t *tokens) drop(g *grant, text string) {
	k := t.entry(g.key())
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.text == text {
		k.text = ""
	}
}

// entry returns the cache entry of a token, evicting another if necessary.
func (t *tokens) entry(key tokenKey) *keptToken {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := t.kept[key]
	if k == nil {
		t.makeRoom()
		k = &keptToken{turn: make(chan struct{}, 1)}
		t.kept[key] = k
	}
	return k
}

// makeRoom evicts expired tokens or, if there are none, an arbitrary one.
func (t *tokens) makeRoom() {
	if len(t.kept) < maxTokens {
		return
	}
	for key, k := range t.kept {
		if text, _ := k.read(t.now()); text == "" {
			delete(t.kept, key)
		}
	}
	for key := range t.kept {
		if len(t.kept) < maxTokens {
			return
		}
		delete(t.kept, key)
	}
}

// read returns the token while it is valid, and the number of requests that ended.
func (k *keptToken) read(now time.Time) (string, int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if now.Before(k.until) {
		return k.text, k.asked
	}
	return "", k.asked
}

func (k *keptToken) failure() *tool.Error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.err
}

func (k *keptToken) fail(err *tool.Error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.err = err
	k.asked++
}

func (k *keptToken) keep(a answeredToken, now time.Time) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.text, k.until, k.err = a.text, now.Add(a.age-tokenSkew), nil
	k.asked++
}
