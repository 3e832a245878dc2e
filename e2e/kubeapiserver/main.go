// Command kubeapiserver is the real kube-apiserver with its etcd inside, in one process, for the end-to-end tests: no container
// engine, no downloads beyond Go modules, ready in about two seconds.
//
// It takes every flag of kube-apiserver, and two that must come first: --etcd-dir, the folder of etcd's data and of its socket,
// and after it the optional --etcd-compact, which makes etcd forget its history before the API server starts. The API server is
// told to use that etcd. State in the folder survives a SIGKILL of the process. At the socket state.sock in that folder the state
// of the cluster is kept and later put back: one server serves several tests, each of which finds the same cluster.
//
// The command is a module of its own, which keeps k8s.io/kubernetes out of the program's go.mod and out of the tests' compile
// time.
package main

import (
	"fmt"
	"os"
	"strings"
	_ "time/tzdata" // CronJob time zones, as upstream

	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/logs/json/register"          // --logging-format=json, as upstream
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // client-go's metrics, as upstream
	_ "k8s.io/component-base/metrics/prometheus/version"  // the version metric, as upstream
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

// etcdDirFlag names etcd's folder. It is removed from the command line before kube-apiserver, which would refuse it, reads the
// rest.
const etcdDirFlag = "--etcd-dir="

// etcdCompactFlag makes etcd forget every revision but the last one, as the API server makes it do every five minutes for older
// ones.
const etcdCompactFlag = "--etcd-compact"

func main() {
	os.Exit(run(os.Args))
}

func run(args []string) int {
	if len(args) < 2 || !strings.HasPrefix(args[1], etcdDirFlag) {
		fmt.Fprintf(os.Stderr, "usage: %s %sDIR [kube-apiserver flags]\n", args[0], etcdDirFlag)
		return 2
	}
	dir := strings.TrimPrefix(args[1], etcdDirFlag)
	etcd, endpoint, err := startEtcd(dir)
	if err != nil {
		fmt.Fprintf(os.Stderr, "etcd in %s: %v\n", dir, err)
		return 1
	}
	defer etcd.Close()
	if err := serveState(etcd, dir); err != nil {
		fmt.Fprintf(os.Stderr, "the state in %s: %v\n", dir, err)
		return 1
	}
	flags := args[2:]
	if len(flags) > 0 && flags[0] == etcdCompactFlag {
		flags = flags[1:]
		if err := compact(etcd); err != nil {
			fmt.Fprintf(os.Stderr, "compact etcd in %s: %v\n", dir, err)
			return 1
		}
	}

	command := app.NewAPIServerCommand()
	command.SetArgs(append(append([]string{}, flags...), "--etcd-servers="+endpoint))
	return cli.Run(command)
}
