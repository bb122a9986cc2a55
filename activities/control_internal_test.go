package activities

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/agent"
	"github.com/toolcrib/toolcrib/loop"
	"github.com/toolcrib/toolcrib/tool"
)

// fakeRequests is a record of requests on a listener that the test is.
type fakeRequests struct {
	mu       sync.Mutex
	requests map[string]string
	rounds   map[string]agent.PauseRound
	broken   error // If set, reads fail with it.
	reads    int
	listened int
	woken    func(tenant tool.TenantID, runID string)
	fail     chan error // Ends the listener.
}

func (f *fakeRequests) ListenControl(ctx context.Context, woken func(tenant tool.TenantID, runID string)) error {
	f.mu.Lock()
	f.woken = woken
	f.listened++
	f.mu.Unlock()
	woken("", "")
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-f.fail:
		return err
	}
}

func (f *fakeRequests) Requests(
	_ context.Context, _ tool.TenantID, runIDs []string,
) (map[string]agent.Requests, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads++
	if f.broken != nil {
		return nil, f.broken
	}
	found := map[string]agent.Requests{}
	for _, id := range runIDs {
		if execution, ok := f.requests[id]; ok {
			found[id] = agent.Requests{CancelExecution: execution, Pause: f.rounds[id]}
		}
	}
	return found, nil
}

// count returns how often requests were read.
func (f *fakeRequests) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.reads
}

// request records a request without waking anyone.
func (f *fakeRequests) request(run, execution string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests[run] = execution
}

// control runs a control in the test's bubble.
func control(t *testing.T) (*fakeRequests, *Control) {
	t.Helper()
	f := &fakeRequests{requests: map[string]string{}, rounds: map[string]agent.PauseRound{}, fail: make(chan error)}
	c := NewControl(f, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		c.Run(ctx)
	}()
	t.Cleanup(func() {
		cancel()
		<-done
	})
	synctest.Wait()
	return f, c
}

// counted watches a run, and counts its cancellations.
func counted(c *Control, run, execution string) (cancelled *int, stop func()) {
	cancelled = new(int)
	_, stop = c.watch(runKey{"tenant", run}, execution, func() { *cancelled++ })
	return cancelled, stop
}

// A wake-up cancels the activities of the execution that is to stop, and nothing else is
// even read.
func TestControlCancels(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, c := control(t)
		ours, stop := counted(c, "run", "now")
		earlier, stopEarlier := counted(c, "run", "before the reset")
		other, stopOther := counted(c, "other", "now")
		defer stopEarlier()
		defer stopOther()
		f.request("run", "now")
		f.request("other", "now")
		f.woken("tenant", "not here")
		synctest.Wait()
		require.Zero(t, f.count())
		f.woken("tenant", "run")
		synctest.Wait()
		require.Equal(t, []int{1, 0, 0}, []int{*ours, *earlier, *other})
		stop()
		f.woken("tenant", "run")
		synctest.Wait()
		require.Equal(t, []int{1, 0, 0}, []int{*ours, *earlier, *other})
	})
}

// An activity learns of the rounds of its run, also of one that came while it was on its way,
// and keeps the highest.
func TestControlPauses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, c := control(t)
		f.request("run", "")
		f.rounds["run"] = 1
		f.woken("tenant", "run")
		synctest.Wait()
		require.Zero(t, f.count(), "no activity watches")
		w, stop := c.watch(runKey{"tenant", "run"}, "now", func() { t.Error("it is not cancelled") })
		synctest.Wait()
		require.True(t, w.pause().Paused())
		f.rounds["run"] = 2
		f.woken("tenant", "run")
		synctest.Wait()
		require.Equal(t, agent.PauseRound(2), w.pause())
		c.pause(t.Context(), runKey{"tenant", "run"}, 1)
		require.False(t, w.pause().Paused(), "a row that was read before")
		stop()

		reads := f.count()
		_, stop = c.watch(runKey{"tenant", "run"}, "now", func() {})
		synctest.Wait()
		require.Equal(t, reads, f.count(), "nothing came meanwhile")
		stop()
		w, stop = c.watch(runKey{"tenant", "run"}, "now", func() {})
		c.catchUp(t.Context(), runKey{"tenant", "run"})
		require.Equal(t, agent.PauseRound(2), w.pause(), "an attempt after a lost one has what came before")
		stop()
		require.Zero(t, (*watch)(nil).pause())
	})
}

