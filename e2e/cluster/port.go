package cluster

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// port is a port of 127.0.0.1 that no other process gets while it is reserved: a killed server finds it again, and so do its
// clients. It is reserved by a bound socket that does not listen, so that only the server answers, which listens beside it
// (SO_REUSEPORT).
type port struct {
	number int
	socket int
}

func reservePort() (*port, error) {
	socket, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("reserve a port: %w", err)
	}
	p := &port{socket: socket}
	err = errors.Join(
		unix.SetsockoptInt(socket, unix.SOL_SOCKET, unix.SO_REUSEPORT, 1),
		unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}),
	)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reserve a port: %w", err), p.release())
	}
	bound, err := unix.Getsockname(socket)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("reserve a port: %w", err), p.release())
	}
	p.number = bound.(*unix.SockaddrInet4).Port
	return p, nil
}

// release gives the port back. It does nothing when none was reserved.
func (p *port) release() error {
	if p == nil {
		return nil
	}
	return unix.Close(p.socket)
}
