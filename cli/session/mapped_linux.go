package session

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// unmapProgram takes the pages of the program's own file out of its memory: its code and its constants. Those that are needed come
// back by themselves, from the system's cache of the file. The start reads most of the file once (each package prepares its tables), the
// hours after it only a part.
//
// Only parts that the program cannot write are taken, so nothing can be lost. Whatever fails here leaves the pages where they are.
func unmapProgram() {
	name, err := os.Executable()
	if err != nil {
		return
	}
	maps, err := os.Open("/proc/self/maps")
	if err != nil {
		return
	}
	defer maps.Close()
	var parts []part
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		if p, ok := partOf(lines.Text(), name); ok {
			parts = append(parts, p)
		}
	}
	for _, p := range parts {
		syscall.Syscall(syscall.SYS_MADVISE, p.from, p.to-p.from, syscall.MADV_DONTNEED)
	}
}

// part is a part of the memory.
type part struct{ from, to uintptr }

// partOf reads a line of /proc/self/maps: "from-to perms offset device inode path". It returns false for what is not the file, or can be
// written.
func partOf(line, file string) (part, bool) {
	fields := strings.Fields(line)
	if len(fields) != 6 || fields[5] != file || strings.Contains(fields[1], "w") || !strings.HasSuffix(fields[1], "p") {
		return part{}, false
	}
	from, to, _ := strings.Cut(fields[0], "-")
	f, err := strconv.ParseUint(from, 16, 64)
	if err != nil {
		return part{}, false
	}
	t, err := strconv.ParseUint(to, 16, 64)
	return part{uintptr(f), uintptr(t)}, err == nil && t > f
}
