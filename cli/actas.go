package cli

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"lockstep/core"
)

// played is how the configuration describes an application controller that Lockstep can play.
type played struct {
	Nodes     string `yaml:"nodes"`     // label selector of the nodes that it holds
	Namespace string `yaml:"namespace"` // in which its pods have to be ready; empty: none are looked at
	OneByOne  bool   `yaml:"oneByOne"`
	Finalizer string `yaml:"finalizer"` // of openstack: the finalizer by which it holds requests; empty: the one on its own objects
	Absent    bool   `yaml:"absent"`    // of openstack: there is no Deployment rockoon, and no other controller of that kind
}

// checkControllers says what is wrong with the descriptions of controllers.
func (c config) checkControllers() error {
	for name, p := range c.Controllers {
		if _, err := p.selector(name); err != nil {
			return err
		}
	}
	for _, name := range c.ActAs {
		if _, err := c.played(name); err != nil {
			return err
		}
	}
	return nil
}

func (p played) selector(name string) (labels.Selector, error) {
	if strings.TrimSpace(p.Nodes) == "" && name == core.ControllerOpenStack {
		return nil, nil // the roles say which nodes it holds
	}
	if strings.TrimSpace(p.Nodes) == "" {
		return nil, fmt.Errorf("controllers.%s.nodes: want the label selector of the nodes that it holds", name)
	}
	s, err := labels.Parse(p.Nodes)
	if err != nil {
		return nil, fmt.Errorf("controllers.%s.nodes: %q is not a label selector: %w", name, p.Nodes, err)
	}
	return s, nil
}

// played is how Lockstep plays the controller. The OpenStack controller needs no description: the documents say what it holds
// (docs/mosk.md#roles).
func (c config) played(name string) (core.ActAs, error) {
	p, described := c.Controllers[name]
	a := core.ActAs{Controller: name, Namespace: p.Namespace, OneByOne: p.OneByOne, Absent: p.Absent, Finalizer: p.Finalizer}
	if name == core.ControllerOpenStack && p.Nodes == "" {
		a.Roles = []core.Role{core.RoleController, core.RoleCompute, core.RoleGateway}
		if a.Namespace == "" {
			a.Namespace = core.ControllerOpenStack
		}
		return a, nil
	}
	if !described {
		return a, fmt.Errorf("acting as %q: the configuration does not say which nodes it holds\nadd this (`lockstep config` explains it):\n\n  "+
			"controllers:\n    %s: {nodes: \"LABEL=VALUE\", namespace: NAMESPACE}", name, name)
	}
	return a, nil
}

// played returns the controllers that this run plays, from the flags and from the configuration, and the selectors of their nodes.
func (o *options) played() ([]core.ActAs, map[string]labels.Selector, error) {
	var all []core.ActAs
	selectors := map[string]labels.Selector{}
	for _, name := range slices.Concat(o.config.ActAs, o.actAs) {
		if slices.ContainsFunc(all, func(a core.ActAs) bool { return a.Controller == name }) {
			continue
		}
		a, err := o.config.played(name)
		if err != nil {
			return nil, nil, err
		}
		s, err := o.config.Controllers[name].selector(name)
		if err != nil {
			return nil, nil, err
		}
		if s != nil {
			selectors[name] = s
		}
		all = append(all, a)
	}
	return all, selectors, nil
}
