package kube

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"lockstep/core"
)

// How many objects are requested in one page of a list. The size follows the speed of the line: a page that takes too long is
// requested again in smaller ones, and what has arrived stays.
const (
	firstPage    = 250
	largestPage  = 500
	smallestPage = 10

	pageTries = 5 // of one page, once others have come
)

// listed is a translated object of a list; the rest of the API's object is dropped with its page. The reflector takes it for an
// object of the API, and only passes it on.
type listed struct{ object core.Object }

// GetObjectKind implements runtime.Object.
func (l *listed) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject implements runtime.Object.
func (l *listed) DeepCopyObject() runtime.Object { return l }

// pageProgress is how far the reading of a list is.
type pageProgress struct {
	size    int64 // of the next page
	came    int   // objects of the list that is being read
	left    int64 // still to come, by the server; 0 when it does not say
	overdue bool  // the list is late, and the state says so
}

// List implements cache.ListerWatcher; the reflector calls ListWithContext.
func (s *stream) List(options metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(context.Background(), options)
}

// ListWithContext implements cache.ListerWatcherWithContext. It reads all pages by itself. Each has a deadline of its own, so the
// list arrives even over a line that takes minutes for it.
//
// It asks for no resourceVersion: with "0", the reflector's first, an API server ignores the limit and answers with the whole list
// at once (apiserver, storage/cacher). All pages are from one moment, unless they take longer than the server's history reaches
// back (five minutes in etcd). Then the rest is from a later moment, and the watch begins at the first page's version: it delivers
// what has changed since.
//
// The pods of one node are the exception. They come from the server's cache, all at once, and no older than the reflector says: the cache
// has them by node, and etcd would go through those of the whole cluster. A limit would ask for exactly that version, and of etcd.
func (s *stream) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	s.choose(&options)
	if options.Continue = ""; s.res.node == "" {
		options.ResourceVersion, options.ResourceVersionMatch = "", ""
	}
	list := &internalversion.List{}
	for failures := 0; ; {
		if options.Limit = s.pageSize(); s.res.node != "" && options.ResourceVersion != "" {
			options.Limit = 0
		}
		began := time.Now()
		page, err := s.page(ctx, options)
		if err != nil {
			next := restOf(err)
			if options.Continue == "" || ctx.Err() != nil || next == "" && !passing(err) || failures == pageTries {
				s.tookTooLong(err)
				return nil, err // the reflector looks at the type of the error
			}
			s.tookTooLong(err)
			if next != "" {
				options.Continue = next
			} else if sleep(ctx, s.backoff(failures)) != nil {
				return nil, err
			}
			failures++
			continue
		}
		failures = 0
		if list.ResourceVersion == "" {
			list.ResourceVersion = page.GetResourceVersion()
		}
		for i := range page.Items {
			list.Items = append(list.Items, &listed{s.res.translate(&page.Items[i])})
		}
		s.pageCame(page, len(list.Items), time.Since(began))
		if options.Continue = page.GetContinue(); options.Continue == "" {
			return list, nil
		}
		options.ResourceVersion = "" // it is a part of the token
	}
}

// page reads one page, with a deadline.
func (s *stream) page(ctx context.Context, options metav1.ListOptions) (*unstructured.UnstructuredList, error) {
	ctx, cancel := context.WithTimeout(ctx, s.opts.ListTimeout)
	defer cancel()
	return s.client.resource(s.res.gvr, s.res.namespace).List(ctx, options)
}

// passing tells whether the same request may succeed a moment later.
func passing(err error) bool {
	switch Describe(err, "").Kind {
	case core.ErrTimeout, core.ErrUnreachable, core.ErrServer, core.ErrTooManyRequests:
		return true
	}
	return false
}

// restOf is the token with which to continue a list whose first pages are too old for the server; empty when there is none.
func restOf(err error) string {
	var status apierrors.APIStatus
	if !apierrors.IsResourceExpired(err) && !apierrors.IsGone(err) || !errors.As(err, &status) {
		return ""
	}
	return status.Status().Continue
}

func (s *stream) pageSize() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pages.size == 0 {
		s.pages.size = firstPage
	}
	return s.pages.size
}

// tookTooLong makes the next page smaller, if the deadline was what failed.
func (s *stream) tookTooLong(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if Describe(err, "").Kind == core.ErrTimeout {
		s.pages.size = max(s.pages.size/4, smallestPage)
	}
}

// pageCame notes how far the list is, and how large the next page can be.
func (s *stream) pageCame(page *unstructured.UnstructuredList, came int, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &s.pages
	switch {
	case took > s.opts.ListTimeout/2:
		p.size = max(p.size/2, smallestPage)
	case took < s.opts.ListTimeout/8 && page.GetContinue() != "":
		p.size = min(p.size*2, largestPage)
	}
	p.came, p.left = came, 0
	if left := page.GetRemainingItemCount(); left != nil {
		p.left = *left
	}
	if page.GetContinue() != "" && p.overdue {
		s.tellOverdue()
	}
}

// tellOverdue reports that the list is late, and how far it is. The caller holds mu.
func (s *stream) tellOverdue() {
	e := &core.APIError{
		Kind: core.ErrTimeout, Server: core.ServerKubernetes, Call: s.res.call("list"),
		Message: fmt.Sprintf("no complete list within %s", s.opts.SyncDeadline),
		Remedy:  "The server is slow, or something on the way swallows the connection. Lockstep keeps trying.",
	}
	switch p := s.pages; {
	case p.left > 0:
		e.Message += fmt.Sprintf("; %d of %d have come", p.came, int64(p.came)+p.left)
		e.Remedy = "The line or the server is slow. What has come stays; the rest follows."
	case p.came > 0:
		e.Message += fmt.Sprintf("; %d have come", p.came)
		e.Remedy = "The line or the server is slow. What has come stays; the rest follows."
	}
	s.setState(s.downState(), e, time.Time{})
}
