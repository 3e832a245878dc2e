package sim

import (
	"fmt"
	"os"

	"k8s.io/client-go/tools/clientcmd"

	"lockstep/sim/kubeapi"
)

// ManagementContext is the context of the management cluster in the kubeconfig that Start writes.
const ManagementContext = "management"

// writeKubeconfig writes a user's kubeconfig with the MOSK cluster as its current context and, if there is one, the
// management cluster. Only its owner may read it.
func writeKubeconfig(path, user string, mosk, management *kubeapi.Server) error {
	if management == nil {
		return mosk.WriteKubeconfig(path, user)
	}
	raw, err := mosk.Kubeconfig(user)
	if err != nil {
		return err
	}
	both, err := clientcmd.Load(raw)
	if err != nil {
		return fmt.Errorf("read the MOSK cluster's kubeconfig: %w", err)
	}
	if raw, err = management.Kubeconfig(user); err != nil {
		return err
	}
	other, err := clientcmd.Load(raw)
	if err != nil {
		return fmt.Errorf("read the management cluster's kubeconfig: %w", err)
	}
	for name, context := range other.Contexts {
		account := ManagementContext + "-" + user // the user has a different token there
		both.Clusters[name] = other.Clusters[context.Cluster]
		both.AuthInfos[account] = other.AuthInfos[context.AuthInfo]
		context.AuthInfo = account
		both.Contexts[name] = context
	}
	if raw, err = clientcmd.Write(*both); err != nil {
		return fmt.Errorf("encode the kubeconfig of user %s: %w", user, err)
	}
	if err := os.WriteFile(path, raw, 0o600); err != nil {
		return fmt.Errorf("write the kubeconfig of user %s: %w", user, err)
	}
	return nil
}
