package sandbox_test

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/toolcrib/toolcrib/internal/sandbox"
	"github.com/toolcrib/toolcrib/tool"
)

// command is a WASI command in parts: what it imports, and the body of its
// _start. Every one has the types of functions below.
type command struct {
	imports [][2]string // Functions of type call4, by module and name.
	takes   []byte      // What those take instead of four i32.
	starts  bool        // The body is of a start function too, which runs before anything is called.
	pages   uint64      // Of memory, at least.
	entries uint64      // Of the table, at least.
	body    []byte      // Of _start, which is the function after the imports.
	locals  uint64      // Variables of _start, of type i32.
	data    string      // At the beginning of the memory.
	mute    bool        // It has no export _start.
}

// assemble returns the module.
func (c command) assemble() []byte {
	u := binary.AppendUvarint
	name := func(s string) []byte { return append(u(nil, uint64(len(s))), s...) }
	section := func(id byte, n int, content ...byte) []byte {
		content = append(u(nil, uint64(n)), content...)
		return append(u([]byte{id}, uint64(len(content))), content...)
	}
	start := byte(len(c.imports))
	out := []byte("\x00asm\x01\x00\x00\x00")
	takes := c.takes
	if takes == nil {
		takes = []byte{i32, i32, i32, i32} // call4
	}
	types := append([]byte{0x60, 0, 0, 0x60, byte(len(takes))}, takes...)
	out = append(out, section(1, 2, append(types, 1, i32)...)...)
	var imports []byte
	for _, i := range c.imports {
		imports = append(append(append(imports, name(i[0])...), name(i[1])...), 0, 1)
	}
	out = append(out, section(2, len(c.imports), imports...)...)
	out = append(out, section(3, 1, 0)...)
	out = append(out, section(4, 1, u([]byte{0x70, 0}, c.entries)...)...)
	out = append(out, section(5, 1, u([]byte{0}, c.pages)...)...)
	exports, n := append(name("memory"), 2, 0), 1
	if !c.mute {
		exports, n = append(append(exports, name("_start")...), 0, start), 2
	}
	out = append(out, section(7, n, exports...)...)
	if c.starts {
		out = append(out, append([]byte{8}, append(u(nil, 1), start)...)...)
	}
	code := []byte{0}
	if c.locals > 0 {
		code = append(u([]byte{1}, c.locals), i32)
	}
	code = append(append(code, c.body...), 0x0b)
	out = append(out, section(10, 1, append(u(nil, uint64(len(code))), code...)...)...)
	if c.data != "" {
		out = append(out, section(11, 1, append([]byte{0, 0x41, 0, 0x0b}, name(c.data)...)...)...)
	}
	return out
}

// Types of values.
const (
	i32 = 0x7f
	i64 = 0x7e
)

// Instructions.
var (
	unreachable = []byte{0x00}
	callStart   = []byte{0x10, 0x00} // Where nothing is imported: itself.
	growMemory  = []byte{0x41, 0x80, 0x01, 0x40, 0x00, 0x1a}
	growTable   = []byte{0xd0, 0x70, 0x41, 0xc0, 0x84, 0x3d, 0xfc, 0x0f, 0x00, 0x1a}
	fillMemory  = []byte{0x41, 0x00, 0x41, 0x01, 0x3f, 0x00, 0x41, 0x10, 0x74, 0xfc, 0x0b, 0x00}
)

// writeTo writes what the vector at 0 names to a descriptor, by the function
// that is imported first.
func writeTo(descriptor byte) []byte {
	return []byte{0x41, descriptor, 0x41, 0, 0x41, 1, 0x41, 8, 0x10, 0, 0x1a}
}

func forever(body ...byte) []byte {
	return append(append([]byte{0x03, 0x40}, body...), 0x0c, 0x00, 0x0b)
}

// refused calls the function that is imported first, with constants of what it
// takes, and never ends where that answers with no error number.
func refused(takes []byte, args ...byte) []byte {
	var out []byte
	for n, arg := range args {
		constant := byte(0x41)
		if takes[n] == i64 {
			constant = 0x42
		}
		out = append(out, constant, arg)
	}
	return join(out, []byte{0x10, 0, 0x45, 0x04, 0x40}, forever(), []byte{0x0b})
}

// probing is a command that calls a function of the host.
func probing(name string, takes []byte, args ...byte) command {
	return command{
		imports: [][2]string{{"wasi_snapshot_preview1", name}}, takes: takes, pages: 1,
		data: strings.Repeat("\x00", 16) + "/etc/passwd", body: refused(takes, args...),
	}
}

// empty is a command that calls a function which counts what it has been given,
// into memory, and never ends where that is something.
func empty(name string) command {
	call := []byte{0x41, 0, 0x41, 4, 0x10, 0, 0x1a}
	count := []byte{0x41, 0, 0x28, 2, 0, 0x04, 0x40}
	return command{
		imports: [][2]string{{"wasi_snapshot_preview1", name}}, takes: []byte{i32, i32}, pages: 1,
		body: join(call, count, forever(), []byte{0x0b}),
	}
}

