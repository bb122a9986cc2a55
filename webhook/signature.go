package webhook

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Headers of requests to webhooks.
const (
	IDHeader        = "Webhook-Id"
	TimestampHeader = "Webhook-Timestamp" // Seconds since 1970, of the attempt.
	SignatureHeader = "Webhook-Signature" // One or more signatures, separated by spaces.
)

// DefaultTolerance is how far the timestamp of a request may be from the receiver's clock.
const DefaultTolerance = 5 * time.Minute

const (
	secretPrefix     = "whsec_"
	secretBytes      = 32 // Standard Webhooks wants 24 to 64.
	signatureVersion = "v1,"
	maxSignatures    = 10
)

// ErrSignature is in the chain of errors of requests that are not signed by any of the secrets.
var ErrSignature = errors.New("the request is not signed by the webhook's secret")

// ErrTimestamp is in the chain of errors of requests that were signed too long ago.
var ErrTimestamp = errors.New("the request's timestamp is not within the tolerance")

// NewSecret returns a random secret, in the form of Standard Webhooks: whsec_ and base64.
func NewSecret() string {
	raw := make([]byte, secretBytes)
	_, _ = rand.Read(raw) // It never fails.
	return secretPrefix + base64.StdEncoding.EncodeToString(raw)
}

// keyOf returns the key of a secret.
func keyOf(secret string) ([]byte, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, secretPrefix))
	if err != nil || len(key) == 0 {
		return nil, errors.New("a webhook's secret is whsec_ and base64") // Without the cause, which may quote it.
	}
	return key, nil
}

func mac(key []byte, id, timestamp string, body []byte) []byte {
	h := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(h, "%s.%s.", id, timestamp) // Hashes never fail.
	_, _ = h.Write(body)
	return h.Sum(nil)
}

// Sign returns the value of [SignatureHeader]: one signature for each secret.
func Sign(id string, at time.Time, body []byte, secrets ...string) (string, error) {
	signatures := make([]string, len(secrets))
	for i, secret := range secrets {
		key, err := keyOf(secret)
		if err != nil {
			return "", err
		}
		sum := mac(key, id, strconv.FormatInt(at.Unix(), 10), body)
		signatures[i] = signatureVersion + base64.StdEncoding.EncodeToString(sum)
	}
	return strings.Join(signatures, " "), nil
}

// Verify checks that a request is signed by one of the secrets, and was so no longer than the
// tolerance ago; zero for [DefaultTolerance]. It compares in constant time. It fails with
// [ErrSignature] or [ErrTimestamp].
func Verify(h http.Header, body []byte, now time.Time, tolerance time.Duration, secrets ...string) error {
	id, timestamp := h.Get(IDHeader), h.Get(TimestampHeader)
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	if id == "" || err != nil || h.Get(SignatureHeader) == "" {
		return fmt.Errorf("%w: it lacks %s, %s or %s", ErrSignature, IDHeader, TimestampHeader, SignatureHeader)
	}
	if !signed(h.Get(SignatureHeader), id, timestamp, body, secrets) {
		return ErrSignature
	}
	if tolerance <= 0 {
		tolerance = DefaultTolerance
	}
	if age := now.Sub(time.Unix(seconds, 0)); age > tolerance || age < -tolerance {
		return fmt.Errorf("%w: it is %s old", ErrTimestamp, age.Round(time.Second))
	}
	return nil
}

// signed reports whether a header has a signature by one of the secrets.
func signed(header, id, timestamp string, body []byte, secrets []string) bool {
	given := strings.Fields(header)
	for _, secret := range secrets {
		key, err := keyOf(secret)
		if err != nil {
			continue
		}
		want := mac(key, id, timestamp, body)
		for _, s := range given[:min(len(given), maxSignatures)] {
			text, ok := strings.CutPrefix(s, signatureVersion)
			got, err := base64.StdEncoding.DecodeString(text)
			if ok && err == nil && hmac.Equal(got, want) {
				return true
			}
		}
	}
	return false
}
