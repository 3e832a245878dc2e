package cli

import (
	"context"
	"errors"
	"slices"
	"time"

	"lockstep/core"
)

// identifyEvery is the time between two tries to learn as whom the servers know the operator.
const identifyEvery = time.Minute

// question is something that a server is asked once.
type question struct {
	source core.SourceID // it is asked once this is live: then the server answers
	ask    func(ctx context.Context) error
}

// identify asks the servers which cluster it is, and as whom they know the operator, once each can be seen, and tells the engine. After
// each new login of the kubeconfig it asks again: that may be somebody else's. What cannot be learned stays unknown.
func (s *session) identify(ctx context.Context) {
	var (
		is  core.Identity
		uid string // of the cluster
	)
	questions, who, logins := []question{}, question{}, uint64(0)
	var unnamed time.Time // since when a new login has no name (wall time); zero: it has one, or was given up
	anybodys := func(why error) {
		unnamed = time.Time{}
		s.engine.Unidentified(why)
	}
	if s.kube != nil {
		questions = append(questions, question{core.SourceNodes, func(ctx context.Context) (err error) {
			uid, err = s.kube.ClusterUID(ctx)
			s.noteJournal(uid)
			return err
		}})
		who = question{core.SourceNodes, func(ctx context.Context) (err error) {
			logins = s.kube.Logins() // of before, so that one that comes meanwhile counts as new
			is.KubernetesUser, is.KubernetesGroups, err = s.kube.WhoAmI(ctx)
			switch {
			case err == nil:
				unnamed = time.Time{}
			case ctx.Err() == nil && !mayPass(err) && !unnamed.IsZero():
				anybodys(err)
			}
			return err
		}}
		questions = append(questions, who)
	}
	if s.client != nil {
		questions = append(questions, question{core.SourceComputeServices, func(ctx context.Context) (err error) {
			is.OpenStackUser, is.OpenStackProject, err = s.client.WhoAmI(ctx)
			return err
		}})
	}
	snapshots, stop := s.engine.Subscribe()
	defer stop()
	var again time.Time // not before this is anything asked again (wall time)
	for len(questions) > 0 || s.kube != nil {
		select {
		case <-ctx.Done():
			return
		case snap := <-snapshots:
			if s.kube != nil && s.kube.Logins() != logins { // what was learned is of another login
				logins, again, unnamed = s.kube.Logins(), time.Time{}, snap.Wall
				is.KubernetesUser, is.KubernetesGroups = "", nil
				s.engine.Identify(uid, is)
				questions = append(questions, who)
			}
			if !unnamed.IsZero() && snap.Wall.Sub(unnamed) > identifyEvery {
				anybodys(errors.New("Kubernetes does not say"))
			}
			if len(questions) == 0 || snap.Wall.Before(again) {
				continue
			}
			asked := len(questions)
			questions = slices.DeleteFunc(questions, func(q question) bool {
				if snap.Sources[q.source].State != core.SourceLive {
					return false
				}
				err := q.ask(ctx)
				if err != nil {
					again = snap.Wall.Add(identifyEvery)
				}
				return !s.mayLearn(err)
			})
			if len(questions) < asked {
				s.engine.Identify(uid, is)
			}
		}
	}
}

// mayLearn tells whether to ask again after an answer.
func (s *session) mayLearn(err error) bool {
	if err == nil {
		return false
	}
	s.log.Info("not everything is known about who runs Lockstep, and on which cluster", "error", err)
	return mayPass(err)
}

// mayPass tells whether a server may answer the same question later. It is asked only while it is seen, so an answer that is lost
// is not the last word either.
func mayPass(err error) bool {
	var api *core.APIError
	return !errors.As(err, &api) || api.MayPass() || api.Kind == core.ErrTimeout || api.Kind == core.ErrUnreachable
}
