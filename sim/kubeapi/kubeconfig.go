package kubeapi

import (
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// RESTConfig is the config of a client-go client for user, without a client-side rate limit. A user that does not exist
// gets a config without a token, which means system:anonymous.
func (s *Server) RESTConfig(user string) *rest.Config {
	account, _ := s.accounts.find(user)
	config := &rest.Config{
		Host:            s.URL(),
		BearerToken:     account.Token,
		TLSClientConfig: rest.TLSClientConfig{CAData: s.ca},
		QPS:             -1,
	}
	if n := s.options.Network; n != nil {
		config.Transport = n.Transport(user)
	}
	return config
}

// Kubeconfig returns a kubeconfig file for user with one context, named after the cluster.
func (s *Server) Kubeconfig(user string) ([]byte, error) {
	account, ok := s.accounts.find(user)
	if !ok {
		return nil, fmt.Errorf("kubeconfig: there is no user %s", user)
	}
	config := clientcmdapi.NewConfig()
	simulated := `{}`
	if s.options.TellClock {
		simulated = `{"clock":"` + ClockPath + `"}`
	}
	cluster := &clientcmdapi.Cluster{Server: s.URL(), CertificateAuthorityData: s.ca, Extensions: map[string]runtime.Object{
		SimulatedExtension: &runtime.Unknown{Raw: []byte(simulated), ContentType: runtime.ContentTypeJSON}}}
	config.Clusters[s.options.ClusterName] = cluster
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{Token: account.Token}
	config.Contexts[s.options.ClusterName] = &clientcmdapi.Context{Cluster: s.options.ClusterName, AuthInfo: user}
	config.CurrentContext = s.options.ClusterName
	raw, err := clientcmd.Write(*config)
	if err != nil {
		return nil, fmt.Errorf("kubeconfig of user %s: %w", user, err)
	}
	return raw, nil
}

// WriteKubeconfig writes user's kubeconfig to a file that only its owner may read.
func (s *Server) WriteKubeconfig(path, user string) error {
	raw, err := s.Kubeconfig(user)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		return fmt.Errorf("write the kubeconfig of user %s: %w", user, err)
	}
	return nil
}
