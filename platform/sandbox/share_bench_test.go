package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/tool"
)

// attack is what a tenant does to a pool, over and over, in so many places at
// once.
type attack struct {
	name  string
	width int
	jobs  []sandbox.Job
}

// attacks are those of BenchmarkBesideAttacks.
func attacks() []attack {
	const js, wasm = sandbox.JavaScript, sandbox.WASM
	loop := sandbox.Limits{Time: sandbox.MaxLimits.Time}
	return []attack{
		{"Loops", 16, []sandbox.Job{{Language: js, Program: []byte(`export default () => { for (;;); };`), Limits: loop}}},
		{"ShortLoops", 16, []sandbox.Job{{
			Language: js, Program: []byte(`export default () => { for (;;); };`),
			Limits: sandbox.Limits{Time: 100 * time.Millisecond},
		}}},
		{
			"Memory", 16,
			[]sandbox.Job{
				{Language: js, Program: []byte(`export default () => { const a = []; for (;;) a.push([a]); };`), Limits: loop},
			},
		},
		{"Compiles", 8, []sandbox.Job{
			{Language: wasm, Program: compileBomb(), Check: true, Limits: sandbox.Limits{Memory: sandbox.MaxLimits.Memory}},
		}},
	}
}

// compileBomb is a module that takes the engine long to compile: a function with
// many variables that are all alive over many blocks.
func compileBomb() []byte {
	const variables, blocks = 400, 30_000
	body := []byte{}
	for b := range blocks {
		v := byte(b % 64)
		// if v is 0, then v+1 = v+2.
		body = append(body, 0x20, v, 0x04, 0x40, 0x20, v+1, 0x21, v+2, 0x0b)
	}
	return command{body: body, locals: variables}.assemble()
}

// run makes the attack until ctx ends.
func (a attack) run(ctx context.Context, p *sandbox.Pool) (wait func()) {
	var wg sync.WaitGroup
	for i := range a.width {
		wg.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				j := a.jobs[n%len(a.jobs)]
				j.Tenant, j.Input = "attacker", json.RawMessage("null")
				_, _ = p.Run(ctx, j) // However it ends, it begins again.
			}
		})
	}
	return wg.Wait
}

// BenchmarkBesideAttacks measures a trivial call of a tenant beside another that
// means harm. The ratio is that of the median to the median of the same call
// alone, measured just before. The slowest first call is of 20 tenants that come
// during the attack.
func BenchmarkBesideAttacks(b *testing.B) {
	exe, err := os.Executable()
	require.NoError(b, err)
	for _, a := range attacks() {
		b.Run(a.name, func(b *testing.B) {
			p, err := sandbox.New(sandbox.Config{Command: []string{exe, "sandbox"}})
			require.NoError(b, err)
			defer func() { _ = p.Close() }()
			once := func(tenant tool.TenantID) time.Duration {
				began := time.Now()
				out, err := p.Run(b.Context(), sandbox.Job{
					Tenant: tenant, Language: sandbox.JQ, Program: []byte(".a + 1"), Input: json.RawMessage(`{"a":1}`),
					Limits: sandbox.Limits{Time: sandbox.MaxLimits.Time},
				})
				require.NoError(b, err)
				require.Equal(b, "[2]", string(out.Output))
				return time.Since(began)
			}
			once("quiet")
			alone := make([]time.Duration, 0, 2000)
			for began := time.Now(); time.Since(began) < 5*time.Second && len(alone) < cap(alone); time.Sleep(time.Millisecond) {
				alone = append(alone, once("quiet"))
			}
			ctx, stop := context.WithCancel(b.Context())
			wait := a.run(ctx, p)
			for p.Stats().Waiting == 0 { // Until the attacker has all that it gets.
				time.Sleep(time.Millisecond)
			}
			beside := make([]time.Duration, 0, 4096)
			for b.Loop() {
				beside = append(beside, once("quiet"))
				time.Sleep(time.Millisecond)
			}
			first := make([]time.Duration, 0, 20)
			for i := range cap(first) { // Each starts a child.
				first = append(first, once(tool.TenantID(fmt.Sprintf("new %d", i))))
			}
			stop()
			wait()
			slices.Sort(alone)
			slices.Sort(beside)
			slices.Sort(first)
			b.ReportMetric(float64(beside[len(beside)/2])/float64(alone[len(alone)/2]), "p50-ratio")
			b.ReportMetric(float64(beside[len(beside)*99/100].Microseconds())/1000, "p99-ms")
			b.ReportMetric(float64(first[len(first)-1].Microseconds())/1000, "slowest-first-call-ms")
			b.ReportMetric(float64(alone[len(alone)/2].Microseconds())/1000, "alone-p50-ms")
			b.ReportMetric(float64(alone[len(alone)*99/100].Microseconds())/1000, "alone-p99-ms")
		})
	}
}