func join(parts ...[]byte) (out []byte) {
	for _, p := range parts {
		out = append(out, p...)
	}
	return out
}

var fdWrite = [][2]string{{"wasi_snapshot_preview1", "fd_write"}}

// vector names what follows it in memory, so many bytes.
func vector(size uint32) string {
	return string(binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, 16), size)) +
		strings.Repeat("\x00", 8)
}

// Commands that mean harm, or are none, end in words of ours.
func TestHostileCommands(t *testing.T) { //nolint:tparallel // What runs beside them ends when they have.
	t.Parallel()

	const second = time.Second
	endless := []sandbox.Class{sandbox.OverTime, sandbox.OverSpace, sandbox.OverSize, sandbox.Crashed}
	greedy := []sandbox.Class{
		sandbox.OverTime, sandbox.OverSpace, sandbox.OverDepth, sandbox.Crashed, sandbox.Failed, sandbox.Malformed,
	}
	silent := []sandbox.Class{sandbox.BadOutput} // It ended, and wrote nothing.
	malformed, failed := []sandbox.Class{sandbox.Malformed}, []sandbox.Class{sandbox.Failed}
	tests := []struct {
		name    string
		command command
		time    time.Duration
		classes []sandbox.Class // One of them; none where it answers.
		says    string
	}{
		{"Loop", command{body: forever()}, second, []sandbox.Class{sandbox.OverTime}, "longer than 1s"},
		{"GrowsMemory", command{pages: 1, body: forever(join(growMemory, fillMemory)...)}, second, endless, ""},
		{"GrowsTable", command{body: forever(growTable...)}, 0, greedy, ""},
		{"LargeMemory", command{pages: 65536}, 0, greedy, ""},
		{"LargeTable", command{entries: 1 << 31}, 0, greedy, ""},
		{"Recursion", command{body: callStart}, 0, greedy, ""},
		{
			"WritesForever",
			command{imports: fdWrite, pages: 1, data: vector(60000), body: forever(writeTo(1)...)},
			second,
			endless, "",
		},
		{
			"PrintsForever",
			command{imports: fdWrite, pages: 1, data: vector(60000), body: forever(writeTo(2)...)},
			second,
			endless, "",
		},
		{
			"WritesBeyondMemory",
			command{imports: fdWrite, pages: 1, data: vector(1 << 31), body: writeTo(1)},
			0,
			[]sandbox.Class{sandbox.BadOutput},
			"not JSON",
		},
		{"WritesNothing", command{}, 0, []sandbox.Class{sandbox.BadOutput}, "not JSON"},
		{"Traps", command{body: unreachable}, 0, failed, "unreachable"},
		{"NoStart", command{mute: true}, 0, malformed, "has no export _start"},
		{"ForeignImport", command{imports: [][2]string{{"env", "system"}}}, 0, malformed, "imports env.system"},
		{
			"UnknownImport",
			command{imports: [][2]string{{"wasi_snapshot_preview1", "sock_open"}}},
			0, malformed,
			"imports wasi_snapshot_preview1.sock_open",
		},
		{
			"OtherParameters",
			command{imports: fdWrite, takes: []byte{i32, i64}},
			0, malformed,
			"imports wasi_snapshot_preview1.fd_write with another signature",
		},
		{"NoInstruction", command{body: []byte{0xff}}, 0, malformed, "does not compile"},
		{"StackUnderflow", command{body: []byte{0x1a}}, 0, malformed, "does not compile"},
		{
			"LongBody",
			command{body: []byte(strings.Repeat("\x41\x00\x1a", 2<<20))},
			second,
			append([]sandbox.Class{sandbox.BadOutput}, greedy...), "",
		},
		{"LoopInStart", command{starts: true, body: forever()}, second, []sandbox.Class{sandbox.OverTime}, "longer than 1s"},
		{
			"GrowsInStart",
			command{starts: true, pages: 1, body: forever(join(growMemory, fillMemory)...)},
			second, endless,
			"",
		},
		{"TrapsInStart", command{starts: true, body: unreachable}, 0, failed, "unreachable"},
		{
			"OpensAFile",
			probing("path_open", []byte{i32, i32, i32, i32, i32, i64, i64, i32, i32}, 3, 0, 16, 11, 0, 1, 1, 0, 8), 0, silent,
			"not JSON",
		},
		{
			"OpensByRoot",
			probing("path_open", []byte{i32, i32, i32, i32, i32, i64, i64, i32, i32}, 0, 0, 16, 11, 0, 1, 1, 0, 8), 0, silent,
			"not JSON",
		},
		{"MakesAFolder", probing("path_create_directory", []byte{i32, i32, i32}, 3, 16, 11), 0, silent, "not JSON"},
		{"RemovesAFile", probing("path_unlink_file", []byte{i32, i32, i32}, 3, 16, 11), 0, silent, "not JSON"},
		{"Stats", probing("path_filestat_get", []byte{i32, i32, i32, i32, i32}, 3, 0, 16, 11, 32), 0, silent, "not JSON"},
		{"FindsFolders", probing("fd_prestat_get", []byte{i32, i32}, 3, 32), 0, silent, "not JSON"},
		{"Accepts", probing("sock_accept", []byte{i32, i32, i32}, 3, 0, 32), 0, silent, "not JSON"},
		{"Sends", probing("sock_send", []byte{i32, i32, i32, i32, i32}, 3, 0, 1, 0, 32), 0, silent, "not JSON"},
		{"RaisesASignal", probing("proc_raise", []byte{i32}, 9), 0, silent, "not JSON"},
		{
			"WritesElsewhere",
			command{imports: fdWrite, pages: 1, data: vector(4) + "{}", body: refused([]byte{i32, i32, i32, i32}, 3, 0, 1, 8)},
			0, silent, "not JSON",
		},
		{"HasNoEnvironment", empty("environ_sizes_get"), 0, silent, "not JSON"},
		{"HasNoArguments", empty("args_sizes_get"), 0, silent, "not JSON"},
		{
			"Sleeps", probing("poll_oneoff", []byte{i32, i32, i32, i32}, 0, 32, 1, 8), second,
			append(silent, sandbox.OverTime, sandbox.Failed), "",
		},
		{
			"Yields",
			command{
				imports: [][2]string{{"wasi_snapshot_preview1", "sched_yield"}}, takes: []byte{}, body: forever(0x10, 0, 0x1a),
			},
			second,
			[]sandbox.Class{sandbox.OverTime},
			"",
		},
		{"SpawnsThreads", command{imports: [][2]string{{"wasi", "thread-spawn"}}}, 0, malformed, "imports wasi.thread-spawn"},
		{"Answers", command{imports: fdWrite, pages: 1, data: vector(7) + `{"a":1}`, body: writeTo(1)}, 0, nil, `{"a":1}`},
	}
	p := newPool(t, func(c *sandbox.Config) { c.Children = 4 })
	stop := neighbour(t, p)
	t.Run("Corpus", func(t *testing.T) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				got, err := run(t, p, sandbox.Job{
					Language: sandbox.WASM, Program: tt.command.assemble(),
					Limits: sandbox.Limits{Time: tt.time, Memory: sandbox.MinMemory, Output: 1 << 20},
				})
				t.Logf("%.80q %v", got, err)
				if tt.classes == nil {
					require.NoError(t, err)
					require.Equal(t, tt.says, got)
					return
				}
				require.Contains(t, tt.classes, classOf(err), "%v", err)
				require.ErrorContains(t, err, tt.says)
			})
		}
	})
	require.NoError(t, stop())
}

