package sandbox_test

import (
	"context"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// BenchmarkWarm measures calls whose child is there and knows the program, from
// the pool's side: the median, and the slowest of a hundred.
func BenchmarkWarm(b *testing.B) {
	const input = `{"lines": [{"sku": "TEAPOT-BLUE", "quantity": 10, "unit_cents": 2450}], "tax_percent": 20}`
	for _, of := range []struct {
		name    string
		job     sandbox.Job
		program func(testing.TB) []byte
	}{
		{"JQ", sandbox.Job{Language: sandbox.JQ, Program: []byte(`[.lines[] | .quantity * .unit_cents] | add`)}, nil},
		{
			"JavaScript",
			sandbox.Job{
				Language: sandbox.JavaScript,
				Program:  []byte(`export default ({lines}) => lines.reduce((sum, l) => sum + l.quantity * l.unit_cents, 0);`),
			},
			nil,
		},
		{
			"WASM",
			sandbox.Job{Language: sandbox.WASM, Limits: sandbox.Limits{Time: sandbox.MaxLimits.Time, Memory: 512 << 20}},
			goCommand,
		},
	} {
		b.Run(of.name, func(b *testing.B) {
			exe, err := os.Executable()
			require.NoError(b, err)
			p, err := sandbox.New(sandbox.Config{Command: []string{exe, "sandbox"}})
			require.NoError(b, err)
			defer func() { _ = p.Close() }()
			job := of.job
			job.Tenant, job.Input = "tenant", []byte(input)
			if of.program != nil {
				job.Program = of.program(b)
			}
			once := func() {
				_, err := p.Run(context.WithoutCancel(b.Context()), job)
				require.NoError(b, err)
			}
			once()
			took := make([]time.Duration, 0, 1024)
			for b.Loop() {
				began := time.Now()
				once()
				took = append(took, time.Since(began))
			}
			slices.Sort(took)
			b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
			b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
		})
	}
}
