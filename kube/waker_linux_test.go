package kube

import (
	"net"
	"slices"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// While a connection rests, the kernel wakes nobody for what comes; then each byte counts again. What has come meanwhile is read.
func TestTheKernelWakesNobodyForAConnectionThatRests(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	dialled, err := newBeat().dial(direct)(t.Context(), "tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer dialled.Close()
	server, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()

	conn := dialled.(*beatConn)
	defer conn.carry()()
	var woken []int // what the kernel says that it wakes for
	wake := conn.wake
	conn.wake = func(bytes int) {
		wake(bytes)
		raw, err := conn.Conn.(syscall.Conn).SyscallConn()
		if err != nil {
			t.Error(err)
			return
		}
		_ = raw.Control(func(fd uintptr) {
			n, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_RCVLOWAT)
			if err != nil {
				t.Error(err)
			}
			woken = append(woken, n)
			if n > 1 { // an event comes while it rests
				if _, err := server.Write([]byte("b")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	if _, err := server.Write([]byte("a")); err != nil {
		t.Fatal(err)
	}
	data := make([]byte, 10)
	for _, want := range []string{"a", "b", "b"} {
		if n, err := conn.Read(data); err != nil || string(data[:n]) != want {
			t.Fatalf("read %q, %v, want %q", data[:n], err, want)
		}
	}
	if want := []int{wakeAt, 1, wakeAt, 1}; !slices.Equal(woken, want) {
		t.Errorf("the kernel wakes for %v bytes, want %v", woken, want)
	}
}
