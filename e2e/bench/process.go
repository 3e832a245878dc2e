package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// ownGroup keeps a terminal's ctrl+c from a child.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// tick is the unit of the times in /proc/PID/stat on Linux (proc(5)).
const tick = 10 * time.Millisecond

// processorTime is the processor time that a process has used so far, in its own code and in the kernel.
func processorTime(pid int) (time.Duration, error) {
	path := fmt.Sprintf("/proc/%d/stat", pid)
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	used, err := processorTimeIn(string(text))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	return used, nil
}

// processorTimeIn reads the processor time in the text of a /proc/PID/stat.
func processorTimeIn(stat string) (time.Duration, error) {
	end := strings.LastIndex(stat, ") ") // after the command's name, which may contain anything
	fields := strings.Fields(stat[max(end, 0):])
	if end < 0 || len(fields) < 14 {
		return 0, fmt.Errorf("no processor time in %q", stat)
	}
	ticks := 0
	for _, field := range fields[12:14] { // utime and stime
		n, err := strconv.Atoi(field)
		if err != nil {
			return 0, fmt.Errorf("no processor time in %q: %w", stat, err)
		}
		ticks += n
	}
	return time.Duration(ticks) * tick, nil
}

// memory is the resident memory of a process, in MiB.
type memory struct{ now, most float64 }

// memoryOf reads the resident memory of a process and the most that it ever was.
func memoryOf(pid int) (memory, error) {
	path := fmt.Sprintf("/proc/%d/status", pid)
	text, err := os.ReadFile(path)
	if err != nil {
		return memory{}, err
	}
	m, err := memoryIn(string(text))
	if err != nil {
		return memory{}, fmt.Errorf("%s: %w", path, err)
	}
	return m, nil
}

// memoryIn reads the memory in the text of a /proc/PID/status.
func memoryIn(status string) (memory, error) {
	values := map[string]float64{}
	for lines := bufio.NewScanner(strings.NewReader(status)); lines.Scan(); {
		name, rest, _ := strings.Cut(lines.Text(), ":")
		if fields := strings.Fields(rest); (name == "VmRSS" || name == "VmHWM") && len(fields) == 2 && fields[1] == "kB" {
			kib, err := strconv.ParseFloat(fields[0], 64)
			if err != nil {
				return memory{}, fmt.Errorf("%s is %q: %w", name, rest, err)
			}
			values[name] = kib / 1024
		}
	}
	if len(values) < 2 {
		return memory{}, fmt.Errorf("there is no VmRSS and VmHWM in it")
	}
	return memory{now: values["VmRSS"], most: values["VmHWM"]}, nil
}
