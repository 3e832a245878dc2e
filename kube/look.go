package kube

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	selectors "k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"lockstep/core"
)

var gvrEvents = schema.GroupVersionResource{Version: "v1", Resource: "events"}

// LookPermissions are what logs, events and objects need beyond watching, and ManagementLookPermissions on the management cluster.
func LookPermissions() []Permission {
	return []Permission{{Verb: "get", Resource: "pods/log"}, {Verb: "list", Resource: gvrEvents.Resource}}
}

// ManagementLookPermissions are those on the management cluster: events in a namespace (empty: all), and LCM's pods with their logs.
func ManagementLookPermissions(namespace string) []Permission {
	return []Permission{{Verb: "list", Resource: gvrEvents.Resource, Namespace: namespace},
		{Verb: "list", Resource: gvrPods.Resource, Namespace: "kaas"}, {Verb: "get", Resource: "pods/log", Namespace: "kaas"}}
}

// looked are the kinds that can be looked at as a whole, by server. They are listed by name: Lockstep's rights are to list them.
// No kind that holds secrets is among them.
var looked = map[core.Server]map[string]schema.GroupVersionResource{
	core.ServerKubernetes: {
		string(core.KindNode):                      gvrNodes,
		string(core.KindPod):                       gvrPods,
		string(core.KindDeployment):                gvrDeployments,
		string(core.KindDaemonSet):                 gvrDaemonSets,
		"StatefulSet":                              gvrStatefulSets,
		string(core.KindJob):                       gvrJobs,
		string(core.KindClusterWorkloadLock):       lcm("clusterworkloadlocks"),
		string(core.KindNodeWorkloadLock):          lcm("nodeworkloadlocks"),
		string(core.KindClusterMaintenanceRequest): lcm("clustermaintenancerequests"),
		string(core.KindNodeMaintenanceRequest):    lcm("nodemaintenancerequests"),
		string(core.KindNodeDeletionRequest):       lcm("nodedeletionrequests"),
		string(core.KindNodeDisableNotification):   lcm("nodedisablenotifications"),
		string(core.KindOpenStackDeploymentStatus): lcm("openstackdeploymentstatus"),
		string(core.KindCephCluster):               gvrCephClusters,
	},
	core.ServerManagement: {
		string(core.KindCluster):       gvrClusters,
		string(core.KindMachine):       gvrMachines,
		string(core.KindLCMCluster):    lcm("lcmclusters"),
		string(core.KindLCMMachine):    lcm("lcmmachines"),
		"LCMClusterState":              lcm("lcmclusterstates"),
		string(core.KindUpdatePlan):    gvrUpdatePlans,
		string(core.KindUpdateGroup):   gvrUpdateGroups,
		string(core.KindAutoPause):     kaas("updateautopauses"),
		string(core.KindRebootRequest): gvrReboots,
	},
}

// eventsPage is how many events are asked for at once.
const eventsPage = 500

