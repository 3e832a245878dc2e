package controller

import (
	"context"
	"fmt"
	"net/http"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/config/clouds"
	"github.com/gophercloud/gophercloud/v2/openstack/utils"
)

// newestMicroversion is the microversion that the OpenStack controller uses with Nova; with an older Nova it uses that
// one's newest. From 2.34 on, Nova accepts a live migration that finds no host, and only the migration record shows the
// failure.
const newestMicroversion = 79

// Connection is an administrator's session with an OpenStack cloud.
type Connection struct {
	Compute *gophercloud.ServiceClient
	Network *gophercloud.ServiceClient // nil if the cloud has no Neutron
	Volume  *gophercloud.ServiceClient // nil if the cloud has no Cinder

	client *http.Client
}

// Close closes the idle connections.
func (c *Connection) Close() { c.client.CloseIdleConnections() }

// Connect logs in to a cloud of a clouds.yaml file over the transport; nil means one with the file's TLS settings. The
// session renews its token by itself.
func Connect(ctx context.Context, cloudsYAML, cloud string, transport http.RoundTripper) (*Connection, error) {
	auth, endpoint, tlsConfig, err := clouds.Parse(clouds.WithLocations(cloudsYAML), clouds.WithCloudName(cloud))
	if err != nil {
		return nil, fmt.Errorf("read cloud %s of %s: %w", cloud, cloudsYAML, err)
	}
	auth.AllowReauth = true
	provider, err := openstack.NewClient(auth.IdentityEndpoint)
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", auth.IdentityEndpoint, err)
	}
	if transport == nil {
		own := http.DefaultTransport.(*http.Transport).Clone()
		own.TLSClientConfig = tlsConfig
		transport = own
	}
	provider.HTTPClient = http.Client{Transport: transport}
	provider.UserAgent.Prepend("rockoon")
	c := &Connection{client: &provider.HTTPClient}
	if err := openstack.Authenticate(ctx, provider, auth); err != nil {
		c.Close()
		return nil, fmt.Errorf("log in at %s: %w", auth.IdentityEndpoint, err)
	}
	if c.Compute, err = openstack.NewComputeV2(provider, endpoint); err != nil {
		c.Close()
		return nil, fmt.Errorf("find Nova of cloud %s: %w", cloud, err)
	}
	supported, err := utils.GetSupportedMicroversions(ctx, c.Compute)
	if err != nil {
		c.Close()
		return nil, fmt.Errorf("ask Nova of cloud %s for its microversions: %w", cloud, err)
	}
	c.Compute.Microversion = fmt.Sprintf("2.%d", min(newestMicroversion, supported.MaxMinor))
	if network, err := openstack.NewNetworkV2(provider, endpoint); err == nil {
		c.Network = network
	}
	if volume, err := openstack.NewBlockStorageV3(provider, endpoint); err == nil {
		c.Volume = volume
	}
	return c, nil
}
