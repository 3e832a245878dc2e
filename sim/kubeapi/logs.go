package kubeapi

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// keptLines is how many lines of a container's output are kept, like a kubelet that rotates its files.
const keptLines = 1000

// workloadLabel is the label of a pod that names the workload whose output it shows.
const workloadLabel = "app.kubernetes.io/name"

// author is who writes a log: the pods of a workload, on one node or (with an empty node) wherever they run.
type author struct{ namespace, workload, node string }

// WriteLog adds a line to the output of a container of a workload's pods, on one node or (with an empty node) wherever
// they run. A pod shows what was written while it was there.
func (s *Server) WriteLog(namespace, workload, node, container, text string) {
	s.logs.mu.Lock()
	defer s.logs.mu.Unlock()
	s.logs.put(logKey{author: author{namespace, workload, node}, container: container}, logLine{s.now(), text})
}

// SetLog sets the lines that a container of a pod has written so far; "" means every container without lines of its
// own. The pod need not exist yet. The log is removed with the pod.
func (s *Server) SetLog(namespace, pod, container string, lines []string) {
	s.logs.mu.Lock()
	defer s.logs.mu.Unlock()
	k := logKey{pod: key(namespace, pod), container: container}
	delete(s.logs.all, k)
	at := s.timestamp().Time
	s.logs.own(k)
	for _, text := range lines {
		s.logs.put(k, logLine{at, text})
	}
}

// CutLogs ends the answers to all clients that follow a log, as when the server or the kubelet restarts. With torn set
// the connections break in the middle of a line.
func (s *Server) CutLogs(torn bool) {
	s.logs.mu.Lock()
	s.logs.torn = torn
	s.logs.mu.Unlock()
	s.watches.cut(followedLogs)
}

// followedLogs counts followed logs among the watches.
const followedLogs = "pods/log"

// podLog answers a GET of a pod's log: what its container has written since it started, or before that. A followed log
// ends with the container or the pod.
func (s *Server) podLog(c *call, pods *resource) error {
	if c.info.verb != "get" {
		return errNoSuchMethod()
	}
	pod := pods.table.get(c.objectKey(pods))
	if pod == nil {
		return apierrors.NewNotFound(pods.GroupResource(), c.info.name)
	}
	ask, err := s.readLogQuery(c, pod)
	if err != nil {
		return err
	}
	run, err := runOf(pod, ask)
	if err != nil {
		return err
	}
	k := s.logs.keyOf(pod, ask.container)
	follow := ask.follow && !ask.previous
	out := &logWriter{ask: ask, w: c.w}
	c.w.Header().Set("Content-Type", "text/plain")
	lines, next, changed := s.logs.read(k, 0)
	lines = slices.DeleteFunc(lines, func(l logLine) bool { return !run.holds(l.at) || l.at.Before(ask.since) })
	if ask.tail >= 0 {
		lines = lines[max(0, len(lines)-ask.tail):]
	}
	c.w.WriteHeader(http.StatusOK)
	full := out.write(lines)
	if !follow || full {
		return nil
	}
	flush := http.NewResponseController(c.w)
	cut := make(chan struct{})
	defer s.watches.add(followedLogs, sync.OnceFunc(func() { close(cut) }))()
	for {
		_ = flush.Flush() // the client has gone; its context ends
		read, err := pods.table.read(pods.table.sequence(), 1)
		if err != nil {
			return nil
		}
		if now := pods.table.get(pod.key); now == nil || now.meta().GetUID() != pod.meta().GetUID() {
			return nil
		} else if again, err := runOf(now, ask); err != nil || !again.began.Equal(run.began) {
			return nil // the container ended
		}
		select {
		case <-changed:
		case <-read.changed:
		case <-cut:
			if s.logs.tears() {
				_, _ = c.w.Write([]byte(s.now().UTC().Format(time.RFC3339Nano) + " half a li"))
				_ = flush.Flush()
				panic(http.ErrAbortHandler)
			}
			return nil
		case <-c.Context().Done():
			return nil
		}
		if next == 0 { // its author may begin only now
			k = s.logs.keyOf(pod, ask.container)
		}
		lines, next, changed = s.logs.read(k, next)
		if out.write(lines) {
			return nil
		}
	}
}

