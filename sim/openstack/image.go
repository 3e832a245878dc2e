package openstack

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// ImageSpec describes an image for AddImage.
type ImageSpec struct {
	ID   string // "" to derive it from the name
	Name string
	Size int64 // bytes
}

type image struct {
	ImageSpec
	created time.Time
}

// AddImage adds a public image and returns its ID, which must be new.
func (c *Cloud) AddImage(spec ImageSpec) (string, error) {
	now := c.lock()
	defer c.mu.Unlock()
	if spec.ID == "" {
		spec.ID = c.uuid("image", spec.Name)
	}
	if c.image(spec.ID) != nil {
		return "", fmt.Errorf("openstack: add image %q: ID %s exists", spec.Name, spec.ID)
	}
	c.images = append(c.images, &image{ImageSpec: spec, created: now})
	return spec.ID, nil
}

func (c *Cloud) image(id string) *image {
	i := slices.IndexFunc(c.images, func(i *image) bool { return i.ID == id })
	if i < 0 {
		return nil
	}
	return c.images[i]
}

// imageRoutes returns the operations of Glance that the openstack client needs to list and show images.
func (c *Cloud) imageRoutes() []route {
	const get = http.MethodGet
	versions := func(status int) func(*call) reply {
		return func(k *call) reply {
			return reply{status: status, body: object{"versions": []object{{"id": "v2.15", "status": "CURRENT",
				"links": []object{{"rel": "self", "href": k.base + "/v2/"}}}}}}
		}
	}
	return []route{
		{method: get, path: "", public: true, do: versions(http.StatusMultipleChoices)},
		{method: get, path: "/{$}", public: true, do: versions(http.StatusMultipleChoices)},
		{method: get, path: "/versions", public: true, do: versions(http.StatusOK)},
		{method: get, path: "/v2/images", do: listImages},
		{method: get, path: "/v2/images/{id}", do: showImage},
		{method: http.MethodDelete, path: "/v2/images/{id}", do: deleteImage},
	}
}

func (k *call) imageView(i *image) object {
	written := i.created.UTC().Format("2006-01-02T15:04:05Z")
	return object{"id": i.ID, "name": i.Name, "status": "active", "visibility": "public", "container_format": "bare", "disk_format": "raw",
		"size": i.Size, "virtual_size": i.Size, "min_disk": 0, "min_ram": 0, "protected": false, "os_hidden": false, "tags": []string{},
		"owner": k.c.userByName("admin").id, "checksum": k.c.fixedID("checksum", i.ID), "created_at": written, "updated_at": written,
		"self": "/v2/images/" + i.ID, "file": "/v2/images/" + i.ID + "/file", "schema": "/v2/schemas/image"}
}

func listImages(k *call) reply {
	items := []object{}
	for _, i := range k.c.images {
		if v := k.imageView(i); k.matches(v, "id", "name", "status", "visibility") {
			items = append(items, v)
		}
	}
	first := "/v2/images"
	if k.r.URL.RawQuery != "" {
		first += "?" + k.r.URL.RawQuery
	}
	return ok(object{"images": items, "first": first, "schema": "/v2/schemas/images"})
}

func showImage(k *call) reply {
	id := k.r.PathValue("id")
	i := k.c.image(id)
	if i == nil {
		return webobError(http.StatusNotFound, "No image found with ID "+id)
	}
	return ok(k.imageView(i))
}

// deleteImage removes an image; all images belong to the administrator.
func deleteImage(k *call) reply {
	id := k.r.PathValue("id")
	switch {
	case k.c.image(id) == nil:
		return webobError(http.StatusNotFound, "Failed to find image "+id+" to delete")
	case !k.token.admin():
		return webobError(http.StatusForbidden, "You are not authorized to complete delete_image action.")
	}
	k.c.images = slices.DeleteFunc(k.c.images, func(i *image) bool { return i.ID == id })
	return reply{status: http.StatusNoContent}
}

var snapshotSchema = schema{properties: map[string]property{"name": lengthOf(1, 255, nil), "metadata": objectProperty},
	order: []string{"name", "metadata"}, required: []string{"name"}}

// snapshotServer is the action createImage. Before 2.45, a header gives the image's location.
func snapshotServer(k *call, s *server, raw json.RawMessage) reply {
	args, no := snapshotSchema.check("createImage", raw)
	if no != nil {
		return *no
	}
	i := &image{ImageSpec: ImageSpec{Name: text(args["name"]), Size: int64(s.flavor.Disk) << 30}, created: k.now}
	i.ID = k.c.uuid("image", i.Name)
	k.c.images = append(k.c.images, i)
	k.c.change(k.now, s, k.begin(s, "createImage"), "compute_snapshot_instance", "image_snapshot", 5*time.Second, s.vm, s.power)
	if k.mv.atLeast(45) {
		return reply{status: http.StatusAccepted, body: object{"image_id": i.ID}}
	}
	return accepted().with("Location", k.root()+"/image/v2/images/"+i.ID)
}
