package schema

import "github.com/toolcrib/toolcrib/schema/jsonvalue"

// evaluated is the set of members or items of a value, by position, that some subschema has
// evaluated, for "unevaluatedProperties" and "unevaluatedItems".
type evaluated struct {
	all  bool
	bits []uint64
}

func newEvaluated(v *jsonvalue.Value) *evaluated {
	return &evaluated{bits: make([]uint64, (v.Len()+63)/64)}
}

// mark adds a position. A nil set records nothing.
func (e *evaluated) mark(i int) {
	if e != nil {
		e.bits[i/64] |= 1 << (i % 64)
	}
}

// markAll adds every position.
func (e *evaluated) markAll() {
	if e != nil {
		e.all = true
	}
}

func (e *evaluated) has(i int) bool { return e.all || e.bits[i/64]&(1<<(i%64)) != 0 }

// add adds the positions of another set of the same value.
func (e *evaluated) add(other *evaluated) {
	e.all = e.all || other.all
	for i, bits := range other.bits {
		e.bits[i] |= bits
	}
}
