package sandbox_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/tool"
)

// TestMain lets the test's binary be a child as well, one whose programs say
// how it is to behave.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && strings.HasPrefix(os.Args[1], "sandbox") {
		os.Exit(misbehave(os.Args[1])) //nolint:forbidigo // It is a main.
	}
	m.Run()
}

func say(t sandbox.Type, data string) {
	_ = sandbox.WriteFrame(os.Stdout, sandbox.Frame{Type: t, Data: []byte(data)})
}

// misbehave serves programs such as "echo", "hang" and "die".
func misbehave(how string) int {
	if how == "sandbox-mute" {
		fmt.Fprintln(os.Stderr, "no fence")
		return 0
	}
	if how == "sandbox-slow" {
		_, _ = io.Copy(io.Discard, os.Stdin)
		return 0
	}
	say(sandbox.ReadyFrame, strings.TrimPrefix(how, "sandbox"))
	in := bufio.NewReader(os.Stdin)
	known := map[string]string{}
	for {
		f, err := sandbox.ReadFrame(in)
		if err != nil {
			return 0
		}
		var o sandbox.Order
		_ = json.Unmarshal(f.Data, &o)
		if o.Program {
			f, _ = sandbox.ReadFrame(in)
			known[o.Digest] = string(f.Data)
		}
		input, _ := sandbox.ReadFrame(in)
		program := known[o.Digest]
		if latch, ok := strings.CutPrefix(program, "await "); ok {
			if f, err := os.Open(latch); err == nil { // It opens when somebody opens the other end.
				_ = f.Close()
			}
			say(sandbox.ResultFrame, "1")
			continue
		}
		switch program {
		case "":
			say(sandbox.WantFrame, "")
		case "echo":
			say(sandbox.PrintFrame, "hello ")
			say(sandbox.PrintFrame, "\xff")
			say(sandbox.ResultFrame, string(input.Data))
		case "pid":
			say(sandbox.ResultFrame, fmt.Sprintf(`{"pid":%d,"env":%d,"args":%d}`, os.Getpid(), len(os.Environ()), len(os.Args)))
		case "forget":
			clear(known)
			say(sandbox.ResultFrame, "1")
		case "hang":
			select {}
		case "die":
			return 3
		case "panic":
			fmt.Fprintln(os.Stderr, "panic: at line 7 of /secret/path")
			return 2
		case "memory":
			fmt.Fprintln(os.Stderr, "fatal error: runtime: out of memory")
			return 2
		case "stack":
			fmt.Fprintln(os.Stderr, "runtime: goroutine stack exceeds 1000000000-byte limit\nfatal error: stack overflow")
			return 2
		case "false words": // As a panic prints a text of several lines.
			fmt.Fprintln(
				os.Stderr, "panic: error: out of memory, cannot allocate memory, stack exceeds\n\tfatal error: stack overflow",
			)
			return 2
		case "false class":
			say(
				sandbox.ErrorFrame,
				`{"class":"unheard of","msg":"no\u0000 \u001b[31msuch\u0085 order `+strings.Repeat("é", 4000)+`"}`,
			)
		case "nul":
			say(sandbox.ResultFrame, `{"a\u0000":1,"a\ufffd":2}`)
		case "surrogate":
			say(sandbox.ResultFrame, `["\ud83d\ude00", "\ud83d!"]`)
		case "bytes":
			say(sandbox.ResultFrame, "\"\xff\"")
		case "text":
			say(sandbox.ResultFrame, `"\\u0000 \ud83d\ude00 \\ud83d"`)
		case "burn":
			burn(1200 * time.Millisecond)
			say(sandbox.ResultFrame, "1")
		case "burn for ever":
			burn(time.Hour)
		case "nice":
			raw, _ := syscall.Getpriority(syscall.PRIO_PROCESS, 0)
			say(sandbox.ResultFrame, strconv.Itoa(20-raw)) // As the system call has it.
		case "fail":
			say(sandbox.ErrorFrame, `{"class":"failed","msg":"no such order"}`)
		case "garbage":
			_, _ = os.Stdout.WriteString("\xff\xff\xff\xffnonsense")
			select {}
		case "unknown":
			say('?', "")
		case "no JSON":
			say(sandbox.ResultFrame, "nonsense")
		case "large":
			say(sandbox.ResultFrame, `"`+strings.Repeat("x", 5<<20)+`"`)
		case "deep":
			say(sandbox.ResultFrame, strings.Repeat("[", 1000)+strings.Repeat("]", 1000))
		case "flood":
			for {
				say(sandbox.PrintFrame, strings.Repeat("x", 1<<16))
			}
		}
	}
}

// burn uses so much processor time.
func burn(d time.Duration) {
	began := cpu()
	for cpu()-began < d {
		runtime.Gosched()
	}
}

