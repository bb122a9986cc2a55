package sandbox

import "github.com/tetratelabs/wazero/experimental"

// wasmMemory is the memory of one run. It grows up to its limit, and records
// whether more was requested: the error of a command does not show that reliably.
type wasmMemory struct {
	most    uint64 // Bytes.
	buf     []byte
	refused bool
}

var (
	_ experimental.MemoryAllocator = (*wasmMemory)(nil)
	_ experimental.LinearMemory    = (*wasmMemory)(nil)
)

// Allocate implements [experimental.MemoryAllocator]. A module has one memory.
func (m *wasmMemory) Allocate(uint64, uint64) experimental.LinearMemory { return m }

// Reallocate implements [experimental.LinearMemory].
func (m *wasmMemory) Reallocate(size uint64) []byte {
	if size > m.most {
		m.refused = true
		return nil
	}
	if size > uint64(cap(m.buf)) {
		grown := make([]byte, size, min(m.most, max(size, 2*uint64(cap(m.buf)))))
		copy(grown, m.buf)
		m.buf = grown
	}
	m.buf = m.buf[:size]
	return m.buf
}

// Free implements [experimental.LinearMemory].
func (m *wasmMemory) Free() { m.buf = nil }
