package openstack

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// call is one request on its way through a handler. Handlers run with the cloud's lock held and return plain data that
// shares nothing with the state, so that it can be written after the lock is released.
type call struct {
	c         *Cloud
	r         *http.Request
	now       time.Time // virtual
	base      string    // root of the service's links, such as http://127.0.0.1:40001/compute
	body      []byte
	query     url.Values
	token     *token // nil if none is needed
	mv        microversion
	requestID string
}

// reply is what a handler answers: body is JSON unless it is nil or a []byte. A *[]byte is JSON already, and comes from answers.
type reply struct {
	status int
	body   any
	header http.Header
}

func ok(body any) reply { return reply{status: http.StatusOK, body: body} }

// accepted is the answer to a request that is carried out later.
func accepted() reply { return reply{status: http.StatusAccepted} }

func (r reply) with(key, value string) reply {
	if r.header == nil {
		r.header = make(http.Header)
	}
	r.header.Add(key, value)
	return r
}

// object is a JSON object.
type object = map[string]any

// decode reads the request's body into v; the reply is Nova's refusal of a body that is not JSON.
func (k *call) decode(v any) *reply {
	if err := json.Unmarshal(k.body, v); err != nil {
		r := novaError(http.StatusBadRequest, "Malformed request body")
		return &r
	}
	return nil
}

// flag reads a boolean of the query as OpenStack does; a parameter without a value counts as true.
func flag(q url.Values, name string) bool {
	if !q.Has(name) {
		return false
	}
	switch strings.ToLower(strings.TrimSpace(q.Get(name))) {
	case "0", "f", "false", "off", "n", "no":
		return false
	}
	return true
}

type serviceKind int

const (
	keystone serviceKind = iota
	nova
	neutron
	placement
	glance
	cinder
)

// route is one operation of a service.
type route struct {
	method, path string
	public       bool   // no token needed
	since, until int    // compute microversions 2.since to 2.until; 0 for no bound
	policy       string // the rule that only an admin passes; "" for everyone
	alien        string // the rule that forbids it for servers of other projects, instead of hiding them
	do           func(*call) reply
}

const maxBody = 1 << 20

// newHandler puts all services on one mux, each below its own prefix.
func (c *Cloud) newHandler() http.Handler {
	mux := http.NewServeMux()
	add := func(kind serviceKind, prefix string, routes []route) {
		for _, rt := range routes {
			mux.Handle(rt.method+" "+prefix+rt.path, c.serve(kind, rt))
		}
		mux.Handle(prefix+"/", c.serve(kind, route{public: true, do: func(*call) reply { return unknownAddress(kind) }}))
	}
	add(keystone, "/identity", c.identityRoutes())
	add(nova, "/compute", c.computeRoutes())
	add(neutron, "/network", c.networkRoutes())
	add(placement, "/placement", c.placementRoutes())
	add(glance, "/image", c.imageRoutes())
	if !c.opts.NoCinder {
		add(cinder, "/volume", c.volumeRoutes())
	}
	return c.observe(mux)
}

// serve is the common part of all operations: token, microversion, policy, then the operation itself.
func (c *Cloud) serve(kind serviceKind, rt route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body) // already in memory
		if err != nil {
			write(w, errorOf(kind, http.StatusBadRequest, "Malformed request body"))
			return
		}
		now := c.lock()
		k := &call{c: c, r: r, now: c.fault.skewed(kind, now), body: body, query: r.URL.Query(), mv: oldestMicroversion,
			base: "http://" + r.Host + servicePath[kind], requestID: c.nextRequestID()}
		var answer reply
		if t, refused := c.authenticate(kind, rt, r); refused != nil {
			answer = *refused
		} else {
			k.token = t
			answer = k.dispatch(kind, rt)
		}
		c.mu.Unlock()

		w.Header().Set("X-Openstack-Request-Id", k.requestID)
		if kind == nova {
			w.Header().Set("X-Compute-Request-Id", k.requestID)
		}
		write(w, answer)
	})
}

var servicePath = map[serviceKind]string{keystone: "/identity", nova: "/compute", neutron: "/network", placement: "/placement",
	glance: "/image", cinder: "/volume"}

func (k *call) dispatch(kind serviceKind, rt route) reply {
	if kind == cinder && !rt.public {
		return k.dispatchVolume(rt)
	}
	if kind != nova {
		if rt.policy != "" && !k.token.admin() {
			return forbidden(kind, rt.policy)
		}
		return rt.do(k)
	}
	mv, refused := k.c.negotiate(k.r.Header)
	if refused != nil {
		if refused.status == http.StatusNotAcceptable {
			refused.header = make(http.Header)
			setVersionHeaders(refused.header, mv)
		}
		return *refused
	}
	k.mv = mv
	answer := func() reply {
		if rt.since > 0 && mv.minor < rt.since || rt.until > 0 && mv.minor > rt.until {
			return notFound(nova)
		}
		if rt.policy != "" && !k.token.admin() {
			return forbidden(nova, rt.policy)
		}
		if s := k.c.servers[k.r.PathValue("id")]; rt.alien != "" && s != nil && s.project != k.token.project && !k.token.admin() {
			return forbidden(nova, rt.alien)
		}
		return rt.do(k)
	}()
	if answer.header == nil {
		answer.header = make(http.Header)
	}
	setVersionHeaders(answer.header, mv)
	return answer
}

// authenticate returns the token of a request, or the refusal.
func (c *Cloud) authenticate(kind serviceKind, rt route, r *http.Request) (*token, *reply) {
	t := c.validToken(r.Header.Get("X-Auth-Token"))
	if t == nil && !rt.public {
		no := unauthorized(kind, "http://"+r.Host+"/identity")
		return nil, &no
	}
	return t, nil
}

// answers are buffers for encoded answers: a fleet's lists are megabytes, and are asked for several times a second.
var answers = sync.Pool{New: func() any { return new([]byte) }}

func write(w http.ResponseWriter, a reply) {
	h := w.Header()
	for key, values := range a.header {
		h[key] = append(h[key], values...)
	}
	var out []byte
	switch body := a.body.(type) {
	case nil:
	case []byte:
		out = body
	case *[]byte:
		defer answers.Put(body)
		if out = *body; h.Get("Content-Type") == "" {
			h.Set("Content-Type", "application/json")
		}
	default:
		buffer := answers.Get().(*[]byte)
		defer answers.Put(buffer)
		var err error
		if out, err = appendJSON((*buffer)[:0], body); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		*buffer = out
		if h.Get("Content-Type") == "" {
			h.Set("Content-Type", "application/json")
		}
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(out) // it does not matter if the client is gone
}