// logQuery is what a request for a log asks for.
type logQuery struct {
	container        string
	tail             int       // -1: everything
	since            time.Time // zero: from the beginning
	limit            int       // bytes; 0: none
	stamps           bool
	follow, previous bool
}

func (s *Server) readLogQuery(c *call, pod *object) (logQuery, error) {
	values := c.query
	yes := func(name string) bool { v := values.Get(name); return v == "true" || v == "1" }
	q := logQuery{tail: -1, stamps: yes("timestamps"), follow: yes("follow"), previous: yes("previous")}
	var err error
	if q.container, err = logContainer(pod, values.Get("container")); err != nil {
		return q, err
	}
	for name, into := range map[string]*int{"tailLines": &q.tail, "limitBytes": &q.limit} {
		if raw := values.Get(name); raw != "" {
			n, err := strconv.Atoi(raw)
			if err != nil || n < 0 {
				return q, apierrors.NewBadRequest(fmt.Sprintf("%s: Invalid value: %q", name, raw))
			}
			*into = n
		}
	}
	if raw := values.Get("sinceSeconds"); raw != "" {
		n, err := strconv.Atoi(raw)
		if err != nil || n < 1 {
			return q, apierrors.NewBadRequest(fmt.Sprintf("sinceSeconds: Invalid value: %q", raw))
		}
		q.since = s.now().Add(-time.Duration(n) * time.Second)
	}
	if raw := values.Get("sinceTime"); raw != "" {
		if q.since, err = time.Parse(time.RFC3339, raw); err != nil {
			return q, apierrors.NewBadRequest(err.Error())
		}
	}
	return q, nil
}

// logRun is the time in which a run of a container wrote.
type logRun struct{ began, ended time.Time } // zero: not bounded

func (r logRun) holds(at time.Time) bool {
	return !at.Before(r.began) && (r.ended.IsZero() || at.Before(r.ended))
}

// runOf is the run of a container that a request asks for: the one that runs or ran last, or the one before it. A pod
// without a status, as tests make them, counts as running.
func runOf(pod *object, ask logQuery) (logRun, error) {
	created := pod.meta().GetCreationTimestamp().Time
	name := pod.meta().GetName()
	for _, status := range entries(pod.content, "status", "containerStatuses") {
		if status["name"] != ask.container {
			continue
		}
		restarts := fmt.Sprint(status["restartCount"])
		state, _ := status["state"].(map[string]any)
		running, runs := state["running"].(map[string]any)
		waiting, waits := state["waiting"].(map[string]any)
		began, _ := time.Parse(time.RFC3339, fmt.Sprint(running["startedAt"]))
		switch again := restarts != "0" && restarts != "<nil>"; {
		case ask.previous && !again:
			return logRun{}, apierrors.NewBadRequest(fmt.Sprintf("previous terminated container %q in pod %q not found", ask.container, name))
		case ask.previous:
			return logRun{began: created, ended: began}, nil
		case waits && !again:
			return logRun{}, apierrors.NewBadRequest(fmt.Sprintf("container %q in pod %q is waiting to start: %v", ask.container, name,
				waiting["reason"]))
		case runs && again:
			return logRun{began: began}, nil
		}
		return logRun{began: created}, nil
	}
	if ask.previous {
		return logRun{}, apierrors.NewBadRequest(fmt.Sprintf("previous terminated container %q in pod %q not found", ask.container, name))
	}
	return logRun{}, nil
}

// logWriter writes lines as a client wants them.
type logWriter struct {
	ask  logQuery
	w    http.ResponseWriter
	sent int
}