// cpu returns the processor time of this process.
func cpu() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func newPool(t *testing.T, change ...func(*sandbox.Config)) *sandbox.Pool {
	t.Helper()
	exe, err := os.Executable()
	require.NoError(t, err)
	cfg := sandbox.Config{Command: []string{exe, "sandbox"}, Children: 2}
	for _, fn := range change {
		fn(&cfg)
	}
	p, err := sandbox.New(cfg)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func job(tenant tool.TenantID, program string) sandbox.Job {
	return sandbox.Job{
		Tenant: tenant, Language: sandbox.JQ, Program: []byte(program), Input: json.RawMessage(`{"a":1}`),
		Limits: sandbox.Limits{Time: sandbox.MaxLimits.Time},
	}
}

// A program's own failures are told from the sandbox's, and none of them hurts
// the next run.
func TestEnds(t *testing.T) { //nolint:tparallel // Its cases follow one another.
	t.Parallel()
	p := newPool(t)
	for _, tt := range []struct { //nolint:paralleltest // One follows the other.
		program string
		class   sandbox.Class
		kind    tool.Kind // Where it is the sandbox's.
	}{
		{"fail", sandbox.Failed, ""},
		{"hang", sandbox.OverTime, ""},
		{"flood", sandbox.OverSize, ""},
		{"panic", sandbox.Crashed, ""},
		{"false words", sandbox.Crashed, ""},
		{"false class", sandbox.Crashed, ""},
		{"nul", sandbox.BadOutput, ""},
		{"surrogate", sandbox.BadOutput, ""},
		{"bytes", sandbox.BadOutput, ""},
		{"memory", sandbox.OverSpace, ""},
		{"stack", sandbox.OverDepth, ""},
		{"no JSON", sandbox.BadOutput, ""},
		{"large", sandbox.OverSize, ""},
		{"deep", sandbox.OverDepth, ""},
		{"die", "", tool.Unavailable},
		{"garbage", "", tool.Unavailable},
		{"unknown", "", tool.Unavailable},
	} {
		t.Run(tt.program, func(t *testing.T) {
			j := job("t", tt.program)
			if tt.class == sandbox.OverTime {
				j.Limits.Time = 200 * time.Millisecond
			}
			_, err := p.Run(t.Context(), j)
			require.Error(t, err)
			if e, ok := errors.AsType[*sandbox.ProgramError](err); ok {
				require.Equal(t, tt.class, e.Class, "%v", err)
				require.NotContains(t, e.Msg, "/secret")
				require.NotRegexp(t, `[\x00-\x08\x1b\x{80}-\x{9f}]`, e.Msg)
				require.True(t, utf8.ValidString(e.Msg))
				require.LessOrEqual(t, len(e.Msg), sandbox.MaxMessage+len("…"))
			} else {
				require.Equal(t, tt.kind, tool.KindOf(err), "%v", err)
				require.Empty(t, tt.class)
				require.False(t, tool.AsError(err).Sent, "nothing left: it may run again")
			}
			out, err := p.Run(t.Context(), job("t", "echo"))
			require.NoError(t, err)
			require.JSONEq(t, `{"a":1}`, string(out.Output))
		})
	}
}

func TestRefusesBeforeItRuns(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	for name, j := range map[string]sandbox.Job{
		"language": {Language: "perl"},
		"program":  {Language: sandbox.JQ, Program: make([]byte, sandbox.JQ.MaxProgram()+1)},
		"input":    {Language: sandbox.JQ, Input: make([]byte, sandbox.MaxInput+1)},
		"depth":    {Language: sandbox.JQ, Input: []byte(strings.Repeat(`{"a":`, sandbox.MaxDepth+1))},
	} {
		_, err := p.Run(t.Context(), j)
		_, ok := errors.AsType[*sandbox.ProgramError](err)
		require.True(t, ok, "%s: %v", name, err)
	}
	require.Zero(t, p.Stats().Started)
	_, err := sandbox.New(sandbox.Config{})
	require.Error(t, err)
}

// A child is kept for its tenant, and never serves another.
func TestChildrenHaveOneTenant(t *testing.T) {
	t.Parallel()
	p := newPool(t, func(c *sandbox.Config) { c.MaxRuns = 4 })
	pid := func(tenant tool.TenantID) string {
		out, err := p.Run(t.Context(), job(tenant, "pid"))
		require.NoError(t, err)
		require.Contains(t, string(out.Output), `"env":0`)
		return string(out.Output)
	}
	a := pid("a")
	require.Equal(t, a, pid("a"))
	b := pid("b")
	require.NotEqual(t, a, b)
	require.Equal(t, a, pid("a"))
	c := pid("c") // There are two places: the one that was used longest ago makes way.
	require.NotEqual(t, b, c)
	require.Equal(t, a, pid("a"), "the fourth run")
	require.NotEqual(t, a, pid("a"), "it has run enough")
}

// A child that does not know a program any more gets it again.
func TestForgottenProgram(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	for range 2 {
		for _, program := range []string{"echo", "forget", "echo"} {
			_, err := p.Run(t.Context(), job("t", program))
			require.NoError(t, err, program)
		}
	}
	require.EqualValues(t, 1, p.Stats().Started)
}

// Text that is no NUL character and no half of a pair is kept as it is.
func TestTextIsKept(t *testing.T) {
	t.Parallel()
	out, err := newPool(t).Run(t.Context(), job("t", "text"))
	require.NoError(t, err)
	require.Equal(t, `"\\u0000 \ud83d\ude00 \\ud83d"`, string(out.Output))
}

func TestPrints(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	var said strings.Builder
	j := job("t", "echo")
	j.Print = func(s string) { said.WriteString(s) }
	_, err := p.Run(t.Context(), j)
	require.NoError(t, err)
	require.Equal(t, "hello \uFFFD", said.String())
}

// latch holds children until it is opened. It is the path of a named pipe.
type latch string

func newLatch(t *testing.T) latch {
	t.Helper()
	l := latch(filepath.Join(t.TempDir(), "latch"))
	require.NoError(t, syscall.Mkfifo(string(l), 0o600))
	return l
}

func (l latch) open(t *testing.T) {
	t.Helper()
	f, err := os.OpenFile(string(l), os.O_RDWR, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
}

// Whoever leaves is told why, and leaves nothing behind.
func TestLeaving(t *testing.T) {
	t.Parallel()
	p := newPool(t, func(c *sandbox.Config) { c.Children = 1 })
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := p.Run(ctx, job("a", "hang"))
		ended <- err
	}()
	require.Eventually(t, func() bool { return p.Stats().Started == 1 }, 30*time.Second, time.Millisecond)

	waiting, giveUp := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer giveUp()
	_, err := p.Run(waiting, job("b", "echo"))
	require.Equal(t, tool.RateLimited, tool.KindOf(err), "%v", err)
	require.Positive(t, tool.AsError(err).RetryAfter)

	cancel()
	require.Equal(t, tool.Cancelled, tool.KindOf(<-ended))
	_, err = p.Run(t.Context(), job("b", "echo"))
	require.NoError(t, err, "the place is free again")

	late, stop := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer stop()
	_, err = p.Run(late, job("b", "hang"))
	require.Equal(t, tool.Timeout, tool.KindOf(err), "%v", err)
}

func TestIdleChildrenEnd(t *testing.T) {
	t.Parallel()
	p := newPool(t, func(c *sandbox.Config) { c.MaxIdle = 10 * time.Millisecond })
	_, err := p.Run(t.Context(), job("t", "echo"))
	require.NoError(t, err)
	require.Eventually(t, func() bool { return p.Stats().Live == 0 }, 30*time.Second, time.Millisecond)
}

func TestCannotStart(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	require.NoError(t, err)
	for _, command := range [][]string{{"/nowhere/at/all"}, {exe, "sandbox-mute"}} {
		p := newPool(t, func(c *sandbox.Config) { c.Command = command })
		for range 3 { // Places are given back.
			_, err = p.Run(t.Context(), job("t", "echo"))
			require.Equal(t, tool.Unavailable, tool.KindOf(err))
			require.NotContains(t, tool.AsError(err).Msg, "/nowhere")
		}
		require.Zero(t, p.Stats().Live)
	}
}

// A call does not outlast its time because a child does not get ready.
func TestLeavingAtTheStart(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	require.NoError(t, err)
	p := newPool(t, func(c *sandbox.Config) { c.Command = []string{exe, "sandbox-slow"} })
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = p.Run(ctx, job("t", "echo"))
	require.Equal(t, tool.Timeout, tool.KindOf(err), "%v", err)
	require.Zero(t, p.Stats().Live, "its place is given back")
}

func TestClose(t *testing.T) {
	t.Parallel()
	p := newPool(t)
	_, err := p.Run(t.Context(), job("t", "echo"))
	require.NoError(t, err)
	require.NoError(t, p.Close())
	require.NoError(t, p.Close())
	_, err = p.Run(t.Context(), job("t", "echo"))
	require.Equal(t, tool.Unavailable, tool.KindOf(err))
	require.Zero(t, p.Stats().Live)
}

// classOf returns the class of a program's error; empty where it is another's.
func classOf(err error) sandbox.Class {
	if e, ok := errors.AsType[*sandbox.ProgramError](err); ok {
		return e.Class
	}
	return ""
}
