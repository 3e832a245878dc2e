package cli

import (
	"context"
	"errors"
	"time"

	"lockstep/core"
)

// identifyEvery is the time between two tries to learn as whom the servers know the operator.
const identifyEvery = time.Minute

// identify asks the servers as whom they know the operator, once each can be seen, and tells the engine. What cannot be learned stays
// unknown: nothing but the record rests on it.
func (s *session) identify(ctx context.Context) {
	snapshots, stop := s.engine.Subscribe()
	defer stop()
	var (
		is    core.Identity
		again time.Time // not before this is anything asked again (wall time)
		kube  = s.kube != nil
		cloud = s.client != nil
	)
	for kube || cloud {
		select {
		case <-ctx.Done():
			return
		case snap := <-snapshots:
			if snap.Wall.Before(again) {
				continue
			}
			before := is
			if kube && snap.Sources[core.SourceNodes].State == core.SourceLive {
				user, groups, err := s.kube.WhoAmI(ctx)
				is.KubernetesUser, is.KubernetesGroups = user, groups
				kube, again = s.mayLearn(err), snap.Wall.Add(identifyPause(err))
			}
			if cloud && snap.Sources[core.SourceComputeServices].State == core.SourceLive {
				user, project, err := s.client.WhoAmI(ctx)
				is.OpenStackUser, is.OpenStackProject = user, project
				cloud, again = s.mayLearn(err), snap.Wall.Add(identifyPause(err))
			}
			if is.String() != before.String() {
				s.engine.Identify(is)
			}
		}
	}
}

// identifyPause is how long nothing is asked after an answer.
func identifyPause(err error) time.Duration {
	if err == nil {
		return 0
	}
	return identifyEvery
}

// mayLearn tells whether to ask again after an answer.
func (s *session) mayLearn(err error) bool {
	if err == nil {
		return false
	}
	s.log.Info("as whom the server knows the operator is not known", "error", err)
	var api *core.APIError
	return !errors.As(err, &api) || api.MayPass()
}