// An attempt that cannot read what was asked before it began has it as soon as that can be read.
func TestControlCatchesUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, c := control(t)
		cancelled, stop := counted(c, "run", "now")
		defer stop()
		f.request("run", "now")
		f.broken = errors.New("down")
		c.catchUp(t.Context(), runKey{"tenant", "run"})
		require.Zero(t, *cancelled)
		f.mu.Lock()
		f.broken = nil
		f.mu.Unlock()
		time.Sleep(2 * requestPause)
		synctest.Wait()
		require.Equal(t, 1, *cancelled)
	})
}

// A listener that fails is started again, and what came meanwhile is not lost.
func TestControlListensAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, c := control(t)
		cancelled, stop := counted(c, "run", "now")
		defer stop()
		f.fail <- errors.New("the connection is gone")
		f.request("run", "now")
		time.Sleep(minListenPause + time.Millisecond)
		synctest.Wait()
		require.Equal(t, 2, f.listened)
		require.Equal(t, 1, *cancelled)
	})
}

// Requests that cannot be read are read again; many wake-ups cost few reads.
func TestControlReadsAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f, c := control(t)
		cancelled, stop := counted(c, "run", "now")
		defer stop()
		f.request("run", "now")
		f.broken = errors.New("down")
		for range 1000 {
			f.woken("tenant", "run")
		}
		time.Sleep(10 * requestPause)
		require.LessOrEqual(t, f.count(), 12)
		f.mu.Lock()
		f.broken = nil
		f.mu.Unlock()
		time.Sleep(2 * requestPause)
		synctest.Wait()
		require.Equal(t, 1, *cancelled)
	})
}

// rows are runs of which one row is read.
type rows struct {
	agent.Runs

	run agent.Run
}

func (r rows) FindRun(context.Context, tool.TenantID, string) (agent.Run, error) { return r.run, nil }

func (r rows) OpenTurn(context.Context, tool.TenantID, string, string, string) (agent.OpenTurn, error) {
	return agent.OpenTurn{Run: r.run}, nil
}

// rowJournal is a journal of one run.
type rowJournal struct {
	run agent.Run
}

func (j rowJournal) Begin(context.Context, agent.Run, string) (agent.Run, *agent.OpenTurn, error) {
	return j.run, nil, nil
}

func (j rowJournal) Record(_ context.Context, r loop.Record) (done loop.Recorded, err error) {
	if r.Ask != nil {
		done.Open = &agent.OpenTurn{Run: j.run}
	}
	return done, nil
}

// A request from before the activity began is seen when the run's row is read.
func TestControlSeesEarlierRequests(t *testing.T) {
	t.Parallel()
	c := NewControl(&fakeRequests{}, slog.New(slog.DiscardHandler))
	run := agent.Run{Tenant: "tenant", ID: "run", CancelExecution: "now"}
	now, stopNow := counted(c, "run", "now")
	later, stopLater := counted(c, "run", "after the reset")
	defer stopNow()
	defer stopLater()
	runs := watchedRuns{Runs: rows{run: run}, control: c}
	_, err := runs.FindRun(t.Context(), "tenant", "run")
	require.NoError(t, err)
	require.Equal(t, []int{1, 0}, []int{*now, *later})
	_, err = runs.OpenTurn(t.Context(), "tenant", "run", "head", "key")
	require.NoError(t, err)
	require.Equal(t, []int{2, 0}, []int{*now, *later})
	journal := watchedJournal{Journal: rowJournal{run: run}, runs: runs}
	_, _, err = journal.Begin(t.Context(), run, "key")
	require.NoError(t, err)
	require.Equal(t, []int{3, 0}, []int{*now, *later})
	_, err = journal.Record(t.Context(), loop.Record{})
	require.NoError(t, err)
	require.Equal(t, []int{3, 0}, []int{*now, *later}, "no turn was opened")
	_, err = journal.Record(t.Context(), loop.Record{Ask: &loop.Question{}})
	require.NoError(t, err)
	require.Equal(t, []int{4, 0}, []int{*now, *later})
	runs.Runs = rows{run: agent.Run{Tenant: "tenant", ID: "run"}}
	_, err = runs.FindRun(t.Context(), "tenant", "run")
	require.NoError(t, err)
	require.Equal(t, 4, *now)
}
