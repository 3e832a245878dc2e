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

// SetLog sets the lines that a container of a pod has written so far; "" means every container without lines of its
// own. The pod need not exist yet. The log is removed with the pod.
func (s *Server) SetLog(namespace, pod, container string, lines []string) {
	s.logs.mu.Lock()
	defer s.logs.mu.Unlock()
	at := key(namespace, pod)
	if s.logs.pods == nil {
		s.logs.pods = map[string]map[string]written{}
	}
	if s.logs.pods[at] == nil {
		s.logs.pods[at] = map[string]written{}
	}
	s.logs.pods[at][container] = written{lines: slices.Clone(lines), at: s.timestamp().Time}
}

// podLog answers a GET of a pod's log: the lines set for its container, or nothing. It ignores sinceSeconds. A followed
// log ends at once, like the log of a finished container.
func (s *Server) podLog(c *call, pods *resource) error {
	if c.info.verb != "get" {
		return errNoSuchMethod()
	}
	pod := pods.table.get(c.objectKey(pods))
	if pod == nil {
		return apierrors.NewNotFound(pods.GroupResource(), c.info.name)
	}
	container, err := logContainer(pod, c.URL.Query().Get("container"))
	if err != nil {
		return err
	}
	log := s.logs.of(c.objectKey(pods), container)
	lines := log.lines
	if raw := c.URL.Query().Get("tailLines"); raw != "" {
		tail, err := strconv.Atoi(raw)
		if err != nil || tail < 0 {
			return apierrors.NewBadRequest(fmt.Sprintf("tailLines: Invalid value: %q", raw))
		}
		lines = lines[max(0, len(lines)-tail):]
	}
	var text strings.Builder
	for _, line := range lines {
		if stamped := c.URL.Query().Get("timestamps"); stamped == "true" || stamped == "1" {
			text.WriteString(log.at.UTC().Format(time.RFC3339Nano) + " ")
		}
		text.WriteString(line + "\n")
	}
	c.w.Header().Set("Content-Type", "text/plain")
	c.w.WriteHeader(http.StatusOK)
	_, _ = c.w.Write([]byte(text.String())) // the client has gone; net/http notices
	return nil
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

// logs holds the output of pods: by pod, then by container.
type logs struct {
	mu   sync.Mutex
	pods map[string]map[string]written
}

// written is the output of a container.
type written struct {
	lines []string
	at    time.Time // of all lines
}

func (l *logs) of(pod, container string) written {
	l.mu.Lock()
	defer l.mu.Unlock()
	if own, found := l.pods[pod][container]; found {
		return own
	}
	return l.pods[pod][""]
}

// forget drops the output of a pod that is gone.
func (l *logs) forget(pod string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.pods, pod)
}
