package openstack

import "net/http"

// imageRoutes are as much of Glance as lets the openstack client list servers: an empty collection of images.
func (c *Cloud) imageRoutes() []route {
	const get = http.MethodGet
	versions := func(k *call) reply {
		return reply{status: http.StatusMultipleChoices, body: object{"versions": []object{{"id": "v2.15", "status": "CURRENT",
			"links": []object{{"rel": "self", "href": k.base + "/v2/"}}}}}}
	}
	return []route{
		{method: get, path: "", public: true, do: versions},
		{method: get, path: "/{$}", public: true, do: versions},
		{method: get, path: "/versions", public: true, do: versions},
		{method: get, path: "/v2/images", do: func(*call) reply {
			return ok(object{"images": []object{}, "first": "/v2/images", "schema": "/v2/schemas/images"})
		}},
		{method: get, path: "/v2/images/{id}", do: func(k *call) reply {
			return errorOf(glance, http.StatusNotFound, "No image found with ID "+k.r.PathValue("id"))
		}},
	}
}
