package nova

import (
	"encoding/json"
	"strconv"
	"strings"
)

// scanServers reads a page of servers in one pass, as encoding/json does: a cloud has 100,000 of them, and each takes encoding/json two
// passes and a table of fields. It returns false, and the page is encoding/json's, where anything is wrong or written in another way than
// Nova does. Then the page can have been read in part.
func scanServers(body []byte, page *serverPage) bool {
	s := serverScan{data: body, known: map[string]string{}}
	ok := s.object(func(name string) bool {
		switch name {
		case "servers":
			if page.Servers != nil || page.listed != nil {
				return false
			}
			if page.polled {
				page.listed = []*listedServer{}
				return s.list(func() bool {
					one := s.listed(page.seen)
					page.listed = append(page.listed, one)
					return one != nil
				})
			}
			page.Servers = []serverRecord{}
			return s.list(func() bool {
				page.Servers = append(page.Servers, serverRecord{})
				return s.server(&page.Servers[len(page.Servers)-1])
			})
		case "servers_links":
			if page.Links != nil {
				return false
			}
			page.Links = []link{}
			return s.list(func() bool {
				page.Links = append(page.Links, link{})
				return s.object(func(name string) bool {
					if name == "rel" {
						return s.text(&page.Links[len(page.Links)-1].Rel)
					}
					return s.skip(name)
				})
			})
		}
		return s.skip(name)
	})
	s.space()
	return ok && s.at == len(body)
}

// serverScan reads JSON. Its methods return false, and it is of no use any more, where something is wrong or unusual.
type serverScan struct {
	data  []byte
	at    int
	depth int
	known map[string]string // texts that servers share

	record serverRecord // of a server of which less is kept
}

// scannedNames are the fields that are read. encoding/json takes them in any case, so that other writings of them are left to it.
var scannedNames = []string{"servers", "servers_links", "rel", "id", "name", "tenant_id", "user_id", "OS-EXT-SRV-ATTR:host", "status",
	"OS-EXT-STS:vm_state", "OS-EXT-STS:task_state", "OS-EXT-STS:power_state", "OS-EXT-AZ:availability_zone", "locked", "tags", "flavor",
	"image",
	"fault", "created", "updated", "original_name", "vcpus", "ram", "disk", "ephemeral", "swap", "extra_specs", "message"}

// foldedNames are the scannedNames in lower case.
var foldedNames = func() map[string]bool {
	folded := map[string]bool{}
	for _, name := range scannedNames {
		folded[strings.ToLower(name)] = true
	}
	return folded
}()

// skippedNames are the fields of servers that Nova sends and nobody reads here; for others it is looked whether they are a field that is
// written in another case.
var skippedNames = func() map[string]bool {
	known := map[string]bool{}
	for _, name := range []string{"metadata", "hostId", "links", "addresses", "accessIPv4", "accessIPv6", "OS-DCF:diskConfig", "progress",
		"config_drive", "key_name", "OS-SRV-USG:launched_at", "OS-SRV-USG:terminated_at", "OS-EXT-SRV-ATTR:instance_name",
		"OS-EXT-SRV-ATTR:hypervisor_hostname", "OS-EXT-SRV-ATTR:reservation_id", "OS-EXT-SRV-ATTR:launch_index",
		"OS-EXT-SRV-ATTR:hostname", "OS-EXT-SRV-ATTR:kernel_id", "OS-EXT-SRV-ATTR:ramdisk_id", "OS-EXT-SRV-ATTR:root_device_name",
		"OS-EXT-SRV-ATTR:user_data", "os-extended-volumes:volumes_attached", "host_status", "description", "locked_reason",
		"trusted_image_certificates", "security_groups", "href", "version", "addr", "OS-EXT-IPS:type", "OS-EXT-IPS-MAC:mac_addr"} {
		known[name] = true
	}
	return known
}()

// listed reads a server, or takes it from those that were seen; nil where something is wrong or unusual.
func (s *serverScan) listed(seen *seenServers) *listedServer {
	var raw []byte
	var sum uint64
	s.space()
	from := s.at
	if seen != nil {
		raw = objectAt(s.data[s.at:])
		sum = seen.sum(raw)
		if known := seen.at(sum); known != nil {
			s.at += len(raw)
			return known
		}
	}
	s.record = serverRecord{}
	if !s.server(&s.record) {
		return nil
	}
	one := s.record.listed()
	if seen != nil && s.at == from+len(raw) {
		seen.put(sum, one)
	}
	return one
}

