package e2e_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	v1 "github.com/toolcrib/toolcrib/platform/api/v1"
	platformclient "github.com/toolcrib/toolcrib/platform/client"
	"github.com/toolcrib/toolcrib/tool"
)

// Variables that make the test of endurance longer, and play a seed again.
const (
	enduranceVariable = "TOOLCRIB_ENDURANCE"      // How long there is trouble, 10m say.
	seedVariable      = "TOOLCRIB_ENDURANCE_SEED" // What its log named.
)

// Runs go on while versions are published over them, tools disabled under
// them, and servers and workers stopped and killed. When the trouble is over,
// everything that was promised has ended, once, and all records agree.
func TestEndurance(t *testing.T) {
	t.Parallel()
	trouble, seed := 15*time.Second, rand.Uint64()
	var err error
	if text := os.Getenv(enduranceVariable); text != "" {
		trouble, err = time.ParseDuration(text)
		require.NoError(t, err)
	}
	if text := os.Getenv(seedVariable); text != "" {
		seed, err = strconv.ParseUint(text, 10, 64)
		require.NoError(t, err)
	}
	t.Logf("%s=%d", seedVariable, seed)
	p := newPlant(t)
	ctx, over := context.WithTimeout(t.Context(), trouble)
	defer over()
	var drivers sync.WaitGroup
	for i := range 6 {
		drivers.Go(func() { p.drive(ctx, rand.New(rand.NewPCG(seed, uint64(i)))) })
	}
	p.disturb(ctx, rand.New(rand.NewPCG(seed, 100)))
	drivers.Wait()
	for slug := range kinds {
		require.NoError(t, p.enable(t.Context(), slug))
	}
	p.check()
}

// errand is something that a driver does.
type errand struct {
	weight int
	do     func(*plant, context.Context, *rand.Rand) error
}

var errands = []errand{
	{30, (*plant).runLong},
	{20, (*plant).runBrief},
	{15, (*plant).callTwice},
	{10, func(p *plant, ctx context.Context, _ *rand.Rand) error { return p.apply(ctx) }},
	{10, (*plant).disable},
	{15, (*plant).cancel},
}

// drive does one thing after another until ctx ends. What a server that is
// being restarted refuses is not asked for again.
func (p *plant) drive(ctx context.Context, dice *rand.Rand) {
	for ctx.Err() == nil {
		n := dice.IntN(100)
		for _, e := range errands {
			if n -= e.weight; n >= 0 {
				continue
			}
			// What was begun is finished, so that nobody hangs up on a server.
			if err := e.do(p, context.WithoutCancel(ctx), dice); err != nil && tool.KindOf(err) == tool.InternalError {
				p.t.Error(err)
			}
			break
		}
		select {
		case <-time.After(time.Duration(20+dice.IntN(200)) * time.Millisecond):
		case <-ctx.Done():
		}
	}
}

func (p *plant) runLong(ctx context.Context, _ *rand.Rand) error  { return p.run(ctx, "long") }
func (p *plant) runBrief(ctx context.Context, _ *rand.Rand) error { return p.run(ctx, "brief") }

func (p *plant) run(ctx context.Context, name string) error {
	run, err := p.client().StartRun(ctx, v1.NewRun{Agent: name, Input: []byte(`"go"`)})
	if err == nil {
		p.acknowledge(run.ID)
	}
	return err
}

// callTwice makes a call that must not be made twice, and asks for it twice.
func (p *plant) callTwice(ctx context.Context, dice *rand.Rand) error {
	in := v1.NewCall{ID: fmt.Sprintf("call-%x", dice.Uint64()), Arguments: []byte(`{"q":"x"}`), WaitS: new(float64)}
	first, err := p.client().CallTool(ctx, "sendIt", in)
	if err != nil {
		return err
	}
	p.acknowledge(first.RunID)
	again, err := p.client().CallTool(ctx, "sendIt", in)
	if err == nil && again.RunID != first.RunID {
		p.t.Errorf("the call %s was made twice: %s and %s", in.ID, first.RunID, again.RunID)
	}
	return err
}

// disable takes a tool away for a moment.
func (p *plant) disable(ctx context.Context, dice *rand.Rand) error {
	slug := []string{"readIt", "putIt", "sendIt"}[dice.IntN(3)]
	if _, err := p.client().SetTool(ctx, slug, platformclient.Disable); err != nil {
		return err
	}
	if err := p.run(ctx, "long"); err != nil {
		return err
	}
	return p.enable(ctx, slug)
}

func (p *plant) enable(ctx context.Context, slug string) error {
	_, err := p.client().SetTool(ctx, slug, platformclient.Enable)
	if tool.KindOf(err) == tool.Conflict { // It is.
		return nil
	}
	return err
}

// cancel cancels one of the last runs. It may have ended.
func (p *plant) cancel(ctx context.Context, dice *rand.Rand) error {
	runs := p.promised()
	if len(runs) == 0 {
		return nil
	}
	_, err := p.client().CancelRun(ctx, runs[len(runs)-1-dice.IntN(min(len(runs), 6))])
	return err
}

// disturb restarts the server and the workers until ctx ends: asked to stop
// and killed by turns.
func (p *plant) disturb(ctx context.Context, dice *rand.Rand) {
	signals := []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL}
	for i := 0; ctx.Err() == nil; i++ {
		switch victim := i % 3; victim {
		case 2:
			p.server.end(p.t, signals[i/3%2])
			p.startServer()
		default:
			p.workers[victim].end(p.t, signals[(i+i/3)%2])
			p.startWorker(victim)
		}
		select {
		case <-time.After(time.Duration(200+dice.IntN(800)) * time.Millisecond):
		case <-ctx.Done():
		}
	}
}
