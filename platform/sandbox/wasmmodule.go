package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// moduleHead holds the imports and the memory of a module.
type moduleHead struct {
	imports []moduleImport
	pages   uint64 // Of memory, at least.
}

// moduleImport is an import of a module.
type moduleImport struct {
	from, name string
	kind       byte
}

// Sections of a module, and kinds of imports.
const (
	importSection = 2
	memorySection = 5

	functionKind = 0
	tableKind    = 1
	memoryKind   = 2
	globalKind   = 3
)

var kindNames = map[byte]string{
	functionKind: "function", tableKind: "table", memoryKind: "memory", globalKind: "global",
}

var errModule = errors.New("the module is truncated")

// readHead reads the imports and the memory of a module that the engine has
// compiled: it lists neither tables nor globals nor a memory that is not exported.
func readHead(module []byte) (head moduleHead, err error) {
	if len(module) < 8 {
		return head, errModule
	}
	for rest := module[8:]; len(rest) > 0; {
		id := rest[0]
		r := moduleReader{rest: rest[1:]}
		section := moduleReader{rest: r.bytes()}
		if r.err != nil {
			return head, r.err
		}
		rest = r.rest
		switch id {
		case importSection:
			for range section.number() {
				head.imports = append(head.imports, section.imported())
				if section.err != nil {
					return head, section.err
				}
			}
		case memorySection:
			for range section.number() {
				head.pages += section.limits()
				if section.err != nil {
					return head, section.err
				}
			}
		}
	}
	return head, nil
}

// moduleReader reads a part of a module. After an error it reads nothing.
type moduleReader struct {
	rest []byte
	err  error
}

func (r *moduleReader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.rest, r.err = nil, errModule
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

func (r *moduleReader) byte() byte {
	if len(r.rest) == 0 {
		r.err = errModule
		return 0
	}
	b := r.rest[0]
	r.rest = r.rest[1:]
	return b
}

// bytes reads a vector of bytes.
func (r *moduleReader) bytes() []byte {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.rest, r.err = nil, errModule
		return nil
	}
	out := r.rest[:n]
	r.rest = r.rest[n:]
	return out
}

// limits reads the limits of a table or a memory, and returns the minimum.
func (r *moduleReader) limits() (least uint64) {
	flags := r.byte()
	least = r.number()
	if flags&1 != 0 {
		r.number()
	}
	return least
}

func (r *moduleReader) imported() moduleImport {
	i := moduleImport{from: string(r.bytes()), name: string(r.bytes()), kind: r.byte()}
	switch i.kind {
	case functionKind:
		r.number()
	case tableKind:
		r.byte()
		r.limits()
	case memoryKind:
		r.limits()
	case globalKind:
		r.byte()
		r.byte()
	default:
		r.err = fmt.Errorf("%w: unknown import kind %d", errModule, i.kind)
	}
	return i
}
