package openstack

import (
	"maps"
	"net/http"
)

// metadataChange reads the metadata of a request's body.
func (k *call) metadataChange(key string) (*server, map[string]string, *reply) {
	args, no := schema{properties: map[string]property{key: objectProperty}, order: []string{key}, required: []string{key}}.check("", k.body)
	if no != nil {
		return nil, nil, no
	}
	change, no := textMap(args[key])
	if no != nil {
		return nil, nil, no
	}
	s, no := k.findServer()
	return s, change, no
}

func addMetadata(k *call) reply {
	s, change, no := k.metadataChange("metadata")
	if no != nil {
		return *no
	}
	s.metadata = metadataView(s)
	maps.Copy(s.metadata, change)
	s.updated = k.now
	return ok(object{"metadata": metadataView(s)})
}

func replaceMetadata(k *call) reply {
	s, change, no := k.metadataChange("metadata")
	if no != nil {
		return *no
	}
	s.metadata, s.updated = change, k.now
	return ok(object{"metadata": metadataView(s)})
}

func showMetadataItem(k *call) reply {
	s, no := k.findServer()
	if no != nil {
		return *no
	}
	key := k.r.PathValue("key")
	value, has := s.metadata[key]
	if !has {
		return missing("Metadata item was not found")
	}
	return ok(object{"meta": object{key: value}})
}

func setMetadataItem(k *call) reply {
	s, change, no := k.metadataChange("meta")
	if no != nil {
		return *no
	}
	if _, named := change[k.r.PathValue("key")]; !named || len(change) != 1 {
		return badRequest("Request body and URI mismatch")
	}
	s.metadata = metadataView(s)
	maps.Copy(s.metadata, change)
	s.updated = k.now
	return ok(object{"meta": change})
}

func deleteMetadataItem(k *call) reply {
	s, no := k.findServer()
	if no != nil {
		return *no
	}
	key := k.r.PathValue("key")
	if _, has := s.metadata[key]; !has {
		return missing("Metadata item was not found")
	}
	s.metadata = metadataView(s)
	delete(s.metadata, key)
	s.updated = k.now
	return reply{status: http.StatusNoContent}
}
