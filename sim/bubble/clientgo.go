package bubble

import "k8s.io/apimachinery/pkg/util/runtime"

// client-go holds up whoever reports an error too soon after the last one of the process, whose time is another bubble's or the
// wall's: for years. What is left reports it.
func init() { runtime.ErrorHandlers = runtime.ErrorHandlers[:1] }
