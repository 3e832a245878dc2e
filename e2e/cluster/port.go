package cluster

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// port is a port of 127.0.0.1 that no other process gets while it is reserved: a killed server and its clients find it again. A
// bound socket that does not listen reserves it, so only the server answers, which listens on the same port (SO_REUSEPORT).
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

// release gives the port back. It does nothing when no port was reserved.
func (p *port) release() error {
	if p == nil {
		return nil
	}
	return unix.Close(p.socket)
}
