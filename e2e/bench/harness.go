package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"lockstep/e2e/cluster"
	"lockstep/sim/controller"
)

// harness measures programs on fleets.
type harness struct {
	lockstep string // path of the program
	k9s      string // path, or empty
	pace     pace
	progress io.Writer // says what is being done
}

func (h harness) say(format string, args ...any) {
	fmt.Fprintf(h.progress, time.Now().Format("15:04:05 ")+format+"\n", args...)
}

// measure fills an API server with the fleet and measures the programs on it, one after the other. It returns how long the filling took.
func (h harness) measure(ctx context.Context, f Fleet) (runs []Run, filled time.Duration, err error) {
	h.say("%s: start a kube-apiserver and fill it", f)
	c, err := cluster.StartBulk(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	if err := c.Equip(ctx); err != nil {
		return nil, 0, err
	}
	if err := c.GrantRights(ctx); err != nil {
		return nil, 0, err
	}
	kube, err := newKubernetesAPI(c.Config(cluster.Controllers))
	if err != nil {
		return nil, 0, err
	}
	begun := time.Now()
	if err := kube.fill(ctx, f); err != nil {
		return nil, 0, err
	}
	filled = time.Since(begun)
	h.say("filled in %.1f s", filled.Seconds())

	kubeconfig, err := c.WriteKubeconfig(cluster.Operator)
	if err != nil {
		return nil, filled, err
	}
	run, err := h.measureLockstep(ctx, f, kube, kubeconfig, false)
	if err != nil {
		return nil, filled, fmt.Errorf("measure lockstep: %w", err)
	}
	runs = append(runs, run)
	if run, err = h.measureLockstep(ctx, f, kube, kubeconfig, true); err != nil {
		return runs, filled, fmt.Errorf("measure lockstep with OpenStack: %w", err)
	}
	runs = append(runs, run)
	if kubeconfig, err = c.WriteKubeconfig(cluster.Admin); err != nil {
		return runs, filled, err
	}
	if run, err = h.measureK9s(ctx, f, kube, kubeconfig); err != nil {
		return runs, filled, fmt.Errorf("measure k9s: %w", err)
	}
	return append(runs, run), filled, nil
}

// measureLockstep measures Lockstep on a fleet, with or without its OpenStack.
func (h harness) measureLockstep(ctx context.Context, f Fleet, kube kubernetesAPI, kubeconfig string, openStack bool) (run Run, err error) {
	home, err := newHome()
	if err != nil {
		return Run{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	env, args := []string{"KUBECONFIG=" + kubeconfig}, []string{"--read-only"}
	var nova *controller.Connection
	if openStack {
		h.say("start the cloud")
		dir := filepath.Join(home, "cloud")
		if err := os.Mkdir(dir, 0o700); err != nil {
			return Run{}, err
		}
		c, err := startCloud(ctx, f, dir)
		if err != nil {
			return Run{}, err
		}
		defer func() { err = errors.Join(err, c.Close()) }()
		if nova, err = controller.Connect(ctx, c.cloudsYAML, cloudName, nil); err != nil {
			return Run{}, err
		}
		defer nova.Close()
		env, args = append(env, "OS_CLIENT_CONFIG_FILE="+c.cloudsYAML), append(args, "--os-cloud", cloudName)
	}
	run = Run{Fleet: f.Name(), Program: programLockstep, OpenStack: openStack, Figures: Figures{}}
	s := h.session(lockstepProgram, f, run.Figures)
	defer func() { err = errors.Join(err, s.close()) }()
	h.say("%s: start", run.title())
	if err := s.begin(ctx, home, h.lockstep, openStack, env, args); err != nil {
		return Run{}, err
	}
	s.term.Type("3") // the nodes
	h.say("%s: at rest", run.title())
	if err := s.rest(ctx); err != nil {
		return Run{}, err
	}
	h.say("%s: under change", run.title())
	l := newLoad(f, kube, nova, s.visible())
	if err := s.underChange(ctx, l, true); err != nil {
		return Run{}, err
	}
	h.say("%s: the final state", run.title())
	missing, err := s.finalState(ctx, l)
	if err != nil {
		return Run{}, err
	}
	run.Figures[lost] = float64(missing)
	return run, l.undo(ctx)
}

// measureK9s measures k9s on the locks of a fleet.
func (h harness) measureK9s(ctx context.Context, f Fleet, kube kubernetesAPI, kubeconfig string) (run Run, err error) {
	run = Run{Fleet: f.Name(), Program: programK9s}
	if h.k9s == "" {
		run.Missing = "not on the PATH"
		return run, nil
	}
	home, err := newHome()
	if err != nil {
		return Run{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	run.Figures = Figures{}
	s := h.session(k9sProgram, f, run.Figures)
	defer func() { err = errors.Join(err, s.close()) }()
	h.say("%s: start", run.title())
	env := []string{"KUBECONFIG=" + kubeconfig, "K9S_CONFIG_DIR=" + home}
	if err := s.begin(ctx, home, h.k9s, false, env, []string{"--logoless", "--splashless", "--command", nodeLocks.Resource}); err != nil {
		return Run{}, err
	}
	h.say("%s: at rest", run.title())
	if err := s.rest(ctx); err != nil {
		return Run{}, err
	}
	h.say("%s: under change", run.title())
	l := newLoad(f, kube, nil, nil)
	if err := s.underChange(ctx, l, false); err != nil {
		return Run{}, err
	}
	return run, l.undo(ctx)
}

func (h harness) session(p program, f Fleet, figures Figures) *session {
	return &session{program: p, pace: h.pace, fleet: f, figures: figures, progress: h.progress,
		chance: rand.New(rand.NewPCG(uint64(f.Nodes), 3))}
}

// cloudName is the administrator's cloud in the clouds.yaml of the simulated OpenStack.
const cloudName = "sim"
