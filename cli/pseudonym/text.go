package pseudonym

import (
	"cmp"
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ownWords are the words of Lockstep's own texts, and of those of MOSK that it reads. A test writes the file.
//
//go:embed words.txt
var ownWords string

// vocabulary are the words that may stay in a text.
var vocabulary = setOf(strings.Fields(ownWords))

// parts are the words of which MOSK and OpenStack make the names of their own objects. A word of another object's name does not stay.
var parts = setOf(strings.Fields(`
	agent alertmanager api aodh apps barbican backup bgp bird calico ceilometer ceph cert cinder cluster clusterworkloadlock cnf collector
	compute conductor config control controller core coredns cronjob csi cwl data database db default designate dhcp dns drain elasticsearch
	etcd exporter fabric fluentd glance gnocchi haproxy heat helm horizon ingress ironic iscsi k8s kaas keystone kube kubernetes l3 lcm lease
	libvirt local lock manila mariadb masakari memcached metadata metallb metrics mgr mon monitor mosk neutron node nodes nova novncproxy
	nwl octavia openstack openvswitch operator osd osh ovn ovs ovsdp placement prometheus provisioner proxy rabbitmq redis request rfr rfs rgw
	rockoon rook scheduler sentinel server service services stacklight state storage swarm system tempest tests tf tungsten tungstenfabric
	update ui vault vnc volume vrouter vswitchd worker workloadlock zookeeper cassandra kafka webui control plane analytics snmp
	run app application component release group
	tfvrouter hypervisor nodegroup machine role enabled`))

func setOf(words []string) map[string]bool {
	set := make(map[string]bool, len(words))
	for _, w := range words {
		set[w] = true
	}
	return set
}

// plain are words that are numbers, times, sizes or versions.
var plain = regexp.MustCompile(
	`^(?:v?\d{1,10}|\d{8}T\d{6}Z?|\d{1,2}T\d{1,2}|\d{1,9}Z|(?:\d{1,6}(?:ms|s|m|h|d))+|\d{1,7}[KMGTP]?i?B?)$`)

// ids are IDs within texts; those of nodes called kaas-node-<uuid> among them. addresses are those of a network.
var (
	ids       = regexp.MustCompile(`^(?:[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}|[0-9a-f]{32})`)
	addresses = regexp.MustCompile(`^(?:\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}|[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7})`)
	dashed    = regexp.MustCompile(`^\d{1,3}(?:-\d{1,3}){3}`) // an address as names have it: ip-10-0-0-5
	times     = regexp.MustCompile(`^(?:\d{4}-\d\d-\d\d[T ])?\d\d:\d\d(?::\d\d)?`)
	number    = regexp.MustCompile(`^\d+$`)

	// goesOn is behind what looks like a time, and is the beginning of a hardware address.
	goesOn = regexp.MustCompile(`^:[0-9a-fA-F]`)
	// countsOn is behind what looks like a dashed address, and is a part of a longer number: of a release's name.
	countsOn = regexp.MustCompile(`^-\d`)
)

// addressAt is the address of a network with which a text begins; empty when it begins with none.
func addressAt(text string) string {
	if a := addresses.FindString(text); len(a) > 2 && !beginsWord(text[len(a):]) {
		return a
	}
	return ""
}

// dashedAt is the address with dashes with which a text begins; empty when it begins with none.
func dashedAt(text string) string {
	if a := dashed.FindString(text); a != "" && !beginsWord(text[len(a):]) && !countsOn.MatchString(text[len(a):]) {
		return a
	}
	return ""
}

// dictionary has the names that were found, by their first words.
type dictionary struct {
	exact   map[string]string
	byFirst map[string][]entry
}

type entry struct{ name, made string }

func newDictionary() *dictionary {
	return &dictionary{exact: map[string]string{}, byFirst: map[string][]entry{}}
}

// add adds a name. One without a letter or digit cannot be told from punctuation in a text; it is known as a whole only.
func (d *dictionary) add(name, made string) {
	d.exact[name] = made
	if core := strings.TrimFunc(name, func(r rune) bool { return !isWord(r) }); core != "" {
		first := core[:wordEnd(core)]
		d.byFirst[first] = append(d.byFirst[first], entry{core, made})
	}
}

// sort puts the longest names first. Without it nothing is found.
func (d *dictionary) sort() {
	for _, list := range d.byFirst {
		slices.SortFunc(list, func(a, b entry) int { return cmp.Or(len(b.name)-len(a.name), strings.Compare(a.name, b.name)) })
	}
}

// at is the longest name with which a text begins, and that ends where a word ends.
func (d *dictionary) at(text string) (entry, bool) {
	for _, e := range d.byFirst[text[:wordEnd(text)]] {
		if rest, ok := strings.CutPrefix(text, e.name); ok && !beginsWord(rest) {
			return e, true
		}
	}
	return entry{}, false
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsNumber(r) }

func beginsWord(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return text != "" && isWord(r)
}

// wordEnd is where the word ends with which a text begins.
func wordEnd(text string) int {
	if i := strings.IndexFunc(text, func(r rune) bool { return !isWord(r) }); i >= 0 {
		return i
	}
	return len(text)
}

// joins are the characters that join words to one name.
const joins = "-._@/+#~%$"

// scan makes a text anew: names of the dictionary and IDs get their pseudonyms, and what has a word that may not stay gets one, too.
// whole says that all of a name goes when one of its words may not stay; otherwise only these words.
func (n Names) scan(text string, d *dictionary, stays func(word string) bool, whole bool) string {
	var out strings.Builder
	for text != "" {
		if !beginsWord(text) {
			_, size := utf8.DecodeRuneInString(text)
			out.WriteString(text[:size])
			text = text[size:]
			continue
		}
		if e, ok := d.at(text); ok {
			out.WriteString(e.made)
			text = text[len(e.name):]
			continue
		}
		if id := ids.FindString(text); id != "" && !beginsWord(text[len(id):]) {
			out.WriteString(n.ID(id))
			text = text[len(id):]
			continue
		}
		if at := times.FindString(text); at != "" && !goesOn.MatchString(text[len(at):]) {
			out.WriteString(at)
			text = text[len(at):]
			continue
		}
		if a := cmp.Or(addressAt(text), dashedAt(text)); a != "" {
			out.WriteString(n.Name("address", a))
			text = text[len(a):]
			continue
		}
		// A name: words up to where another one begins that the dictionary has.
		end, foreign := n.span(text, d, stays, whole)
		switch {
		case foreign:
			out.WriteString(n.Name("name", text[:end]))
		default:
			out.WriteString(text[:end])
		}
		text = text[end:]
	}
	return out.String()
}

// span is how far the words go that are treated as one: joined words or, where not the whole name goes, those of them that all stay or
// all go.
func (n Names) span(text string, d *dictionary, stays func(word string) bool, whole bool) (end int, foreign bool) {
	may := func(word string) bool { return plain.MatchString(word) || stays(strings.ToLower(word)) }
	end = wordEnd(text)
	last := text[:end]
	foreign = !may(last)
	for end < len(text) {
		r, size := utf8.DecodeRuneInString(text[end:])
		next := text[end+size:]
		if !strings.ContainsRune(joins, r) || !beginsWord(next) {
			break
		}
		if _, known := d.at(next); known {
			break
		}
		if addressAt(next) != "" || !number.MatchString(last) && dashedAt(next) != "" {
			break
		}
		word := next[:wordEnd(next)]
		goes := !may(word)
		if ids.MatchString(next) || !whole && goes != foreign {
			break
		}
		foreign = foreign || goes
		end += size + len(word)
		last = word
	}
	return end, foreign
}
