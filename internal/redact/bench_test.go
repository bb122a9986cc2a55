package redact_test

import (
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/redact"
)

// BenchmarkText judges 90 KB of text that holds no secret.
func BenchmarkText(b *testing.B) {
	lines := map[string]string{
		"prose": "The order was shipped from Rotterdam and arrives tomorrow: id 0198c2f4-6d1e-7c3a, total 12.50 EUR, see " +
			"https://shop.example/orders?page=2 .\n",
		"log": `time=2026-04-01T10:30:00Z level=INFO msg="request done" method=GET path=/v1/orders status=200 duration_ms=12` + "\n",
	}
	for name, line := range lines {
		text := strings.Repeat(line, (90<<10)/len(line))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				redact.Text(text)
			}
		})
	}
}
