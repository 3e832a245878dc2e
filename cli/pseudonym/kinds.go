package pseudonym

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"lockstep/core"
	"lockstep/core/progress"
)

var (
	// none has no names, and nowhere does a word stay.
	none    = newDictionary()
	nowhere = func(string) bool { return false }

	inParts      = func(word string) bool { return parts[word] }
	inVocabulary = func(word string) bool { return vocabulary[word] || parts[word] }

	// plainReason is the form of Kubernetes' own reasons.
	plainReason = regexp.MustCompile(`^[A-Z][A-Za-z]{1,40}$`)
	// harmlessValue is what the OpenStack controller reads from an annotation.
	harmlessValue = regexp.MustCompile(`^(live|manual|skip|\d{1,3})$`)
	harmlessSpec  = regexp.MustCompile(
		`^hw:(cpu_policy|cpu_thread_policy|cpu_realtime|mem_page_size|mem_encryption|numa_nodes|emulator_threads_policy|pmu|watchdog_action)$`)
)

// Names that every MOSK has; they tell nothing.
var (
	ownNamespaces = []string{"default", "kube-system", "kube-public", "kube-node-lease", "openstack", "openstack-external",
		"openstack-internal", "openstack-redis", "openstack-lma-shared", "openstack-ceph-shared", "openstack-tf-shared",
		"openstack-provider-system", "osh-system", "tf", "ceph", "rook-ceph", "ceph-lcm-mirantis", "stacklight", "lcm-system", "kaas",
		"metallb-system", "istio-system"}
	ownZones       = []string{"nova", "internal"}
	ownControllers = []string{core.ControllerOpenStack, core.ControllerCeph, core.ControllerTungstenFabric, core.ControllerStackLight}
	ownSteps       = []string{"openstack", "ceph", "k8s-controllers", "mcc-components"}
)

// groupStep begins the ID of an update group's step (docs/mosk.md#plan-steps); maintenanceTag begins a tag that says what maintenance does
// to an instance (docs/mosk.md#tags).
const (
	groupStep      = "k8s-workers-"
	maintenanceTag = "openstack.lcm.mirantis.com:maintenance_action="
)

// HarmlessSpec tells whether an extra spec of a flavor names nothing of the customer's.
func HarmlessSpec(key, value string) bool { return harmlessSpec.MatchString(key) && len(value) <= 16 }

// HarmlessValue tells whether the OpenStack controller knows the value of an annotation.
func HarmlessValue(value string) bool { return harmlessValue.MatchString(value) }

// stays tells whether a name of a kind is one that every MOSK has.
func stays(kind, name string) bool {
	switch kind {
	case "namespace":
		return slices.Contains(ownNamespaces, name)
	case "zone":
		return slices.Contains(ownZones, name)
	case "controller":
		return slices.Contains(ownControllers, name)
	}
	return false
}

// collect notes the names in a text.
func (p *pseudonyms) collect(r rule, s string) {
	switch r.class {
	case id:
		if ids.FindString(s) != s && !plain.MatchString(s) {
			p.learn("id", s)
		}
	case run:
		first, _, _ := strings.Cut(s, "/")
		p.learn("run", first)
	case name, namespace, zone, person, tag:
		kind := kindOf(r)
		if !stays(kind, s) && !strings.HasPrefix(s, maintenanceTag) && !strings.HasPrefix(s, "system:") {
			p.learn(kind, s)
		}
	case host:
		p.learnHost("node", s)
	case object:
		p.objects[s] = true
	case mixed:
		p.others[s] = true
	case value:
		p.values[s] = true
	case step:
		if group, ok := strings.CutPrefix(s, groupStep); ok {
			p.objects[group] = true
		}
	case remark:
		p.remarks[s] = true
	}
}

func kindOf(r rule) string {
	switch r.class {
	case namespace:
		return "namespace"
	case zone:
		return "zone"
	case person:
		return "operator"
	case tag:
		return "tag"
	}
	return r.kind
}

// parted is the name of a host in its parts: its first name, its domain, and a back end of a volume service.
func parted(host string) (first, domain, backend string) {
	first, backend, _ = strings.Cut(host, "@")
	if a := addresses.FindString(first); a != first || a == "" {
		first, domain, _ = strings.Cut(first, ".")
	}
	return first, domain, backend
}

func (p *pseudonyms) learnHost(kind, host string) {
	first, domain, backend := parted(host)
	p.learn(kind, first)
	p.learn("domain", domain)
	if backend != "" {
		p.objects[backend] = true
	}
}

// text makes a text anew; while names are collected, it notes them.
func (p *pseudonyms) text(r rule, s string) string {
	if s == "" {
		return ""
	}
	k := ruled{r, s}
	made, known := p.texts[k]
	if known {
		return made
	}
	if len(p.texts) >= mostTexts {
		clear(p.texts)
	}
	if p.collecting {
		p.collect(r, s)
		made = s
	} else {
		made = p.textAnew(r, s)
	}
	p.texts[k] = made
	return made
}

// ruled is a text with its rule. A recording says the same few texts over and over, so those that were made are remembered.
type ruled struct {
	rule rule
	text string
}