// write writes lines, and tells whether the client has as many bytes as it wanted.
func (o *logWriter) write(lines []logLine) (full bool) {
	var text strings.Builder
	for _, l := range lines {
		if o.ask.stamps {
			text.WriteString(l.at.UTC().Format(time.RFC3339Nano) + " ")
		}
		text.WriteString(l.text + "\n")
	}
	all := text.String()
	if left := o.ask.limit - o.sent; o.ask.limit > 0 && len(all) >= left {
		all, full = all[:left], true
	}
	o.sent += len(all)
	_, _ = o.w.Write([]byte(all)) // the client has gone; net/http notices
	return full
}

// logContainer is the container whose log is requested: the named one, or the only one.
func logContainer(pod *object, asked string) (string, error) {
	var names []string
	for _, list := range []string{"initContainers", "containers"} {
		for _, container := range entries(pod.content, "spec", list) {
			names = append(names, fmt.Sprint(container["name"]))
		}
	}
	name := pod.meta().GetName()
	switch {
	case asked != "" && !slices.Contains(names, asked):
		return "", apierrors.NewBadRequest(fmt.Sprintf("container %s is not valid for pod %s", asked, name))
	case asked != "":
		return asked, nil
	case len(names) == 1:
		return names[0], nil
	}
	return "", apierrors.NewBadRequest(fmt.Sprintf("a container name must be specified for pod %s, choose one of: %v", name, names))
}

// logs holds the output of containers.
type logs struct {
	mu      sync.Mutex
	all     map[logKey]*written
	changed chan struct{} // closed at the next line, and replaced
	torn    bool          // the next cut is in the middle of a line
}

// logKey names an output: of a pod's container, or of the container of an author's pods.
type logKey struct {
	pod       string // namespace/name; empty: an author's
	author    author
	container string
}

type logLine struct {
	at   time.Time
	text string
}

// written is the output of a container.
type written struct {
	lines   []logLine
	dropped int // lines before those
}

// own returns the output with that key; the caller holds mu.
func (l *logs) own(k logKey) *written {
	if l.all == nil {
		l.all = map[logKey]*written{}
	}
	if l.all[k] == nil {
		l.all[k] = &written{}
	}
	return l.all[k]
}

// put adds a line; the caller holds mu.
func (l *logs) put(k logKey, line logLine) {
	w := l.own(k)
	if w.lines = append(w.lines, line); len(w.lines) >= 2*keptLines {
		w.dropped += len(w.lines) - keptLines
		w.lines = slices.Clone(w.lines[len(w.lines)-keptLines:])
	}
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
}

// keyOf is where the output of a pod's container is: its own if any was set, else that of its workload.
func (l *logs) keyOf(pod *object, container string) logKey {
	l.mu.Lock()
	defer l.mu.Unlock()
	anywhere := author{namespace: pod.meta().GetNamespace(), workload: pod.meta().GetLabels()[workloadLabel]}
	spec, _ := pod.content["spec"].(map[string]any)
	placed := anywhere
	placed.node, _ = spec["nodeName"].(string)
	for _, k := range []logKey{{pod: pod.key, container: container}, {pod: pod.key}, {author: placed, container: container}} {
		if l.all[k] != nil {
			return k
		}
	}
	return logKey{author: anywhere, container: container}
}

// read returns the lines from a number on, the number of the next one, and a channel that is closed when there are more.
func (l *logs) read(k logKey, from int) (lines []logLine, next int, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed == nil {
		l.changed = make(chan struct{})
	}
	w := l.all[k]
	if w == nil {
		return nil, 0, l.changed
	}
	return slices.Clone(w.lines[min(max(from-w.dropped, 0), len(w.lines)):]), w.dropped + len(w.lines), l.changed
}

func (l *logs) tears() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.torn
}

// forget drops the output of a pod that is gone.
func (l *logs) forget(pod string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k := range l.all {
		if k.pod == pod {
			delete(l.all, k)
		}
	}
}
