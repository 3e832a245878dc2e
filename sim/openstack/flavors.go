package openstack

import "encoding/json"

func (k *call) flavorView(f *flavor, detail bool) object {
	v := object{"id": f.ID, "name": f.Name, "links": k.links("flavors", f.ID)}
	if k.mv.atLeast(55) {
		v["description"] = nil
	}
	if !detail {
		return v
	}
	v["ram"], v["disk"], v["vcpus"], v["swap"], v["rxtx_factor"] = f.RAM, f.Disk, f.VCPUs, any(""), json.RawMessage("1.0")
	v["OS-FLV-EXT-DATA:ephemeral"], v["OS-FLV-DISABLED:disabled"], v["os-flavor-access:is_public"] = 0, false, true
	if k.mv.atLeast(61) {
		v["extra_specs"] = specsView(f)
	}
	if k.mv.atLeast(75) {
		v["swap"] = 0
	}
	return v
}

func listFlavors(k *call) reply       { return k.flavors(false) }
func listFlavorsDetail(k *call) reply { return k.flavors(true) }

func (k *call) flavors(detail bool) reply {
	limit, marker, no := k.page()
	if no != nil {
		return *no
	}
	if marker != "" && k.c.flavors[marker] == nil {
		return badRequest("marker [%s] not found", marker)
	}
	items := []object{}
	found, last := marker == "", ""
	for _, f := range k.c.flavorOrder {
		if len(items) == limit {
			break
		}
		if found {
			items = append(items, k.flavorView(f, detail))
			last = f.ID
		}
		found = found || f.ID == marker
	}
	body := object{"flavors": items}
	k.next(body, "flavors_links", len(items), limit, last)
	return ok(body)
}

func showFlavor(k *call) reply {
	f := k.c.flavors[k.r.PathValue("id")]
	if f == nil {
		return missing("Flavor %s could not be found.", k.r.PathValue("id"))
	}
	return ok(object{"flavor": k.flavorView(f, true)})
}

func showExtraSpecs(k *call) reply {
	f := k.c.flavors[k.r.PathValue("id")]
	if f == nil {
		return missing("Flavor %s could not be found.", k.r.PathValue("id"))
	}
	return ok(object{"extra_specs": specsView(f)})
}
