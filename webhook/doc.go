// Package webhook is the vocabulary and the use cases of outgoing webhooks: where events of a
// tenant are sent, which events, how requests are signed, and what became of each delivery.
//
// Requests follow the Standard Webhooks specification
// (https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md):
// the headers webhook-id, webhook-timestamp and webhook-signature, and a symmetric signature,
// HMAC-SHA256 over id, timestamp and body. See [Sign] and [Verify].
//
// [Service] creates and changes webhooks; package deliver sends. This package knows neither HTTP
// nor SQL.
package webhook
