package dev

import (
	"crypto/rand"
	"crypto/subtle"
	"sync"
)

// oneTime is a code that stands for a key once.
type oneTime struct {
	code string

	mu  sync.Mutex
	key string // Empty once it was used.
}

func newOneTime(key string) *oneTime { return &oneTime{code: rand.Text(), key: key} }

// redeem returns the key for the code, and for nothing afterwards.
func (o *oneTime) redeem(code string) (string, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.key == "" || subtle.ConstantTimeCompare([]byte(code), []byte(o.code)) != 1 {
		return "", false
	}
	key := o.key
	o.key = ""
	return key, true
}