// Events implements core.Looker.
func (l *Looker) Events(ctx context.Context, about []core.EventTarget, most int) (core.EventList, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*callTimeout)
	defer cancel()
	found, cut, errs := make([][]core.Event, len(about)), make([]bool, len(about)), make([]error, len(about))
	var group sync.WaitGroup
	slots := make(chan struct{}, 4)
	for i, t := range about {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			found[i], cut[i], errs[i] = l.eventsOf(ctx, t, most)
		})
	}
	group.Wait()
	out := core.EventList{Events: slices.Concat(found...)}
	slices.SortStableFunc(out.Events, func(a, b core.Event) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.About, b.About)) })
	for i, t := range about {
		if cut[i] {
			out.Cut = append(out.Cut, t)
		}
	}
	for _, err := range errs {
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// eventsOf lists the events of one object page by page, at most so many; cut tells whether there are more. What has come before an
// error stays.
func (l *Looker) eventsOf(ctx context.Context, t core.EventTarget, most int) (out []core.Event, cut bool, err error) {
	call := "list the events of " + cmp.Or(t.Label, t.Name)
	c, err := l.client(t.Server, call)
	if err != nil {
		return nil, false, err
	}
	var terms []selectors.Selector
	if t.Name != "" {
		terms = append(terms, selectors.OneTermEqualSelector("involvedObject.name", t.Name))
	}
	if t.Kind != "" {
		terms = append(terms, selectors.OneTermEqualSelector("involvedObject.kind", t.Kind))
	}
	options := metav1.ListOptions{}
	if len(terms) > 0 {
		options.FieldSelector = selectors.AndSelectors(terms...).String()
	}
	for {
		options.Limit = int64(min(eventsPage, most-len(out)))
		list, err := c.resource(gvrEvents, t.Namespace).List(ctx, options)
		if err != nil {
			e := lookError(err, t.Server, call)
			if e.Kind == core.ErrUnauthorized {
				c.renew()
			}
			return out, len(out) > 0, e
		}
		for i := range list.Items {
			out = append(out, eventFrom(&list.Items[i], t.Label, c.secrets.Redact))
		}
		options.Continue = list.GetContinue()
		if options.Continue == "" || len(out) >= most {
			return out, options.Continue != "", nil
		}
	}
}

// eventFrom reads an event. Newer components write eventTime and series in place of the older fields.
func eventFrom(u *unstructured.Unstructured, label string, redact func(string) string) core.Event {
	f := fields(u.Object)
	about, series := f.at("involvedObject"), f.at("series")
	e := core.Event{Label: label, Reason: redact(f.text("reason")), Message: redact(f.text("message")),
		Warning: f.text("type") == "Warning",
		Kind:    about.text("kind"), About: about.text("name"), From: cmp.Or(f.at("source").text("component"), f.text("reportingComponent"))}
	if ns := about.text("namespace"); ns != "" {
		e.About = ns + "/" + e.About
	}
	e.Count, _ = f.number("count")
	if n, ok := series.number("count"); ok {
		e.Count = n
	}
	e.Count = max(e.Count, 1)
	for _, at := range []string{f.text("firstTimestamp"), f.text("eventTime"), u.GetCreationTimestamp().UTC().Format(time.RFC3339)} {
		if e.First.IsZero() {
			e.First = eventTime(at)
		}
	}
	for _, at := range []string{series.text("lastObservedTime"), f.text("lastTimestamp"), f.text("eventTime")} {
		if e.At.IsZero() {
			e.At = eventTime(at)
		}
	}
	if e.At.IsZero() {
		e.At = e.First
	}
	return e
}

func eventTime(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.Unix() <= 0 { // components that leave a time out write null, or the zero time
		return time.Time{}
	}
	return t
}

// Object implements core.Looker.
func (l *Looker) Object(ctx context.Context, t core.ObjectTarget) (core.ObjectText, error) {
	call := fmt.Sprintf("read %s %s", t.Kind, t.Name)
	gvr, known := looked[t.Server][t.Kind]
	if !known {
		return core.ObjectText{}, &core.APIError{Kind: core.ErrUnsupported, Server: t.Server, Call: call,
			Message: "Lockstep does not show objects of this kind: they may hold secrets, or it has no rights on them"}
	}
	c, err := l.client(t.Server, call)
	if err != nil {
		return core.ObjectText{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	list, err := c.listNamed(ctx, gvr, t.Namespace, t.Name)
	if err != nil {
		e := lookError(err, t.Server, call)
		if e.Kind == core.ErrUnauthorized {
			c.renew()
		}
		return core.ObjectText{}, e
	}
	if len(list.Items) == 0 {
		return core.ObjectText{}, &core.APIError{Kind: core.ErrNotFound, Server: t.Server, Call: call, Message: "it does not exist (any more)"}
	}
	u := &list.Items[0]
	core.RedactObject(u.Object, c.secrets.Redact)
	unstructured.RemoveNestedField(u.Object, "metadata", "managedFields")
	unstructured.RemoveNestedField(u.Object, "metadata", "annotations", "kubectl.kubernetes.io/last-applied-configuration")
	raw, err := yaml.Marshal(u.Object)
	if err != nil {
		return core.ObjectText{}, lookError(err, t.Server, call)
	}
	return core.ObjectText{YAML: c.secrets.Redact(string(raw)), Describe: c.secrets.Redact(describeObject(u)), AsOf: time.Now()}, nil
}

// listNamed lists the one object of a name, and reads all of it: other lists are read without what nobody decides on.
func (c *Client) listNamed(ctx context.Context, gvr schema.GroupVersionResource, namespace, name string) (*unstructured.UnstructuredList,
	error) {
	path := []string{"/apis", gvr.Group, gvr.Version}
	if gvr.Group == "" {
		path = []string{"/api", gvr.Version}
	}
	if namespace != "" {
		path = append(path, "namespaces", namespace)
	}
	answer := c.session.Load().rest.Get().AbsPath(append(path, gvr.Resource)...).
		Param("fieldSelector", selectors.OneTermEqualSelector("metadata.name", name).String()).Do(ctx)
	if err := answer.Error(); err != nil { // it reads what the server says, which Raw does not
		return nil, err
	}
	raw, err := answer.Raw()
	if err != nil {
		return nil, err
	}
	list := listOf(raw, false)
	if list == nil {
		return nil, errors.New("the answer is no list")
	}
	return list, nil
}

// describeObject is an object as lines of fields, in the order in which an operator reads them: what it is, its conditions, its
// status, what is wanted of it.
func describeObject(u *unstructured.Unstructured) string {
	var b strings.Builder
	line := func(label, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-20s %s\n", label+":", value)
		}
	}
	line("Kind", u.GetKind()+" ("+u.GetAPIVersion()+")")
	line("Name", u.GetName())
	line("Namespace", u.GetNamespace())
	line("UID", string(u.GetUID()))
	line("Resource version", u.GetResourceVersion())
	line("Created", u.GetCreationTimestamp().UTC().Format(time.RFC3339))
	if d := u.GetDeletionTimestamp(); d != nil {
		line("Being deleted since", d.UTC().Format(time.RFC3339))
	}
	line("Finalizers", strings.Join(u.GetFinalizers(), ", "))
	for _, o := range u.GetOwnerReferences() {
		line("Owner", o.Kind+" "+o.Name)
	}
	pairs := func(title string, m map[string]string) {
		if len(m) == 0 {
			return
		}
		fmt.Fprintf(&b, "\n%s\n", title)
		for _, k := range slices.Sorted(maps.Keys(m)) {
			fmt.Fprintf(&b, "  %s=%s\n", k, m[k])
		}
	}
	pairs("Labels", u.GetLabels())
	pairs("Annotations", u.GetAnnotations())
	status := fields(u.Object).at("status")
	for _, list := range []fields{status, status.at("providerStatus")} {
		conditions, _ := list["conditions"].([]any)
		if len(conditions) == 0 {
			continue
		}
		b.WriteString("\nConditions\n")
		for _, one := range conditions {
			c, _ := one.(map[string]any)
			f := fields(c)
			says := cmp.Or(f.text("status"), f.text("ready"))
			since := f.text("lastTransitionTime")
			fmt.Fprintf(&b, "  %s\n", strings.TrimSpace(strings.Join(slices.DeleteFunc([]string{fmt.Sprintf("%-22s %-7s", f.text("type"), says),
				f.text("reason"), f.text("message"), prefixed("since ", since)}, func(s string) bool { return s == "" }), "  ")))
		}
	}
	for _, part := range []string{"status", "spec"} {
		tree, _ := u.Object[part].(map[string]any)
		if len(tree) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n%s\n", strings.ToUpper(part[:1])+part[1:])
		describeTree(&b, tree, "  ")
	}
	return b.String()
}

func prefixed(before, text string) string {
	if text == "" {
		return ""
	}
	return before + text
}

// describeTree writes the fields below a part of an object, each on a line; conditions are written before.
func describeTree(b *strings.Builder, tree map[string]any, indent string) {
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		if key == "conditions" {
			continue
		}
		switch v := tree[key].(type) {
		case map[string]any:
			if len(v) > 0 {
				fmt.Fprintf(b, "%s%s:\n", indent, key)
				describeTree(b, v, indent+"  ")
			}
		case []any:
			if len(v) == 0 {
				continue
			}
			fmt.Fprintf(b, "%s%s:\n", indent, key)
			for _, one := range v {
				if m, ok := one.(map[string]any); ok {
					var item strings.Builder // its first line stands behind the dash
					describeTree(&item, m, indent+"    ")
					b.WriteString(indent + "  - " + cmp.Or(strings.TrimPrefix(item.String(), indent+"    "), "\n"))
				} else {
					fmt.Fprintf(b, "%s  - %v\n", indent, one)
				}
			}
		default:
			fmt.Fprintf(b, "%s%s: %v\n", indent, key, v)
		}
	}
}
