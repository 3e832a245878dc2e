package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ownGroup keeps a terminal's ctrl+c from a child.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// processorTime is the processor time that a process has used so far, in its own code and in the kernel. It is read from the process's
// clock, to the nanosecond: /proc/PID/stat counts in hundredths of a second, and in a short look Lockstep may need less than one.
func processorTime(pid int) (time.Duration, error) {
	const ofProcess = 2                 // CPUCLOCK_SCHED in the kernel's include/linux/posix-timers.h
	clock := int32(^pid)<<3 | ofProcess //nolint:gosec // as clock_getcpuclockid(3) makes it
	var used unix.Timespec
	if err := unix.ClockGettime(clock, &used); err != nil {
		return 0, fmt.Errorf("read the processor time of process %d: %w", pid, err)
	}
	return time.Duration(used.Nano()), nil
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
