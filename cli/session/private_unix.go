//go:build unix

package session

import (
	"io/fs"
	"os"
	"syscall"
)

// isOurs tells whether the file belongs to the user that runs Lockstep.
func isOurs(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
