package kubeapi

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// rbacKinds are the RBAC kinds. A user has the rights from bindings in addition to User.Rules.
func rbacKinds() []*resource {
	of := func(plural, kind string, namespaced bool, columns ...column) *resource {
		return &resource{GroupVersionResource: schema.GroupVersionResource{Group: rbacv1.GroupName, Version: "v1", Resource: plural},
			kind: kind, namespaced: namespaced, unconditional: true, columns: columns}
	}
	role := text("Role", func(_ *Server, content map[string]any) any {
		kind, _, _ := nested(content, "roleRef", "kind")
		name, _, _ := nested(content, "roleRef", "name")
		return fmt.Sprintf("%v/%v", kind, name)
	})
	subjects := func(name, kind string) column {
		return wide(text(name, func(_ *Server, content map[string]any) any {
			var all []string
			for _, subject := range entries(content, "subjects") {
				if subject["kind"] != kind {
					continue
				}
				called := fmt.Sprint(subject["name"])
				if kind == rbacv1.ServiceAccountKind {
					called = fmt.Sprintf("%v/%v", subject["namespace"], called)
				}
				all = append(all, called)
			}
			return strings.Join(all, ", ")
		}))
	}
	bound := []column{role, ageColumn, subjects("Users", rbacv1.UserKind), subjects("Groups", rbacv1.GroupKind),
		subjects("ServiceAccounts", rbacv1.ServiceAccountKind)}
	return []*resource{
		of("roles", "Role", true, createdAtColumn), of("clusterroles", "ClusterRole", false, createdAtColumn),
		of("rolebindings", "RoleBinding", true, bound...), of("clusterrolebindings", "ClusterRoleBinding", false, bound...),
	}
}

// grant holds the rights from one binding.
type grant struct {
	subjects []rbacv1.Subject
	rules    []Rule
	reason   string // names the binding and its role in the real server's words, without the subject
}

// grants holds the rights from the bindings in the store, compiled when the bindings or the roles change.
type grants struct {
	mu       sync.Mutex
	sequence [4]int // of the tables that they were compiled from
	all      []grant
	known    bool
}

// bindings returns the current grants.
func (s *Server) bindings() []grant {
	tables := [4]*table{}
	for i, plural := range []string{"clusterrolebindings", "rolebindings", "clusterroles", "roles"} {
		tables[i] = s.catalogue.find(schema.GroupVersionResource{Group: rbacv1.GroupName, Version: "v1", Resource: plural}).table
	}
	var now [4]int
	for i, t := range tables {
		now[i] = t.sequence()
	}
	s.grants.mu.Lock()
	defer s.grants.mu.Unlock()
	if !s.grants.known || s.grants.sequence != now {
		s.grants.all, s.grants.sequence, s.grants.known = compile(tables), now, true
	}
	return s.grants.all
}

// compile reads the bindings and the roles that they name. A binding to a missing role gives no rights.
func compile(tables [4]*table) []grant {
	var all []grant
	for _, o := range tables[0].list().objects {
		var binding rbacv1.ClusterRoleBinding
		if runtime.DefaultUnstructuredConverter.FromUnstructured(o.content, &binding) != nil {
			continue // a decoder has checked it
		}
		all = append(all, grant{binding.Subjects, roleRules(tables, binding.RoleRef, ""),
			fmt.Sprintf("ClusterRoleBinding %q of %s %q", binding.Name, binding.RoleRef.Kind, binding.RoleRef.Name)})
	}
	for _, o := range tables[1].list().objects {
		var binding rbacv1.RoleBinding
		if runtime.DefaultUnstructuredConverter.FromUnstructured(o.content, &binding) != nil {
			continue
		}
		all = append(all, grant{binding.Subjects, roleRules(tables, binding.RoleRef, binding.Namespace),
			fmt.Sprintf("RoleBinding \"%s/%s\" of %s %q", binding.Name, binding.Namespace, binding.RoleRef.Kind, binding.RoleRef.Name)})
	}
	return all
}

// roleRules returns the rules of a role, limited to the namespace of the binding if that is a RoleBinding.
func roleRules(tables [4]*table, ref rbacv1.RoleRef, namespace string) []Rule {
	var stored *object
	switch ref.Kind {
	case "ClusterRole":
		stored = tables[2].get(ref.Name)
	case "Role":
		stored = tables[3].get(key(namespace, ref.Name))
	}
	if stored == nil {
		return nil
	}
	var role rbacv1.ClusterRole // a Role has the same rules
	if runtime.DefaultUnstructuredConverter.FromUnstructured(stored.content, &role) != nil {
		return nil
	}
	var rules []Rule
	for _, rule := range role.Rules {
		given := Rule{PolicyRule: rule}
		if namespace != "" {
			given.Namespaces = []string{namespace}
		}
		rules = append(rules, given)
	}
	return rules
}

// subject returns the subject of a binding that matches the user, in the real server's words; "" for none.
func (g grant) subject(user User) string {
	for _, subject := range g.subjects {
		switch {
		case subject.Kind == rbacv1.UserKind && subject.Name == user.Name,
			subject.Kind == rbacv1.GroupKind && slices.Contains(user.Groups, subject.Name):
			return fmt.Sprintf("%s %q", subject.Kind, subject.Name)
		case subject.Kind == rbacv1.ServiceAccountKind && user.Name == "system:serviceaccount:"+subject.Namespace+":"+subject.Name:
			return fmt.Sprintf("%s %q", subject.Kind, subject.Name+"/"+subject.Namespace)
		}
	}
	return ""
}

// may tells whether the user has a right, and its origin.
func (s *Server) may(user User, a attributes) (allowed bool, reason string) {
	if allows(user.Rules, a) {
		return true, fmt.Sprintf("RBAC: allowed by the rules of user %q", user.Name)
	}
	for _, g := range s.bindings() {
		if subject := g.subject(user); subject != "" && allows(g.rules, a) {
			return true, fmt.Sprintf("RBAC: allowed by %s to %s", g.reason, subject)
		}
	}
	return false, ""
}

// rulesOf returns all rules of a user, from any origin.
func (s *Server) rulesOf(user User) []Rule {
	rules := slices.Clone(user.Rules)
	for _, g := range s.bindings() {
		if g.subject(user) != "" {
			rules = append(rules, g.rules...)
		}
	}
	return rules
}

// selectorText shows a workload's selector as kubectl does.
func selectorText(content map[string]any) string {
	value, _, _ := nested(content, "spec", "selector", "matchLabels")
	selector, _ := value.(map[string]any)
	return strings.TrimSpace(pairs(selector))
}
