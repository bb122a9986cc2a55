package egresstest

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"sync"
)

// Answers is a fake name server: each name has a list of answers; each query takes the
// next one, and the last one is repeated.
type Answers struct {
	mu    sync.Mutex
	names map[string][]netip.Addr
	asked map[string]int
}

// NewResolver returns a resolver for names alone, and its name server.
func NewResolver(names map[string][]netip.Addr) (*net.Resolver, *Answers) {
	a := &Answers{names: names, asked: make(map[string]int)}
	return &net.Resolver{PreferGo: true, Dial: a.dial}, a
}

// Asked returns the number of queries answered with an address.
func (a *Answers) Asked() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for _, times := range a.asked {
		n += times
	}
	return n
}

func (a *Answers) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	go func() {
		defer func() { _ = server.Close() }()
		for err := error(nil); err == nil; {
			err = a.serve(server)
		}
	}()
	return client, nil // Not a PacketConn, so that questions are framed as over TCP.
}

const typeA, typeAAAA = 1, 28

// serve answers one question in the format of RFC 1035.
func (a *Answers) serve(c net.Conn) error {
	var size [2]byte
	if _, err := io.ReadFull(c, size[:]); err != nil {
		return err
	}
	q := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(c, q); err != nil {
		return err
	}
	var labels []string
	i := 12
	for q[i] != 0 {
		labels = append(labels, string(q[i+1:i+1+int(q[i])]))
		i += 1 + int(q[i])
	}
	kind := binary.BigEndian.Uint16(q[i+1:])
	question := q[12 : i+5]

	msg := append([]byte(nil), q[:2]...)
	addr, known := a.next(strings.ToLower(strings.Join(labels, ".")), kind)
	rcode := byte(0)
	if !known {
		rcode = 3
	}
	count := byte(0)
	var record []byte
	if addr.IsValid() {
		raw := addr.AsSlice()
		count = 1
		record = append([]byte{0xc0, 12, 0, byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(len(raw))}, //nolint:gosec // The kind and an address's length are small.
			raw...)
	}
	msg = append(msg, 0x81, 0x80|rcode, 0, 1, 0, count, 0, 0, 0, 0)
	msg = append(append(msg, question...), record...)
	_, err := c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(msg))), //nolint:gosec // A question and one record.
		msg...))
	return err
}

func (a *Answers) next(name string, kind uint16) (netip.Addr, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	list, ok := a.names[name]
	if !ok {
		return netip.Addr{}, false
	}
	at := list[min(a.asked[name], len(list)-1)]
	if (kind == typeA) != at.Is4() || kind != typeA && kind != typeAAAA {
		return netip.Addr{}, true
	}
	a.asked[name]++
	return at, true
}
