package tui

import (
	"bytes"
	"os"
	"strconv"
)

// parentOf is the parent of a process; 0 when it is not known.
func parentOf(pid int) int {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	_, rest, ok := bytes.Cut(stat[max(bytes.LastIndexByte(stat, ')'), 0):], []byte(") ")) // a name can have brackets and spaces
	if !ok {
		return 0
	}
	if fields := bytes.Fields(rest); len(fields) > 1 {
		parent, _ := strconv.Atoi(string(fields[1]))
		return parent
	}
	return 0
}
