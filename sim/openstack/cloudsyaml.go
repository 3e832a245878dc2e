package openstack

import (
	"errors"
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

// CloudsYAML returns a clouds.yaml with the clouds sim (admin by password), sim-appcred (admin by application
// credential) and sim-demo (a plain member). The cloud must have been started.
func (c *Cloud) CloudsYAML() ([]byte, error) {
	url := c.AuthURL()
	if url == "" {
		return nil, errors.New("openstack: clouds.yaml: the cloud is not started")
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	entry := func(auth object) object {
		return object{"auth": auth, "region_name": c.opts.Region, "identity_api_version": "3", "interface": "public"}
	}
	password := func(userName, projectName string) object {
		return entry(object{"auth_url": url, "username": userName, "password": c.userByName(userName).password, "project_name": projectName,
			"user_domain_name": "Default", "project_domain_name": "Default"})
	}
	clouds := object{"sim": password("admin", "admin"), "sim-demo": password("demo", "demo")}
	for _, a := range c.appCreds {
		cred := entry(object{"auth_url": url, "application_credential_id": a.id, "application_credential_secret": a.secret})
		cred["auth_type"] = "v3applicationcredential"
		clouds["sim-appcred"] = cred
	}
	out, err := yaml.Marshal(object{"clouds": clouds})
	if err != nil {
		return nil, fmt.Errorf("openstack: clouds.yaml: %w", err)
	}
	return out, nil
}

// WriteCloudsYAML writes CloudsYAML to a file that only its owner may read.
func (c *Cloud) WriteCloudsYAML(path string) error {
	out, err := c.CloudsYAML()
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, out, 0o600); err != nil {
		return fmt.Errorf("openstack: write clouds.yaml: %w", err)
	}
	return nil
}
