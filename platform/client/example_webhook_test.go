package client_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/webhook"
)

// receive returns a handler for the requests of a webhook.
func receive(secret string) http.HandlerFunc {
	verifier := client.WebhookVerifier{Secrets: []string{secret}}
	var seen sync.Map // Keep the ids in a database, so that they outlast the process.
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, "too large", http.StatusRequestEntityTooLarge)
			return
		}
		message, err := verifier.Verify(r.Header, body)
		if err != nil {
			http.Error(w, "not signed", http.StatusUnauthorized)
			return
		}
		if _, again := seen.LoadOrStore(message.ID, true); !again {
			fmt.Println(message.Type)
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

// A receiver takes signed requests only, and each message once.
func ExampleWebhookVerifier() {
	const secret, body = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", `{"id":"m1","type":"run.failed","data":{}}`
	handler := receive(secret)
	send := func(signed string) {
		r := httptest.NewRequest(http.MethodPost, "/hooks", strings.NewReader(body))
		signature, _ := webhook.Sign("m1", time.Now(), []byte(body), signed)
		r.Header.Set(webhook.IDHeader, "m1")
		r.Header.Set(webhook.TimestampHeader, strconv.FormatInt(time.Now().Unix(), 10))
		r.Header.Set(webhook.SignatureHeader, signature)
		w := httptest.NewRecorder()
		handler(w, r)
		fmt.Println(w.Code)
	}
	send(secret)
	send(secret)
	send(webhook.NewSecret())
	// Output:
	// run.failed
	// 204
	// 204
	// 401
}
