package kube

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// wakerOf is a function that sets how many bytes must be there before the kernel wakes the program for a connection (SO_RCVLOWAT, which
// epoll heeds since Linux 4.18); nil when it is no socket. Whatever fails in it leaves the program woken more often than it needs.
func wakerOf(c net.Conn) func(bytes int) {
	socket, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return nil
	}
	return func(bytes int) {
		_ = raw.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVLOWAT, bytes) })
	}
}
