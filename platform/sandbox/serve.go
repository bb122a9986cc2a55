package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"sync"

	"github.com/toolcrib/toolcrib/internal/sandbox"
)

// engine runs programs of one language.
type engine interface {
	// compile compiles a program for any number of runs, within limits of memory.
	// It fails with a [*sandbox.ProgramError].
	compile(source []byte, l sandbox.Limits) (program, error)
}

// program is a compiled program without state between runs.
type program interface {
	// run returns the program's result as JSON, or a [*sandbox.ProgramError].
	run(ctx context.Context, m machine) ([]byte, error)
}

// machine holds the input, limits and output of a run.
type machine struct {
	input  []byte // JSON.
	limits sandbox.Limits
	print  func(text string)
}

// keptPrograms is how many compiled programs a child caches: more than a pool
// remembers, so that a child has every program that the pool does not send again.
const keptPrograms = 32

// child serves jobs, one after the other.
type child struct {
	in      io.Reader
	engines map[sandbox.Language]engine
	known   map[string]program
	order   []string // Keys of known, the most recently used last.

	mu  sync.Mutex
	out *bufio.Writer
}

// Serve answers jobs until in ends. It returns nil then.
func Serve(in io.Reader, out io.Writer) error { return serve(in, out, "") }

// serve is [Serve] in a process without the restrictions that lacks names; empty
// if all are in place.
func serve(in io.Reader, out io.Writer, lacks string) error {
	c := &child{
		in: bufio.NewReader(in), out: bufio.NewWriter(out), known: make(map[string]program),
		engines: map[sandbox.Language]engine{
			sandbox.JQ: jqEngine{}, sandbox.JavaScript: jsEngine{}, sandbox.WASM: wasmEngine{}, sandbox.PDF: pdfEngine{},
		},
	}
	if err := c.send(sandbox.Frame{Type: sandbox.ReadyFrame, Data: []byte(lacks)}); err != nil {
		return err
	}
	jobs := make(chan job)
	failed := make(chan error, 1)
	go func() { // Detects the end of in also while a program runs.
		failed <- c.receive(jobs)
		close(jobs)
	}()
	for j := range jobs {
		if err := c.answer(j); err != nil {
			return err
		}
	}
	return <-failed
}

// job is an order with its source and input.
type job struct {
	sandbox.Order
	source, input []byte
}

// receive passes on the jobs that arrive. The input ends when the parent has
// exited: then this process exits, even in the middle of a job.
func (c *child) receive(jobs chan<- job) error {
	for {
		f, err := sandbox.ReadFrame(c.in)
		if errors.Is(err, io.EOF) {
			exit()
			return nil
		}
		if err != nil {
			return err
		}
		var j job
		if f.Type != sandbox.OrderFrame || json.Unmarshal(f.Data, &j.Order) != nil {
			return fmt.Errorf("receiving a job: frame %q", f.Type)
		}
		if j.Program {
			if f, err = sandbox.ReadFrame(c.in); err != nil || f.Type != sandbox.ProgramFrame {
				return fmt.Errorf("receiving a program: frame %q: %w", f.Type, err)
			}
			j.source = f.Data
		}
		if f, err = sandbox.ReadFrame(c.in); err != nil || f.Type != sandbox.InputFrame {
			return fmt.Errorf("receiving an input: frame %q: %w", f.Type, err)
		}
		j.input = f.Data
		jobs <- j
	}
}

// answer runs a job and reports its outcome.
func (c *child) answer(j job) error {
	if err := fenceMemory(j.Limits.Memory); err != nil {
		return err
	}
	debug.SetMemoryLimit(j.Limits.Memory * 3 / 4)
	p, err := c.program(j)
	if p == nil && err == nil {
		return c.send(sandbox.Frame{Type: sandbox.WantFrame})
	}
	var result []byte
	if err == nil && !j.Check {
		ctx, cancel := context.WithTimeout(context.Background(), j.Limits.Time)
		result, err = p.run(ctx, machine{input: j.input, limits: j.Limits, print: c.printer()})
		if err != nil && ctx.Err() != nil {
			err = &sandbox.ProgramError{
				Class: sandbox.OverTime, Msg: fmt.Sprintf("the program took longer than %s", j.Limits.Time),
			}
		}
		cancel()
	}
	if err != nil {
		return c.sendError(err)
	}
	if int64(len(result)) > j.Limits.Output {
		return c.sendError(&sandbox.ProgramError{
			Class: sandbox.OverSize, Msg: fmt.Sprintf("the result has more than %d bytes", j.Limits.Output),
		})
	}
	return c.send(sandbox.Frame{Type: sandbox.ResultFrame, Data: result})
}

// program returns a job's compiled program; nil if it is no longer cached.
func (c *child) program(j job) (program, error) {
	if p := c.known[j.Digest]; p != nil {
		c.use(j.Digest)
		return p, nil
	}
	if j.source == nil {
		return nil, nil
	}
	e := c.engines[j.Language]
	if e == nil {
		return nil, &sandbox.ProgramError{
			Class: sandbox.Malformed, Msg: fmt.Sprintf("the sandbox does not support the language %q", j.Language),
		}
	}
	p, err := e.compile(j.source, j.Limits)
	if err != nil {
		return nil, err
	}
	c.known[j.Digest] = p
	c.order = append(c.order, j.Digest)
	if len(c.order) > keptPrograms {
		delete(c.known, c.order[0])
		c.order = c.order[1:]
	}
	return p, nil
}

func (c *child) use(digest string) {
	for i, d := range c.order {
		if d == digest {
			c.order = append(append(c.order[:i:i], c.order[i+1:]...), digest)
			return
		}
	}
}

// printFrame is the largest piece of printed text that is sent at once, in bytes.
const printFrame = 64 << 10

// printer returns a function that sends the output of a program. The pool drops
// output beyond the limit, and ends a program that continues to print.
func (c *child) printer() func(string) {
	return func(text string) {
		for len(text) > 0 {
			n := min(len(text), printFrame)
			if c.send(sandbox.Frame{Type: sandbox.PrintFrame, Data: []byte(text[:n])}) != nil {
				return // Writing the result reports the error.
			}
			text = text[n:]
		}
	}
}

func (c *child) sendError(err error) error {
	e, ok := errors.AsType[*sandbox.ProgramError](err)
	if !ok {
		e = &sandbox.ProgramError{Class: sandbox.Failed, Msg: err.Error()}
	}
	raw, err := json.Marshal(&sandbox.ProgramError{Class: e.Class, Msg: sandbox.Message(e.Msg)})
	if err != nil {
		return fmt.Errorf("encoding error: %w", err)
	}
	return c.send(sandbox.Frame{Type: sandbox.ErrorFrame, Data: raw})
}

func (c *child) send(f sandbox.Frame) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := sandbox.WriteFrame(c.out, f); err != nil {
		return err
	}
	if err := c.out.Flush(); err != nil {
		return fmt.Errorf("answering: %w", err)
	}
	return nil
}