// mostTexts is how many texts are remembered.
const mostTexts = 200_000

func (p *pseudonyms) textAnew(r rule, s string) string {
	switch r.class {
	case own:
		return p.scan(s, none, inVocabulary, false)
	case prose:
		return p.prose(s)
	case remark:
		return p.remark(s)
	case id:
		return p.id(s)
	case run:
		first, item, batch := strings.Cut(s, "/")
		if batch {
			return p.made("run", first) + "/" + p.scan(item, none, nowhere, false)
		}
		return p.made("run", first)
	case name, namespace, zone:
		if kind := kindOf(r); !stays(kind, s) {
			return p.made(kind, s)
		}
		return s
	case person:
		if strings.HasPrefix(s, "system:") {
			return p.prose(s)
		}
		return p.made("operator", s)
	case host:
		return p.host(s)
	case object:
		return p.object(s)
	case mixed:
		return p.mixed(s)
	case key:
		return p.key(s)
	case reason:
		if plainReason.MatchString(s) && p.all.exact[s] == "" {
			return s
		}
		return p.prose(s)
	case step:
		return p.step(s)
	case label:
		return p.scan(s, p.all, inVocabulary, false)
	case value:
		return p.value(s)
	case image:
		return p.image(s)
	case tag:
		if action, ok := strings.CutPrefix(s, maintenanceTag); ok {
			return maintenanceTag + p.scan(action, none, inVocabulary, false)
		}
		return p.made("tag", s)
	case lock:
		return p.lock(s)
	case attempt:
		if !HarmlessValue(s) {
			return "unknown"
		}
		return s
	case setting:
		return p.setting(s)
	}
	return LeftOut
}

func (p *pseudonyms) prose(s string) string { return p.scan(s, p.all, inVocabulary, true) }

func (p *pseudonyms) remark(s string) string {
	if s == core.DisabledReasonMaintenance {
		return s
	}
	return LeftOut
}

func (p *pseudonyms) id(s string) string {
	if made, ok := p.all.exact[s]; ok {
		return made
	}
	return p.ID(s)
}

func (p *pseudonyms) host(s string) string {
	first, domain, backend := parted(s)
	made := p.made("node", first)
	if domain != "" {
		made += "." + p.made("domain", domain)
	}
	if backend != "" {
		made += "@" + p.object(backend)
	}
	return made
}

func (p *pseudonyms) object(s string) string {
	if made, ok := p.things.exact[s]; ok {
		return made
	}
	return p.scan(s, p.things, inParts, false)
}

func (p *pseudonyms) mixed(s string) string {
	if made, ok := p.all.exact[s]; ok {
		return made
	}
	if strings.HasPrefix(s, groupStep) {
		return p.step(s)
	}
	return p.scan(s, p.all, inParts, false)
}

// key makes the ID of an entry anew: a rule, and what it is about.
func (p *pseudonyms) key(s string) string {
	ruled, about, has := strings.Cut(s, "/")
	ruled = p.scan(ruled, none, inVocabulary, false)
	if !has {
		return ruled
	}
	if made, ok := p.all.exact[about]; ok {
		return ruled + "/" + made
	}
	return ruled + "/" + p.prose(about)
}

func (p *pseudonyms) step(s string) string {
	if group, ok := strings.CutPrefix(s, groupStep); ok {
		return groupStep + p.object(group)
	}
	if slices.Contains(ownSteps, s) {
		return s
	}
	return p.made("step", s)
}

func (p *pseudonyms) value(s string) string {
	if made, ok := p.all.exact[s]; ok {
		return made
	}
	if s[:wordEnd(s)] == s && inVocabulary(strings.ToLower(s)) {
		return s
	}
	return p.scan(s, p.all, inParts, false)
}

// image is an image without its registry.
func (p *pseudonyms) image(s string) string {
	called, version, _ := strings.Cut(s[strings.LastIndexByte(s, '/')+1:], ":")
	return p.object(called) + ":" + p.scan(version, none, inVocabulary, false)
}

// lock is the text on a lock. A text of the OpenStack controller still says what it said: where a name is one of its words, only names of
// things are replaced.
func (p *pseudonyms) lock(s string) string {
	was := progress.ReadLockMessage(s)
	for _, names := range []*dictionary{p.all, p.things} {
		made := p.scan(s, names, inVocabulary, true)
		if is := progress.ReadLockMessage(made); is.ID == was.ID && is.Class == was.Class && len(is.Instances) == len(was.Instances) {
			return made
		}
		if was.ID == "" {
			break
		}
	}
	return LeftOut
}

// setting is the OpenStack controller's setting of the labels of the roles.
func (p *pseudonyms) setting(s string) string {
	labels, err := core.ReadRoleLabels(s)
	if err != nil {
		return LeftOut
	}
	made := map[core.Role]map[string]string{}
	for role, l := range labels {
		made[role] = map[string]string{p.text(rule{class: label}, l.Key): p.text(rule{class: value}, l.Value)}
	}
	raw, err := json.Marshal(made)
	if err != nil {
		return LeftOut
	}
	return string(raw)
}
