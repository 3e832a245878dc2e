package nova

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lockstep/core"
)

// Nova silently leaves a cell out of its lists when the cell's database does not answer (nova.compute.multi_cell_list; from microversion
// 2.69 on it lists what little it knows of them). Such an answer is as good as any other to look at. So what a list does not show any more
// is asked for by itself: there Nova answers with an error.

// askedOfMissed is how many instances that a list of the whole cloud did not show are asked for, each of another host.
const askedOfMissed = 8

// cellAway is the failure of a list in which a cell seems to be missing.
func cellAway(call, message string) error {
	return &core.APIError{Kind: core.ErrServer, Server: core.ServerOpenStack, Call: call, Message: message,
		Remedy: "see whether the databases of Nova's cells answer: the log of nova-api says which did not"}
}

// keptMissed tells whether instances that a list of the whole cloud did not show are there nevertheless: one of them is.
func (l *instancePoll) keptMissed(ctx context.Context, ids []string) (bool, error) {
	slices.Sort(ids)
	asked := map[string]bool{}
	for _, id := range ids {
		host := l.known.At(id).Host
		if asked[host] || len(asked) == askedOfMissed {
			continue
		}
		asked[host] = true
		there, err := l.there(ctx, id, host)
		var api *core.APIError
		if errors.As(err, &api) && api.Kind == core.ErrTimeout {
			return true, nil // nothing says that they are gone, and a slow answer makes the list no worse
		}
		if there || err != nil {
			return there, err
		}
	}
	return false, nil
}

// there asks Nova for an instance, and tells whether it is on the host.
func (l *instancePoll) there(ctx context.Context, id, host string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, l.p.scaled(answerPatience))
	defer cancel()
	r, err := l.p.c.getServer(ctx, id)
	var api *core.APIError
	switch {
	case errors.As(err, &api) && api.Kind == core.ErrNotFound:
		return false, nil
	case err != nil:
		return false, err
	}
	// Nova lists no instance that was deleted softly.
	return !r.deleted() && r.VMState != "soft-delete" && r.Host.name == host, nil
}

// keep has missed instances stay known until the next list of the whole cloud.
func (l *instancePoll) keep(ids []string) (kept []core.Object) {
	for _, id := range ids {
		one := l.known.At(id)
		one.learned = l.step
		l.known.Put(one)
		kept = append(kept, one.Instance)
	}
	return kept
}

// emptied tells whether a host from which a list does not show instances any more is without them. It says no with a reason.
func (l *instancePoll) emptied(ctx context.Context, host string, missing []string) error {
	there, err := l.there(ctx, missing[0], host)
	if err == nil && there {
		err = cellAway("list instances of host "+host, fmt.Sprintf("the list does not show %s, which is there", missing[0]))
	}
	return err
}
