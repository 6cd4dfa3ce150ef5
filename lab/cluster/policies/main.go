// Judges the network policies of the cluster by sigs.k8s.io/kube-network-policies. A kernel may lack nft's "queue" expression, so cluster.sh
// sends new connections to the queue by iptables; the library's own rules then fail, harmlessly.
package main

import (
	"context"
	"os"
	"time"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"
	"sigs.k8s.io/kube-network-policies/pkg/networkpolicy"
)

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		klog.Fatal(err)
	}
	client := kubernetes.NewForConfigOrDie(config)
	factory := informers.NewSharedInformerFactory(client, 0)
	controller, err := networkpolicy.NewController(client, factory.Networking().V1().NetworkPolicies(), factory.Core().V1().Namespaces(),
		factory.Core().V1().Pods(), nil, nil, nil, nil,
		networkpolicy.Config{QueueID: 100, NodeName: os.Getenv("NODE")})
	if err != nil {
		klog.Fatal(err)
	}
	ctx := context.Background()
	go func() { klog.Fatal(controller.Run(ctx)) }()
	factory.Start(ctx.Done())
	for {
		time.Sleep(time.Hour)
	}
}
