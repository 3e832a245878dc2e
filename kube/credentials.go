package kube

import (
	"context"
	"encoding/base64"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"lockstep/core"
)

// Where Rockoon keeps the administrator's clouds.yaml for use from outside the cluster (docs/mosk.md#credentials).
const (
	credentialsNamespace = "openstack-external"
	credentialsSecret    = "openstack-identity-credentials"
	credentialsKey       = "clouds.yaml"
)

// OpenStackCredentials reads the administrator's clouds.yaml from the cluster's own secret. Call it only when the operator asks for
// it. The credentials change when they are rotated. The answer is secret. Every error is a *core.APIError.
func (c *Client) OpenStackCredentials(ctx context.Context) ([]byte, error) {
	call := fmt.Sprintf("get secret %s in namespace %s", credentialsSecret, credentialsNamespace)
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	secret, err := c.resource(gvrSecrets, credentialsNamespace).Get(ctx, credentialsSecret, metav1.GetOptions{})
	if err != nil {
		e := Describe(err, call)
		switch e.Kind {
		case core.ErrNotFound:
			e.Remedy = "The secret is there on a MOSK cluster with OpenStack deployed. Use a clouds.yaml of your own (OS_CLOUD) instead."
		case core.ErrForbidden:
			e.Remedy = "You may not read this secret: use a clouds.yaml of your own (OS_CLOUD), or ask an administrator for the right to get it."
		}
		return nil, e
	}
	encoded, ok := fields(secret.Object).at("data")[credentialsKey].(string)
	if !ok {
		return nil, &core.APIError{
			Kind: core.ErrNotFound, Server: core.ServerKubernetes, Call: call,
			Message: "the secret has no key " + credentialsKey,
			Remedy:  "Use a clouds.yaml of your own (OS_CLOUD) instead.",
		}
	}
	clouds, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		// The decoder's error tells a position only, never the content.
		return nil, &core.APIError{
			Kind: core.ErrInvalid, Server: core.ServerKubernetes, Call: call, Err: err,
			Message: fmt.Sprintf("the secret's key %s is not base64: %v", credentialsKey, err),
		}
	}
	return clouds, nil
}
