package fuzz_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever is asked of the API, it answers as its description says; and when
// all is over nothing is left of it but what was asked for.
//
//nolint:paralleltest // It looks at the process as a whole.
func TestContract(t *testing.T) {
	s := newSite(t)
	for _, fault := range s.doc.faults {
		t.Error(fault)
	}
	seed := uint64(1)
	switch {
	case *seedFlag != 0:
		seed = *seedFlag
	case *timeFlag > 0:
		seed = rand.Uint64()
	}
	t.Logf("seed %d", seed)
	before := heap()
	p := newSession(s, seed)
	p.play(t, *timeFlag)
	s.settle(t)
	s.requireReadsChangeNothing(t, p)
	p.report(t)
	requireNoneLeft(t)
	require.Less(t, heap()-before, leftAtAll+p.made*leftPerRequest, "memory is not given back after %d requests", p.made)
	require.Empty(t, s.log.overheard(), "secrets in the log")
}

// report fails the test for each failure, and says how everything was answered.
func (s *session) report(t *testing.T) {
	t.Helper()
	for _, failure := range s.failures {
		t.Error(failure)
	}
	silent, good := 0, 0
	for _, o := range s.doc.operations {
		t.Logf("%-20s %v", o.id, s.answered[o.id])
		switch {
		case s.answered[o.id] == nil:
			silent++
		case s.answered[o.id][200]+s.answered[o.id][201]+s.answered[o.id][202]+s.answered[o.id][204] > 0:
			good++
		}
	}
	t.Logf("%d requests to %d operations, of which %d did what they are for", s.made, len(s.doc.operations), good)
	require.Zero(t, silent, "some operations were never asked for")
	require.Greater(t, good, len(s.doc.operations)*2/5, "hardly anything was asked for as it should be")
}
