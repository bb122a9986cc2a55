package encoded_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"

	"github.com/toolcrib/toolcrib/internal/encoded"
)

// texts returns texts of so many bytes, of the kinds that tools answer.
func texts(size int) map[string]string {
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields(`The order of the customer was shipped from Rotterdam to https://shop.example/orders?page=2&sort=asc and
		<b>arrives</b> "tomorrow", id 0198c2f4-6d1e-7c3a-9b52-4f1c9e7a2b10 with total: 12.50 € on 2026-04-01T10:30:00Z`)
	var prose strings.Builder
	for prose.Len() < size {
		prose.WriteString(words[r.IntN(len(words))] + pick(r, " ", " ", " ", "\n"))
	}
	english := prose.String()[:size]
	quoted, err := json.Marshal(html.EscapeString(english))
	if err != nil {
		panic(err)
	}
	blob := make([]byte, size)
	for i := range blob {
		blob[i] = byte(r.Uint32())
	}
	return map[string]string{
		"prose":          english,
		"HTML in JSON":   string(quoted[:size]),
		"form":           url.QueryEscape(english)[:size],
		"image":          base64.StdEncoding.EncodeToString(blob)[:size],
		"text in base64": base64.StdEncoding.EncodeToString([]byte(english))[:size],
		"hexadecimal":    hex.EncodeToString(blob)[:size],
		"hostile":        strings.Repeat(`%2541\u0026amp;41JTQxQQ`, size/20)[:size],
	}
}

func secrets(n int) []string {
	r := rand.New(rand.NewPCG(3, 4))
	all := make([]string, n)
	for i := range all {
		all[i] = password(r) + password(r)
	}
	return all
}

// BenchmarkFind searches 90 KB for 20 secrets.
func BenchmarkFind(b *testing.B) {
	set := encoded.NewSet(4, secrets(20)...)
	for name, text := range texts(90 << 10) {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			raw := []byte(text)
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				set.Find(raw)
			}
		})
	}
}

// BenchmarkNewSet prepares to search for 20 secrets.
func BenchmarkNewSet(b *testing.B) {
	all := secrets(20)
	for b.Loop() {
		encoded.NewSet(4, all...)
	}
}
