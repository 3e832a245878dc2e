package openstack

import (
	"crypto/md5" //nolint:gosec // the form of fingerprints that Nova shows
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// keypair is a public key that a user has given to Nova.
type keypair struct {
	name, public, fingerprint string
	user                      *user
}

func (k *call) keypair(name string) *keypair {
	i := slices.IndexFunc(k.c.keypairs, func(p *keypair) bool { return p.name == name && p.user == k.token.user })
	if i < 0 {
		return nil
	}
	return k.c.keypairs[i]
}

func (k *call) keypairView(p *keypair) object {
	v := object{"name": p.name, "public_key": p.public, "fingerprint": p.fingerprint}
	if k.mv.atLeast(2) {
		v["type"] = "ssh"
	}
	return v
}

func listKeypairs(k *call) reply {
	items := []object{}
	for _, p := range k.c.keypairs {
		if p.user == k.token.user {
			items = append(items, object{"keypair": k.keypairView(p)})
		}
	}
	return ok(object{"keypairs": items})
}

var keypairSchema = schema{properties: map[string]property{"name": lengthOf(1, 255, regexp.MustCompile(`^[a-zA-Z0-9 _@.-]+$`)),
	"public_key": textProperty,
	"type":       oneOf("ssh", "x509"), "user_id": textProperty}, order: []string{"name", "public_key", "type", "user_id"},
	required: []string{"name"}}

// createKeypair imports a public key. Nova generates no keys from 2.92 on; here it never does.
func createKeypair(k *call) reply {
	args, no := keypairSchema.body(k, "keypair")
	if no != nil {
		return *no
	}
	p := &keypair{name: text(args["name"]), public: text(args["public_key"]), user: k.token.user}
	if _, given := args["public_key"]; !given {
		return badRequest("Invalid input for field/attribute keypair. Value: %s. 'public_key' is a required property", python(k.part("keypair")))
	}
	parts := strings.Fields(p.public)
	var raw []byte
	if len(parts) >= 2 {
		raw, _ = base64.StdEncoding.DecodeString(parts[1]) // an invalid key is refused below
	}
	switch {
	case len(raw) == 0:
		return badRequest("Keypair data is invalid: failed to generate fingerprint")
	case k.keypair(p.name) != nil:
		return conflict("Key pair '%s' already exists.", p.name)
	}
	var pairs []string
	for _, b := range md5.Sum(raw) { //nolint:gosec // see the import
		pairs = append(pairs, fmt.Sprintf("%02x", b))
	}
	p.fingerprint = strings.Join(pairs, ":")
	k.c.keypairs = append(k.c.keypairs, p)
	v := k.keypairView(p)
	v["user_id"] = p.user.id
	status := http.StatusOK
	if k.mv.atLeast(2) {
		status = http.StatusCreated
	}
	return reply{status: status, body: object{"keypair": v}}
}

// part is one property of the request's body.
func (k *call) part(name string) json.RawMessage {
	var body map[string]json.RawMessage
	_ = json.Unmarshal(k.body, &body) // the schema has checked it
	return body[name]
}

// findKeypair returns the keypair in the path.
func (k *call) findKeypair() (*keypair, *reply) {
	name := k.r.PathValue("id")
	p := k.keypair(name)
	if p == nil {
		r := missing("Keypair %s not found for user %s", name, k.token.user.id)
		return nil, &r
	}
	return p, nil
}

func showKeypair(k *call) reply {
	p, no := k.findKeypair()
	if no != nil {
		return *no
	}
	v := k.keypairView(p)
	v["user_id"], v["deleted"], v["deleted_at"] = p.user.id, false, nil
	return ok(object{"keypair": v})
}

func deleteKeypair(k *call) reply {
	p, no := k.findKeypair()
	if no != nil {
		return *no
	}
	k.c.keypairs = slices.DeleteFunc(k.c.keypairs, func(o *keypair) bool { return o == p })
	if k.mv.atLeast(2) {
		return reply{status: http.StatusNoContent}
	}
	return accepted()
}