func (s *serverScan) server(r *serverRecord) bool {
	return s.object(func(name string) bool {
		switch name {
		case "id":
			return s.text(&r.ID)
		case "name":
			return s.text(&r.Name)
		case "tenant_id":
			return s.repeated(&r.ProjectID)
		case "user_id":
			return s.repeated(&r.UserID)
		case "OS-EXT-SRV-ATTR:host":
			r.Host.told = true
			return s.repeated(&r.Host.name)
		case "status":
			return s.repeated(&r.Status)
		case "OS-EXT-STS:vm_state":
			return s.repeated(&r.VMState)
		case "OS-EXT-STS:task_state":
			return s.repeated(&r.TaskState)
		case "OS-EXT-STS:power_state":
			return s.number(&r.PowerState)
		case "OS-EXT-AZ:availability_zone":
			return s.repeated(&r.Zone)
		case "locked":
			return s.truth(&r.Locked)
		case "tags":
			if s.next() == 'n' {
				r.Tags = nil
				return s.word("null")
			}
			tags := []string{}
			if !s.list(func() bool {
				tags = append(tags, "")
				return s.text(&tags[len(tags)-1])
			}) {
				return false
			}
			r.Tags = &tags
			return true
		case "flavor":
			return s.object(func(name string) bool { return s.flavor(&r.Flavor, name) })
		case "image":
			s.space()
			from := s.at
			if !s.value() {
				return false
			}
			r.Image.none = string(s.data[from:s.at]) == `""`
			return true
		case "fault":
			return s.object(func(name string) bool {
				switch name {
				case "message":
					return s.text(&r.Fault.Message)
				case "created":
					return s.text(&r.Fault.Created)
				}
				return s.skip(name)
			})
		case "created":
			return s.text(&r.Created)
		case "updated":
			return s.text(&r.Updated)
		}
		return s.skip(name)
	})
}

func (s *serverScan) flavor(r *flavorRecord, name string) bool {
	switch name {
	case "original_name":
		return s.repeated(&r.Name)
	case "vcpus":
		return s.number(&r.VCPUs)
	case "ram":
		return s.number(&r.RAM)
	case "disk":
		return s.number(&r.Disk)
	case "ephemeral":
		return s.number(&r.Ephemeral)
	case "swap":
		return s.number(&r.Swap)
	case "extra_specs":
		if r.ExtraSpecs != nil {
			return false
		}
		r.ExtraSpecs = map[string]string{}
		return s.anyObject(func(name string) bool {
			var value string
			ok := s.text(&value)
			r.ExtraSpecs[name] = value
			return ok
		})
	}
	return s.skip(name)
}

// skip reads a value that nobody wants.
func (s *serverScan) skip(name string) bool {
	return (skippedNames[name] || !foldedNames[strings.ToLower(name)]) && s.value()
}

func (s *serverScan) space() {
	for s.at < len(s.data) && (s.data[s.at] == ' ' || s.data[s.at] == '\n' || s.data[s.at] == '\t' || s.data[s.at] == '\r') {
		s.at++
	}
}

// next is the byte after the spaces; 0 at the end.
func (s *serverScan) next() byte {
	s.space()
	if s.at == len(s.data) {
		return 0
	}
	return s.data[s.at]
}

// object reads an object: field reads the value of each. One whose names are not plain ASCII is unusual.
func (s *serverScan) object(field func(name string) bool) bool {
	return s.anyObject(func(name string) bool {
		for i := range len(name) {
			if name[i] >= 0x80 {
				return false
			}
		}
		return field(name)
	})
}

// deepestServer is how deep a page of servers may be nested to be read here.
const deepestServer = 40

func (s *serverScan) anyObject(field func(name string) bool) bool {
	if s.depth++; s.next() != '{' || s.depth > deepestServer {
		return false
	}
	s.at++
	if s.next() == '}' {
		s.at++
		s.depth--
		return true
	}
	for {
		quoted, ok := s.quoted()
		if !ok || s.next() != ':' {
			return false
		}
		s.at++
		name, known := nameOf[string(quoted[1:len(quoted)-1])]
		if !known {
			if name, ok = unquoted(quoted); !ok {
				return false
			}
		}
		if !field(name) {
			return false
		}
		switch s.next() {
		case ',':
			s.at++
		case '}':
			s.at++
			s.depth--
			return true
		default:
			return false
		}
	}
}

