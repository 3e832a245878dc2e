package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"lockstep/e2e/child"
	"lockstep/sim/openstack"
)

// flavors of the fleets' instances.
var flavors = []openstack.FlavorSpec{
	{Name: "m1.small", VCPUs: 1, RAM: 2 << 10, Disk: 20},
	{Name: "m1.medium", VCPUs: 2, RAM: 4 << 10, Disk: 40},
}

// cloudReady is what the process of the cloud prints once its servers answer.
const cloudReady = "ready\n"

// serveCloud is the process of the cloud: it serves the fleet's OpenStack in real time, writes its clouds.yaml into the folder, and
// ends with ctx or when the harness closes its input.
func serveCloud(ctx context.Context, f Fleet, dir string, in io.Reader, out io.Writer) error {
	cloud, err := openstack.New(openstack.Options{Seed: 1})
	if err != nil {
		return err
	}
	if err := seedCloud(cloud, f); err != nil {
		return err
	}
	if err := cloud.Start(ctx); err != nil {
		return err
	}
	defer cloud.Close()
	if err := cloud.WriteCloudsYAML(filepath.Join(dir, "clouds.yaml")); err != nil {
		return err
	}
	if _, err := io.WriteString(out, cloudReady); err != nil {
		return err
	}
	left := make(chan struct{})
	go func() {
		defer close(left)
		_, _ = io.Copy(io.Discard, in) // until the harness has gone
	}()
	select {
	case <-left:
	case <-ctx.Done():
	}
	return nil
}

// seedCloud puts the fleet's hosts and instances into the cloud.
func seedCloud(cloud *openstack.Cloud, f Fleet) error {
	for i := range projects {
		if _, err := cloud.AddProject(fmt.Sprintf("team-%02d", i+1)); err != nil {
			return err
		}
	}
	for _, flavor := range flavors {
		if _, err := cloud.AddFlavor(flavor); err != nil {
			return err
		}
	}
	for _, m := range f.machines() {
		var err error
		if m.Master {
			err = cloud.AddController(m.Node)
		} else {
			err = cloud.AddHost(openstack.HostSpec{Name: m.Node, VCPUs: 128, RAM: 1 << 20, Disk: 20_000})
		}
		if err != nil {
			return err
		}
	}
	now := time.Now()
	for i, g := range f.guests() {
		spec := openstack.ServerSpec{ID: g.ID, Name: g.Name, Project: g.Project, Flavor: g.Flavor, Host: g.Host, Status: g.Status,
			Tags: g.Tags, Created: now.Add(-time.Duration(i+1) * time.Minute)} // Nova lists by age: no two are the same
		if _, err := cloud.AddServer(spec); err != nil {
			return err
		}
	}
	return nil
}

// cloud is the harness's end of the process of the cloud.
type cloud struct {
	process    *child.Child
	lifeline   io.Closer
	cloudsYAML string
}

// startCloud runs this program again as the process of the cloud, so that none of its memory and time counts as anybody else's. The
// caller calls Close.
func startCloud(ctx context.Context, f Fleet, dir string) (*cloud, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start the cloud: %w", err)
	}
	cmd := exec.Command(self, cloudCommand, f.Name(), dir)
	input, lifeline, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the cloud: %w", err)
	}
	defer input.Close()
	output, printed, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the cloud: %w", err), lifeline.Close())
	}
	defer output.Close()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = input, printed, os.Stderr
	cmd.SysProcAttr = ownGroup() // ctrl+c is for the harness, which then closes the lifeline
	process, err := child.Start(cmd)
	printed.Close()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the cloud: %w", err), lifeline.Close())
	}
	c := &cloud{process: process, lifeline: lifeline, cloudsYAML: filepath.Join(dir, "clouds.yaml")}
	stop := context.AfterFunc(ctx, func() { output.SetReadDeadline(time.Now()) })
	defer stop()
	said := make([]byte, len(cloudReady))
	if _, err := io.ReadFull(output, said); err != nil {
		return nil, errors.Join(fmt.Errorf("start the cloud: it ended before it was ready: %w", err), context.Cause(ctx), c.Close())
	}
	return c, nil
}

// Close ends the process.
func (c *cloud) Close() error {
	err := c.lifeline.Close()
	return errors.Join(err, c.process.Stop(stopPatience))
}

// stopPatience is how long a process may take to leave.
const stopPatience = 5 * time.Second
