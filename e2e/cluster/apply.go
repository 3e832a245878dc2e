package cluster

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"sigs.k8s.io/yaml"

	"lockstep/sim/crds"
)

// Namespaces are the namespaces of a MOSK cluster that the program reads.
var Namespaces = []string{"openstack", "osh-system", "openstack-external", "openstack-redis", "tf", "stacklight"}

// discoveryInterval is how often the discovery is read again.
const discoveryInterval = 50 * time.Millisecond

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// Equip makes the API server that of a MOSK cluster: it applies the custom resource definitions, waits until their objects can be
// listed and watched, and creates the namespaces.
func (c *Cluster) Equip(ctx context.Context) error {
	for _, crd := range crds.All() {
		if err := c.Apply(ctx, crd.YAML); err != nil {
			return err
		}
	}
	if err := c.awaitAllServed(ctx); err != nil {
		return err
	}
	for _, name := range Namespaces {
		manifest := fmt.Sprintf("{apiVersion: v1, kind: Namespace, metadata: {name: %s}}", name)
		if err := c.Apply(ctx, []byte(manifest)); err != nil {
			return err
		}
	}
	return nil
}

// Apply applies each object of the manifest (YAML documents) as Admin, by server-side apply, as `kubectl apply --server-side`
// does.
func (c *Cluster) Apply(ctx context.Context, manifest []byte) error {
	return Apply(ctx, c.Config(Admin), manifest)
}

// Apply applies each object of the manifest on any API server.
func Apply(ctx context.Context, config *rest.Config, manifest []byte) error {
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	disco, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(disco))

	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(manifest)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a manifest: %w", err)
		}
		var object unstructured.Unstructured
		if err := yaml.Unmarshal(document, &object.Object); err != nil {
			return fmt.Errorf("read a manifest: %w", err)
		}
		if len(object.Object) == 0 {
			continue // only comments
		}
		kind := object.GroupVersionKind()
		mapping, err := mapper.RESTMapping(kind.GroupKind(), kind.Version)
		if err != nil {
			return fmt.Errorf("apply %s %s: %w", kind.Kind, object.GetName(), err)
		}
		_, err = client.Resource(mapping.Resource).Namespace(object.GetNamespace()).
			Apply(ctx, object.GetName(), &object, metav1.ApplyOptions{FieldManager: "lockstep-e2e", Force: true})
		if err != nil {
			return fmt.Errorf("apply %s %s: %w", kind.Kind, object.GetName(), err)
		}
	}
}

// awaitAllServed waits until objects of every definition of a MOSK cluster can be watched.
func (c *Cluster) awaitAllServed(ctx context.Context) error {
	// All at once, because the server takes a second or two for each.
	var waiting sync.WaitGroup
	all := crds.All()
	errs := make([]error, len(all))
	for i, crd := range all {
		waiting.Go(func() { errs[i] = c.awaitServed(ctx, crd.Name) })
	}
	waiting.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return c.awaitDiscovery(ctx)
}

// awaitDiscovery waits until the discovery names the kinds of every definition, in one document and by group. This happens a
// moment after they are served, and applying a manifest uses the discovery.
func (c *Cluster) awaitDiscovery(ctx context.Context) error {
	client, err := discovery.NewDiscoveryClientForConfig(c.Config(Admin))
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	ticker := time.NewTicker(discoveryInterval)
	defer ticker.Stop()
	for {
		missing, err := undiscovered(client)
		if err == nil && missing == "" {
			return nil
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return fmt.Errorf("the discovery does not name %s (%v): %w", missing, err, ctx.Err())
		}
	}
}

// undiscovered returns a definition that the discovery does not name; empty when it names all.
func undiscovered(client *discovery.DiscoveryClient) (string, error) {
	_, all, err := client.ServerGroupsAndResources()
	if err != nil {
		return "", err
	}
	ours := map[string]bool{}
	for _, crd := range crds.All() {
		_, group, _ := strings.Cut(crd.Name, ".")
		ours[group] = true
	}
	versions := map[string]bool{}
	for _, list := range all {
		if group, _, _ := strings.Cut(list.GroupVersion, "/"); ours[group] {
			versions[list.GroupVersion] = true
		}
	}
	for version := range versions {
		list, err := client.ServerResourcesForGroupVersion(version)
		if err != nil {
			return "", err
		}
		all = append(all, list)
	}
	found := map[string]int{} // in how many documents
	for _, list := range all {
		group, _, _ := strings.Cut(list.GroupVersion, "/")
		for _, resource := range list.APIResources {
			found[resource.Name+"."+group]++
		}
	}
	for _, crd := range crds.All() {
		if found[crd.Name] < 2 {
			return crd.Name, nil
		}
	}
	return "", nil
}

// awaitServed waits until objects of the definition can be watched.
func (c *Cluster) awaitServed(ctx context.Context, name string) error {
	client, err := dynamic.NewForConfig(c.Config(Admin))
	if err != nil {
		return fmt.Errorf("make a client: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	// A watch without a resourceVersion begins with the present object.
	events, err := client.Resource(definitions).Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	if err != nil {
		return fmt.Errorf("watch the definition %s: %w", name, err)
	}
	defer events.Stop()
	for event := range events.ResultChan() {
		definition, ok := event.Object.(*unstructured.Unstructured)
		if !ok || event.Type == watch.Deleted || !established(definition) {
			continue
		}
		resource, err := served(definition)
		if err != nil {
			return fmt.Errorf("read the definition %s: %w", name, err)
		}
		// An established definition still answers 429 (storage is (re)initializing) for a moment; the client tries again.
		objects, err := client.Resource(resource).Watch(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("watch %s: %w", resource.Resource, err)
		}
		objects.Stop()
		return nil
	}
	return fmt.Errorf("the server has not established the definition %s: the watch ended (%v)", name, context.Cause(ctx))
}

// served returns the resource that the definition defines, in its first version.
func served(definition *unstructured.Unstructured) (schema.GroupVersionResource, error) {
	group, _, err := unstructured.NestedString(definition.Object, "spec", "group")
	if err != nil {
		return schema.GroupVersionResource{}, err
	}
	plural, _, err := unstructured.NestedString(definition.Object, "spec", "names", "plural")
	if err != nil {
		return schema.GroupVersionResource{}, err
	}
	versions, _, err := unstructured.NestedSlice(definition.Object, "spec", "versions")
	if err != nil {
		return schema.GroupVersionResource{}, err
	}
	if len(versions) == 0 {
		return schema.GroupVersionResource{}, errors.New("it has no version")
	}
	version, _ := versions[0].(map[string]any)
	name, _, err := unstructured.NestedString(version, "name")
	return schema.GroupVersionResource{Group: group, Version: name, Resource: plural}, err
}

func established(definition *unstructured.Unstructured) bool {
	conditions, _, err := unstructured.NestedSlice(definition.Object, "status", "conditions")
	if err != nil {
		return false
	}
	for _, raw := range conditions {
		condition, ok := raw.(map[string]any)
		if ok && condition["type"] == "Established" && condition["status"] == "True" {
			return true
		}
	}
	return false
}
