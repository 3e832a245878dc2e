package e2e

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockstep/e2e/operator"
	"lockstep/e2e/terminal"
)

// whole is the demo's complete dashboard: what needs the operator, the nodes, and both servers live.
var whole = terminal.All(terminal.Shows("● kubernetes  ● openstack"), operator.Row("cmp-03"), operator.Row("cmp-08"),
	terminal.Shows("Nodes"))

// demo starts the demo and waits until the whole dashboard is there.
func demo(b *testing.B, columns, rows int, speed string) (*program, terminal.Screen) {
	p := launch(b, start{columns: columns, rows: rows, state: b.TempDir()}, "demo", "--speed", speed)
	return p, p.Want(b, whole)
}

// From the start of the process to the complete dashboard. The simulated cloud starts in the same process.
func BenchmarkDemoStart(b *testing.B) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			var written int64
			for b.Loop() {
				p, screen := demo(b, size[0], size[1], "60")
				written += screen.Written
				b.StopTimer()
				if err := p.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(float64(written)/float64(b.N), "bytes")
		})
	}
}

// What the program writes to the terminal in ten seconds: while the cloud stands still, and while an update runs in real time and
// ages tick.
func BenchmarkDemoTenSeconds(b *testing.B) {
	for _, speed := range []struct{ name, value string }{{"nothing-moves", "0.0001"}, {"real-time", "1"}} {
		b.Run(speed.name, func(b *testing.B) {
			p, _ := demo(b, 120, 40, speed.value)
			time.Sleep(5 * time.Second) // the last messages of the start go away
			before := p.Screen().Written
			for b.Loop() {
				time.Sleep(10 * time.Second)
			}
			b.ReportMetric(float64(p.Screen().Written-before)/float64(b.N), "bytes/10s")
		})
	}
}

// The resident memory of the demo, including the simulated cloud and the controllers, after some time of the update.
func BenchmarkDemoMemory(b *testing.B) {
	p, _ := demo(b, 120, 40, "60")
	most := 0.0
	for b.Loop() {
		time.Sleep(4 * time.Second)
		most = max(most, resident(b, p.PID()))
	}
	b.ReportMetric(most, "MiB")
}

// The fleets of the demo: the time from the start of the process until both servers are seen completely, then the resident memory
// and the processor time in a minute of the update, including the simulated cloud and the controllers.
func BenchmarkDemoFleets(b *testing.B) {
	live := terminal.All(terminal.Shows("● kubernetes  ● openstack"), terminal.Shows("evacuating"))
	for _, fleet := range []string{"fleet-50", "fleet-500", "fleet-2000"} {
		b.Run(fleet, func(b *testing.B) {
			most, used := 0.0, time.Duration(0)
			for b.Loop() {
				p := launch(b, start{columns: 120, rows: 40, state: b.TempDir()}, "demo", fleet)
				p.Want(b, live)
				b.StopTimer()
				before := processorTime(b, p.PID())
				for range 12 {
					time.Sleep(5 * time.Second)
					most = max(most, resident(b, p.PID()))
				}
				used += processorTime(b, p.PID()) - before
				if err := p.Close(); err != nil {
					b.Fatal(err)
				}
				b.StartTimer()
			}
			b.ReportMetric(most, "MiB")
			b.ReportMetric(used.Seconds()/float64(b.N), "CPU-s/min")
		})
	}
}

// processorTime is the processor time that a process has used so far.
func processorTime(b *testing.B, pid int) time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ") // after the command's name, which may contain blanks
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		b.Fatalf("/proc/%d/stat is %q", pid, text)
	}
	ticks := 0
	for _, field := range fields[11:13] { // utime and stime, in hundredths of a second (proc(5))
		n, err := strconv.Atoi(field)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// resident is the resident memory of a process in MiB.
func resident(b *testing.B, pid int) float64 {
	file, err := os.Open(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if fields := strings.Fields(lines.Text()); len(fields) > 1 && fields[0] == "VmRSS:" {
			kib, err := strconv.ParseFloat(fields[1], 64)
			if err != nil {
				b.Fatal(err)
			}
			return kib / 1024
		}
	}
	b.Fatalf("/proc/%d/status has no VmRSS", pid)
	return 0
}
