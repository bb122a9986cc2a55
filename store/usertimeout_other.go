//go:build !linux

package store

import (
	"net"
	"time"
)

// limitUnacknowledged does nothing where the system has no such option.
func limitUnacknowledged(*net.TCPConn, time.Duration) {}