// nameOf are the names of fields that each server has, so that they are not made anew for each.
var nameOf = func() map[string]string {
	names := map[string]string{}
	for _, name := range scannedNames {
		names[name] = name
	}
	for name := range skippedNames {
		names[name] = name
	}
	return names
}()

func (s *serverScan) list(item func() bool) bool {
	if s.depth++; s.next() != '[' || s.depth > deepestServer {
		return false
	}
	s.at++
	if s.next() == ']' {
		s.at++
		s.depth--
		return true
	}
	for {
		if !item() {
			return false
		}
		switch s.next() {
		case ',':
			s.at++
		case ']':
			s.at++
			s.depth--
			return true
		default:
			return false
		}
	}
}

// value reads any value, and looks whether it is JSON.
func (s *serverScan) value() bool {
	switch c := s.next(); {
	case c == '{':
		return s.anyObject(func(string) bool { return s.value() })
	case c == '[':
		return s.list(s.value)
	case c == '"':
		_, ok := s.quoted()
		return ok
	case c == '-' || c >= '0' && c <= '9':
		_, ok := s.digits()
		return ok
	case c == 't':
		return s.word("true")
	case c == 'f':
		return s.word("false")
	case c == 'n':
		return s.word("null")
	}
	return false
}

func (s *serverScan) word(word string) bool {
	end := s.at + len(word)
	if end > len(s.data) || string(s.data[s.at:end]) != word {
		return false
	}
	s.at = end
	return true
}

// text reads a text into a field; null leaves it as it is.
func (s *serverScan) text(into *string) bool {
	if s.next() == 'n' {
		return s.word("null")
	}
	quoted, ok := s.quoted()
	if !ok {
		return false
	}
	*into, ok = unquoted(quoted)
	return ok
}

// repeated is text for a field that is the same of many servers.
func (s *serverScan) repeated(into *string) bool {
	if s.next() == 'n' {
		return s.word("null")
	}
	quoted, ok := s.quoted()
	if !ok {
		return false
	}
	text, known := s.known[string(quoted)]
	if !known {
		if text, ok = unquoted(quoted); !ok {
			return false
		}
		s.known[string(quoted)] = text
	}
	*into = text
	return true
}

func (s *serverScan) truth(into *bool) bool {
	switch s.next() {
	case 't':
		*into = true
		return s.word("true")
	case 'f':
		*into = false
		return s.word("false")
	}
	return s.word("null")
}

// number reads a whole number into a field; null leaves it as it is. Any other number is unusual.
func (s *serverScan) number(into *int) bool {
	if s.next() == 'n' {
		return s.word("null")
	}
	digits, ok := s.digits()
	if !ok {
		return false
	}
	n, err := strconv.Atoi(string(digits))
	*into = n
	return err == nil
}

// digits is a number as it is written.
func (s *serverScan) digits() ([]byte, bool) {
	from := s.at
	for s.at < len(s.data) && strings.IndexByte("+-0123456789.eE", s.data[s.at]) >= 0 {
		s.at++
	}
	text := s.data[from:s.at]
	return text, json.Valid(text)
}

// quoted is a text with its quotation marks.
func (s *serverScan) quoted() ([]byte, bool) {
	if s.next() != '"' {
		return nil, false
	}
	from, plain := s.at, true
	for i := from + 1; i < len(s.data); i++ {
		switch c := s.data[i]; {
		case c == '"':
			s.at = i + 1
			text := s.data[from:s.at]
			return text, plain || json.Valid(text)
		case c == '\\':
			plain = false
			i++
		case c < ' ':
			return nil, false
		}
	}
	return nil, false
}

// unquoted is what a text says.
func unquoted(quoted []byte) (string, bool) {
	inner := quoted[1 : len(quoted)-1]
	for _, c := range inner {
		if c == '\\' || c >= 0x80 {
			var text string
			err := json.Unmarshal(quoted, &text)
			return text, err == nil
		}
	}
	return string(inner), true
}
