package cluster

import (
	"crypto/rand"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"

	"k8s.io/client-go/rest"
	clientcmd "k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// User is a user who can log in to the cluster. Admin and Controllers may do everything; a test's RBAC objects say what the
// others may do.
type User string

// The users of a test cluster.
const (
	Admin       User = "admin"       // by client certificate; in system:masters
	Controllers User = "controllers" // in system:masters; MOSK's controllers, which the audit log tells from the program
	ReadOnly    User = "readonly"    // in the group of deploy/rbac-readonly.yaml's example
	Operator    User = "operator"    // in the group of deploy/rbac-operator.yaml's example
	Maintainer  User = "anna"        // the user of deploy/rbac-maintenance.yaml's example
	Nobody      User = "nobody"      // authenticated, without any right of their own
	Expired     User = "expired"     // has a token that the server refuses with 401
)

// mastersGroup is the group that RBAC lets do everything.
const mastersGroup = "system:masters"

// groups are the groups of the users that have one. The example bindings of deploy/ name those of ReadOnly and Operator.
var groups = map[User]string{
	Controllers: mastersGroup,
	ReadOnly:    "mosk-update-watchers",
	Operator:    "mosk-update-operators",
	Maintainer:  "mosk-update-operators",
}

const (
	tokensFile     = "tokens.csv"
	kubeconfigName = "e2e" // cluster and context in every kubeconfig
)

// writeTokens gives each user but Admin a random token. The server gets the file with all of them except Expired's.
func writeTokens(dir string) (map[User]string, error) {
	tokens := map[User]string{}
	file, err := os.OpenFile(filepath.Join(dir, tokensFile), os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	table := csv.NewWriter(file)
	for _, user := range []User{Controllers, ReadOnly, Operator, Maintainer, Nobody, Expired} {
		tokens[user] = rand.Text()
		if user == Expired {
			continue
		}
		// token, user name, user id, groups
		if err := table.Write([]string{tokens[user], string(user), string(user), groups[user]}); err != nil {
			return nil, err
		}
	}
	table.Flush()
	if err := table.Error(); err != nil {
		return nil, err
	}
	return tokens, file.Close()
}

// Config returns the client configuration of a user, with practically no rate limit.
func (c *Cluster) Config(user User) *rest.Config {
	config := &rest.Config{
		Host:            c.URL(),
		TLSClientConfig: rest.TLSClientConfig{CAFile: c.file(caFile)},
		QPS:             -1,
		UserAgent:       "lockstep-e2e",
	}
	if user == Admin {
		config.CertData, config.KeyData = c.admin.CertData, c.admin.KeyData
	} else {
		config.BearerToken = c.tokens[user]
	}
	return config
}

// WriteKubeconfig writes a kubeconfig of the user, whose only context is "e2e", into the cluster's folder and returns its path.
func (c *Cluster) WriteKubeconfig(user User) (string, error) {
	config := c.Config(user)
	kubeconfig := clientcmdapi.Config{
		CurrentContext: kubeconfigName,
		Clusters: map[string]*clientcmdapi.Cluster{
			kubeconfigName: {Server: config.Host, CertificateAuthority: config.CAFile},
		},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{
			string(user): {ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Token: config.BearerToken},
		},
		Contexts: map[string]*clientcmdapi.Context{
			kubeconfigName: {Cluster: kubeconfigName, AuthInfo: string(user)},
		},
	}
	path := c.file(string(user) + ".kubeconfig")
	if err := clientcmd.WriteToFile(kubeconfig, path); err != nil {
		return "", fmt.Errorf("write the kubeconfig of %s: %w", user, err)
	}
	return path, nil
}