// What is no module at all is refused when it is checked, without being run.
func TestCheckOfModules(t *testing.T) {
	t.Parallel()

	p := newPool(t)
	whole := command{body: forever()}.assemble()
	_, err := run(t, p, sandbox.Job{Language: sandbox.WASM, Program: whole, Check: true})
	require.NoError(t, err, "it compiles, and is not run")
	for cut := range whole {
		_, err := run(t, p, sandbox.Job{Language: sandbox.WASM, Program: whole[:cut], Check: true})
		require.Equal(t, sandbox.Malformed, classOf(err), "the first %d bytes: %v", cut, err)
	}
}

// goCommand compiles the example in Go.
func goCommand(tb testing.TB) []byte {
	tb.Helper()
	file := filepath.Join(tb.TempDir(), "quote.wasm")
	cmd := exec.CommandContext(tb.Context(), "go", "build", "-trimpath", "-ldflags=-s -w", "-o", file,
		"./examples/artifacts/go")
	cmd.Dir = filepath.Join("..", "..")
	cmd.Env = append(os.Environ(), "GOOS=wasip1", "GOARCH=wasm", "CGO_ENABLED=0")
	said, err := cmd.CombinedOutput()
	require.NoError(tb, err, "%s", said)
	raw, err := os.ReadFile(file)
	require.NoError(tb, err)
	return raw
}

// The example in Go is a command: input in, answer out, and nothing is left for
// the next run.
func TestGoExample(t *testing.T) {
	t.Parallel()

	p, module := newPool(t), goCommand(t)
	require.LessOrEqual(t, len(module), sandbox.WASM.MaxProgram())
	job := sandbox.Job{
		Language: sandbox.WASM, Program: module, Limits: sandbox.Limits{Time: sandbox.MaxLimits.Time, Memory: 512 << 20},
	}
	for _, tenant := range []tool.TenantID{"a", "a", "b"} {
		var said strings.Builder
		job.Tenant, job.Print = tenant, func(text string) { said.WriteString(text) }
		job.Input = []byte(`{"lines": [{"sku": "TEAPOT-BLUE", "quantity": 10, "unit_cents": 2450}], "tax_percent": 20}`)
		got, err := run(t, p, job)
		require.NoError(t, err)
		require.JSONEq(t, `{"subtotal_cents": 24500, "discount_cents": 1225, "tax_cents": 4655, "total_cents": 27930}`, got)
		require.Equal(t, "10 pieces\n", said.String())
	}
	job.Input = []byte(`{"lines": "none"}`)
	_, err := run(t, p, job)
	require.Equal(t, sandbox.Failed, classOf(err))
	require.ErrorContains(t, err, "exit code 1")
}
