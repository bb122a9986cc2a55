package ports

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// Refusal says why an address can't be listened on, and what to do about it.
func Refusal(ctx context.Context, address string, err error) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Sprintf("%s is taken by %s: stop it, or ask for another port", address, holderOf(ctx, address))
	case errors.Is(err, syscall.EACCES):
		return fmt.Sprintf("this user may not listen on %s: ask for a port above 1023", address)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return fmt.Sprintf(
			"this machine does not have the address of %s: ask for 127.0.0.1, or for 0.0.0.0 to be reached from elsewhere",
			address,
		)
	default:
		return fmt.Sprintf("cannot listen on %s: %v", address, err)
	}
}

func holderOf(ctx context.Context, address string) Process {
	_, text, err := net.SplitHostPort(address)
	if err != nil {
		return Process{}
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		return Process{}
	}
	return Holder(ctx, port)
}
