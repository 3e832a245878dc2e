//go:build !linux

package kube

import "net"

// wakerOf is nil here: what comes wakes the program.
func wakerOf(net.Conn) func(bytes int) { return nil }
