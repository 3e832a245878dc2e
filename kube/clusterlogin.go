package kube

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"lockstep/core"
)

// Where a management cluster keeps the administrator's kubeconfig of each of its clusters (docs/mosk.md#a-clusters-kubeconfig).
const (
	clusterLoginSuffix = "-kubeconfig"
	clusterLoginKey    = "admin.conf"
	clusterLoginRights = "deploy/rbac-management-logins.yaml"
)

// maxKubeconfig is the greatest size of a kubeconfig from a Secret, in bytes: the API server keeps no larger ones.
const maxKubeconfig = 1 << 20

// ClusterLoginSecret names the Secret with a cluster's kubeconfig, in the namespace that is its project.
func ClusterLoginSecret(cluster string) string { return cluster + clusterLoginSuffix }

// Given is a kubeconfig that is in no file. Load accepts of it a server with TLS that is verified, and a token or a certificate with its
// key, all of them in the content itself. It is kept in memory and written nowhere.
type Given struct {
	Content []byte // secret
	Origin  string // where it is from: "secret mos-kubeconfig in namespace prod"
}

// ClusterLogin reads the administrator's kubeconfig of one of the management cluster's clusters. Call it only when the operator asks
// for it. The answer is secret. Every error is a *core.APIError.
func (c *Client) ClusterLogin(ctx context.Context, project, cluster string) (*Given, error) {
	name := ClusterLoginSecret(cluster)
	origin := fmt.Sprintf("secret %s in namespace %s", name, project)
	call := "get " + origin
	fail := func(kind core.ErrorKind, message, remedy string) error {
		return &core.APIError{Kind: kind, Server: core.ServerManagement, Call: call, Message: message, Remedy: remedy}
	}
	const instead = "Name a context of your own for this cluster, in the configuration's section clusters."
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	secret, err := c.resource(gvrSecrets, project).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		e := c.withOrigin(describeManagement(err, call))
		switch e.Kind {
		case core.ErrNotFound:
			e.Remedy = "The management cluster keeps no login of this cluster under this name. " + instead
		case core.ErrForbidden:
			e.Remedy = clusterLoginRights + " gives the right to get this one Secret. " + instead
		}
		return nil, e
	}
	data, _ := secret.Object["data"].(map[string]any)
	encoded, ok := data[clusterLoginKey].(string)
	if !ok {
		return nil, fail(core.ErrNotFound, "the secret has no key "+clusterLoginKey, instead)
	}
	content, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil { // the decoder's own words are about what is secret
		return nil, fail(core.ErrInvalid, "its key "+clusterLoginKey+" is not base64", instead)
	}
	given := &Given{Content: content, Origin: origin}
	if _, _, err := given.read(c.opts.Transport != nil); err != nil {
		return nil, fail(core.ErrInvalid, err.Error(), instead)
	}
	return given, nil
}

// read reads the kubeconfig, and refuses what one that comes from elsewhere must not have: what runs a program, reads or names a file, or
// leads to a server that is not verified. No error quotes the content. ownNetwork: the requests go by a Transport of the caller's, which
// may lead to a server without TLS.
func (g *Given) read(ownNetwork bool) (*clientcmdapi.Config, *rest.Config, error) {
	fail := func(text string) (*clientcmdapi.Config, *rest.Config, error) {
		return nil, nil, errors.New("its kubeconfig " + text)
	}
	if len(g.Content) > maxKubeconfig {
		return fail("is larger than a kubeconfig can be")
	}
	raw, err := clientcmd.Load(g.Content)
	if err != nil {
		return fail("cannot be read: it is no kubeconfig")
	}
	used, ok := raw.Contexts[raw.CurrentContext]
	if !ok {
		return fail("has no current context")
	}
	cluster, user := raw.Clusters[used.Cluster], raw.AuthInfos[used.AuthInfo]
	if cluster == nil || user == nil {
		return fail("names a cluster or a user that it does not have")
	}
	server, err := url.Parse(cluster.Server)
	bad := ""
	switch {
	case err != nil || server.Host == "":
		bad = "has no address of a server"
	case server.Scheme != "https" && !(ownNetwork && server.Scheme == "http"):
		bad = "names a server without TLS"
	case server.User != nil:
		bad = "has a password in the server's address"
	case cluster.InsecureSkipTLSVerify:
		bad = "switches the verification of the server off"
	case cluster.CertificateAuthority != "":
		bad = "names a file of this machine (certificate-authority)"
	case cluster.ProxyURL != "":
		bad = "sends what is asked through a proxy"
	case user.Exec != nil:
		bad = "wants to run a program (exec)"
	case user.AuthProvider != nil:
		bad = "names an auth-provider"
	case user.TokenFile != "" || user.ClientCertificate != "" || user.ClientKey != "":
		bad = "names a file of this machine (tokenFile, client-certificate or client-key)"
	case user.Impersonate != "" || user.ImpersonateUID != "" || len(user.ImpersonateGroups) > 0 || len(user.ImpersonateUserExtra) > 0:
		bad = "acts as somebody else"
	case user.Username != "" || user.Password != "":
		bad = "logs in with a password"
	case user.Token == "" && (len(user.ClientCertificateData) == 0 || len(user.ClientKeyData) == 0):
		bad = "has neither a token nor a certificate with its key"
	}
	if bad != "" {
		return fail(bad)
	}
	return raw, &rest.Config{Host: cluster.Server, BearerToken: user.Token, TLSClientConfig: rest.TLSClientConfig{
		ServerName: cluster.TLSServerName, CAData: slices.Clone(cluster.CertificateAuthorityData),
		CertData: slices.Clone(user.ClientCertificateData), KeyData: slices.Clone(user.ClientKeyData)}}, nil
}

// locateGiven uses the current context of a kubeconfig that is in no file.
func (c *Client) locateGiven(g *Given) (*rest.Config, error) {
	raw, config, err := g.read(c.opts.Transport != nil)
	if err != nil {
		return nil, c.configurationError("use "+g.Origin, err, "Name a context of your own for this cluster.")
	}
	c.secrets.Give(secretsOf(raw)...)
	used := raw.Contexts[raw.CurrentContext]
	c.ContextName, c.ClusterName, c.User, c.Server = raw.CurrentContext, used.Cluster, used.AuthInfo, core.PublicURL(config.Host)
	c.Simulated, c.OwnClock = simulated(raw.Clusters[used.Cluster])
	c.Namespace = "default"
	return config, nil
}

// ClusterLoginPermission is what ClusterLogin needs for one cluster.
func ClusterLoginPermission(project, cluster string) Permission {
	return Permission{Verb: "get", Resource: gvrSecrets.Resource, Namespace: project, Name: ClusterLoginSecret(cluster)}
}
