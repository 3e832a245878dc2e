package session

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
func (s *Session) identify(ctx context.Context) {
	var (
		is  core.Identity
		uid string // of the cluster
	)
	questions := []question{}
	if s.kube != nil {
		questions = append(questions, question{core.SourceNodes, func(ctx context.Context) (err error) {
			uid, err = s.kube.ClusterUID(ctx)
			s.noteJournal(uid)
			return err
		}})
	}
	if s.OpenStack != nil {
		questions = append(questions, question{core.SourceComputeServices, func(ctx context.Context) (err error) {
			is.OpenStackUser, is.OpenStackProject, err = s.OpenStack.WhoAmI(ctx)
			return err
		}})
	}
	var (
		asksWho = s.kube != nil
		logins  uint64
		unnamed time.Time // since when a new login has no name, by the time that this machine is awake; zero: it has one, or was given up
	)
	anybodys := func(why error) {
		unnamed = time.Time{}
		s.Engine.Unidentified(why)
	}
	who := func(ctx context.Context) (err error) {
		is.KubernetesUser, is.KubernetesGroups, err = s.kube.WhoAmI(ctx)
		switch {
		case err == nil:
			unnamed = time.Time{}
		case ctx.Err() == nil && !mayPass(err) && !unnamed.IsZero():
			anybodys(err)
		}
		return err
	}
	snapshots, stop := s.Engine.Subscribe()
	defer stop()
	var again time.Time // not before this is anything asked again (wall time)
	for len(questions) > 0 || s.kube != nil {
		select {
		case <-ctx.Done():
			return
		case snap := <-snapshots:
			if s.kube != nil && s.kube.Logins() != logins { // what was learned is of another login
				logins, again, unnamed, asksWho = s.kube.Logins(), time.Time{}, time.Now(), true
				is.KubernetesUser, is.KubernetesGroups = "", nil
				s.Engine.Identify(uid, is)
			}
			if !snap.Wall.Before(again) {
				settled, failed := false, false
				ask := func(q question) bool {
					if snap.Sources[q.source].State != core.SourceLive {
						return false
					}
					err := q.ask(ctx)
					done := !s.mayLearn(err)
					settled, failed = settled || done, failed || err != nil
					return done
				}
				questions = slices.DeleteFunc(questions, ask)
				asksWho = asksWho && !ask(question{core.SourceNodes, who})
				switch {
				case failed && !unnamed.IsZero():
					again = snap.Wall.Add(identifyEvery / 6)
				case failed:
					again = snap.Wall.Add(identifyEvery)
				}
				if settled {
					s.Engine.Identify(uid, is)
				}
			}
			if !unnamed.IsZero() && time.Since(unnamed) > identifyEvery && ctx.Err() == nil {
				anybodys(errors.New("the server has not said so for a minute"))
			}
		}
	}
}

// mayLearn tells whether to ask again after an answer.
func (s *Session) mayLearn(err error) bool {
	if err == nil {
		return false
	}
	s.Log.Info("not everything is known about who runs Lockstep, and on which cluster", "error", err)
	return mayPass(err)
}

// mayPass tells whether a server may answer the same question later. It is asked only while it is seen, so an answer that is lost
// is not the last word either.
func mayPass(err error) bool {
	var api *core.APIError
	return !errors.As(err, &api) || api.MayPass() || api.Kind == core.ErrTimeout || api.Kind == core.ErrUnreachable
}
