package httpcall

import (
	"context"
	"crypto/sha256"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/tool"
)

// Limits of the tokens kept.
const (
	maxTokens   = 1024
	tokenSkew   = 30 * time.Second // A token is not used so close to its end.
	tokenAge    = 5 * time.Minute  // Of tokens that do not say when they end.
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

// tokenKey is the cache key of a grant. Tenants never share a token, nor do two
// values of one credential.
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

// keptToken is a token, and a turn to ask for it.
type keptToken struct {
	turn chan struct{} // Full while a request is in flight.

	mu    sync.Mutex
	text  string
	until time.Time
	asked int         // How often an answer came, good or bad.
	err   *tool.Error // The last one that was bad.
}

func newTokens() *tokens { return &tokens{now: time.Now, kept: make(map[tokenKey]*keptToken)} }

// get returns the grant's token, requesting one where none is cached. A caller
// that waited while another's request failed gets the same failure: a refused
// client does not send one request for each of its calls.
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
		if ctx.Err() == nil { // An end of this call says nothing about others.
			k.fail(tool.AsError(err))
		}
		return "", err
	}
	k.keep(a, t.now())
	return a.text, nil
}

// wait returns when it is the call's turn to ask, which it gives back.
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

// drop forgets a token that was not accepted, unless another has its place.
func (t *tokens) drop(g *grant, text string) {
	k := t.entry(g.key())
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.text == text {
		k.text = ""
	}
}

// entry returns the place of a token, making room where there is none.
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

// makeRoom drops tokens that have ended and, if all are alive, any one.
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

// read returns the token while it lasts, and how often was asked for one.
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
