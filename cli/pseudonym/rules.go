package pseudonym

// class says what a text is, and so what becomes of it.
type class int

// The classes.
const (
	nothing   class = iota // there is no rule: the text is left out
	own                    // MOSK's, Kubernetes' or OpenStack's own word, as a state or a release: words that Lockstep does not know go
	prose                  // a text: names in it get their pseudonyms, and words that Lockstep does not know go
	remark                 // what a person wrote: it is left out, unless a program always writes it
	id                     // an ID
	run                    // the ID of an operation, and after a slash the number of its item
	name                   // a name of the kind
	host                   // the name of a node or of its compute service, perhaps with a domain; or of a volume service there
	object                 // the name of a Kubernetes object, made of MOSK's words and of other names
	mixed                  // a name or an ID of anything
	key                    // a rule and, after a slash, what it is about
	namespace              //
	zone                   // an availability zone
	person                 // who did something
	reason                 // Kubernetes' or a person's reason in one word
	step                   // the ID of a step of an update plan
	label                  // the key of a label
	value                  // the value of a label
	image                  // an image with its tag
	tag                    // a tag of an instance
	lock                   // the text on a lock
	attempt                // the value of an annotation that the OpenStack controller reads
	setting                // the OpenStack controller's labels of the roles
)

// rule is what becomes of a field.
type rule struct {
	class class
	kind  string // of a name
}

// rules say for each field of what a recording has what its text is: "Type.Field", and "Type.Field key" for the keys of a map. A field of
// the metadata is the type's own or that of Meta. A field whose type has a name ("core.Stage") is a word of Lockstep's own where it
// has no rule.
var rules = map[string]rule{
	"Meta.Name": {class: object}, "Meta.Namespace": {class: namespace}, "Meta.UID": {class: id}, "Meta.ResourceVersion": {class: own},
	"Meta.Finalizers": {class: own},

	"Node.Name": {class: host}, "Node.ShortName": {class: host}, "Node.Ready": {class: own}, "Node.ReadyReason": {class: reason},
	"Node.Pressure": {class: own}, "Node.Labels key": {class: label}, "Node.Labels": {class: value},
	"Node.Annotations key": {class: own}, "Node.Annotations": {class: attempt}, "Node.KubeletVersion": {class: own},
	"Node.BootID": {class: id}, "Node.Played": {class: name, kind: "controller"},

	"WorkloadLock.Controller": {class: name, kind: "controller"}, "WorkloadLock.Node": {class: host},
	"WorkloadLock.Message": {class: lock}, "WorkloadLock.Release": {class: own}, "WorkloadLock.InnerState": {class: own},
	"WorkloadLock.Original key": {class: label}, "WorkloadLock.Original": {class: value},
	"InactivationProgress.Description": {class: prose}, "MaintenanceRequest.Node": {class: host},
	"MaintenanceRequest.Release": {class: own}, "MaintenanceRequest.MadeBy": {class: own}, "Tries.Purpose": {class: own},
	"Tries.Words": {class: prose}, "NodeNotice.Node": {class: host},

	"OpenStackStatus.Name": {class: name, kind: "deployment"}, "OpenStackStatus.State": {class: own},
	"OpenStackStatus.OpenStackVersion": {class: own}, "OpenStackStatus.ControllerVersion": {class: own},
	"OpenStackStatus.Release": {class: own}, "OpenStackStatus.Health": {class: own}, "OpenStackStatus.LCMProgress": {class: own},
	"OpenStackStatus.Cause": {class: prose}, "OpenStackStatus.Unhealthy": {class: own}, "OpenStackService.Name": {class: own},
	"OpenStackService.State": {class: own}, "OpenStackService.Release": {class: own},
	"OpenStackDeployment.Name": {class: name, kind: "deployment"}, "OpenStackDeployment.Services": {class: own},
	"OpenStackDeployment.Network": {class: own}, "OpenStackDeployment.Disks": {class: own},
	"OpenStackDeployment.NodeDisks key": {class: value}, "OpenStackDeployment.NodeDisks": {class: own},
	"Deployment.Image": {class: image}, "Deployment.RoleLabels": {class: setting},

	"NodePods.Node": {class: host}, "PodName.Namespace": {class: namespace}, "PodName.Name": {class: object},
	"EndedPod.Namespace": {class: namespace}, "EndedPod.Name": {class: object}, "EndedPod.UID": {class: id},
	"EndedPod.Phase": {class: own}, "EndedPod.Reason": {class: reason}, "EndedPod.Owner": {class: own},
	"DaemonSet.Application": {class: own}, "DaemonSet.Component": {class: own}, "DaemonSet.Selector": {class: value},
	"DaemonRevision.Owner": {class: id}, "DaemonRevision.Hash": {class: id}, "DaemonPod.Owner": {class: id},
	"DaemonPod.Set": {class: object}, "DaemonPod.Node": {class: host}, "DaemonPod.Hash": {class: id},
	"DaemonPod.Waits": {class: reason}, "DaemonPod.Claims": {class: object}, "StatefulSet.Selector": {class: value},
	"VolumeClaim.Volume": {class: object}, "PersistentVolume.Nodes": {class: host}, "Job.Message": {class: prose},
	"CephCluster.Health": {class: own}, "CephHealth.Name": {class: own}, "CephHealth.Severity": {class: own},
	"CephHealth.Message": {class: prose},

	"AlertmanagerPlace.Namespace": {class: namespace}, "AlertmanagerPlace.Service": {class: object},
	"AlertmanagerPlace.Port": {class: own}, "AlertmanagerPlace.Path": {class: object}, "Alert.Fingerprint": {class: id},
	"Alert.Labels key": {class: label}, "Alert.Labels": {class: value}, "Alert.Summary": {class: prose},
	"Alert.SilencedBy": {class: id}, "Silence.ID": {class: id}, "Silence.State": {class: own}, "Silence.By": {class: person},
	"Silence.Comment": {class: remark}, "Matcher.Name": {class: label}, "Matcher.Value": {class: value},

	"ComputeService.ID": {class: id}, "ComputeService.Host": {class: host}, "ComputeService.DisabledReason": {class: remark},
	"ComputeService.Zone": {class: zone}, "Instance.ID": {class: id}, "Instance.Name": {class: name, kind: "instance"},
	"Instance.ProjectID": {class: id}, "Instance.UserID": {class: id}, "Instance.Host": {class: host},
	"Instance.Status": {class: own}, "Instance.VMState": {class: own}, "Instance.TaskState": {class: own},
	"Instance.Tags": {class: tag}, "Instance.Zone": {class: zone}, "Instance.Fault": {class: prose},
	"Flavor.Name": {class: name, kind: "flavor"}, "Flavor.ExtraSpecs key": {class: own}, "Flavor.ExtraSpecs": {class: own},
	"Migration.UUID": {class: id}, "Migration.InstanceID": {class: id}, "Migration.Type": {class: own},
	"Migration.Status": {class: own}, "Migration.SourceHost": {class: host}, "Migration.DestHost": {class: host},
	"Migration.Failure": {class: prose}, "NetworkAgent.ID": {class: id}, "NetworkAgent.Host": {class: host},
	"NetworkAgent.Type": {class: own}, "NetworkAgent.Binary": {class: own}, "AgentLoad.Err": {class: prose}, "Router.ID": {class: id},
	"Router.Name": {class: name, kind: "router"}, "Network.ID": {class: id}, "Network.Name": {class: name, kind: "network"},
	"Project.ID": {class: id}, "Project.Name": {class: name, kind: "project"}, "VolumeService.Host": {class: host},
	"VolumeService.DisabledReason": {class: remark}, "VolumeService.Zone": {class: zone}, "HostVolumes.Host": {class: host},
	"Volume.ID": {class: id}, "Volume.Name": {class: name, kind: "volume"}, "Volume.Host": {class: host},
	"Volume.Instances": {class: id}, "Volume.Status": {class: own}, "Volume.ProjectID": {class: id},

	"ManagedCluster.Name": {class: name, kind: "cluster"}, "ManagedCluster.Target": {class: own},
	"ManagedCluster.Release": {class: own}, "ManagedCluster.Manages": {class: own}, "Condition.Type": {class: own},
	"Condition.Message": {class: prose}, "OfferedRelease.Name": {class: own}, "OfferedRelease.Version": {class: own},
	"ManagedMachine.Name": {class: host}, "ManagedMachine.Cluster": {class: name, kind: "cluster"},
	"ManagedMachine.Node": {class: host}, "ManagedMachine.Group": {class: object}, "ManagedMachine.Status": {class: own},
	"ManagedMachine.RebootReason": {class: prose}, "LCMCluster.Name": {class: name, kind: "cluster"},
	"LCMCluster.StuckMessage": {class: prose}, "LCMMachine.Name": {class: host}, "LCMMachine.Cluster": {class: name, kind: "cluster"},
	"LCMMachine.Kind": {class: own}, "LCMMachine.Hostname": {class: host}, "LCMMachine.State": {class: own},
	"LCMMachine.Release": {class: own}, "LCMMachine.AgentVersion": {class: own}, "LCMMachine.AgentError": {class: prose},
	"LCMMachine.Drain": {class: own}, "LCMMachine.DrainError": {class: prose}, "LCMMachine.SwarmDrain": {class: own},
	"LCMMachine.SwarmError": {class: prose}, "LCMMachine.RebootError": {class: prose}, "StateItem.Name": {class: own},
	"StateItem.Phase": {class: own}, "StateItem.Runner": {class: own}, "StateItem.Message": {class: prose},
	"DrainState.Cluster": {class: name, kind: "cluster"}, "DrainState.Type": {class: own}, "DrainState.Machine": {class: host},
	"DrainState.Wanted": {class: own}, "DrainState.Value": {class: own}, "DrainState.Message": {class: prose},
	"DrainState.Reason": {class: own}, "UpdatePlan.Cluster": {class: name, kind: "cluster"}, "UpdatePlan.Source": {class: own},
	"UpdatePlan.Target": {class: own}, "UpdatePlan.Status": {class: own}, "PlanStep.ID": {class: step},
	"PlanStep.Name": {class: prose}, "PlanStep.Granularity": {class: own}, "PlanStep.Users": {class: own},
	"PlanStep.Workloads": {class: own}, "PlanStep.Estimate": {class: own}, "PlanStep.Status": {class: own},
	"PlanStep.Message": {class: prose}, "PlanStep.Duration": {class: own}, "MachineGroup.Cluster": {class: name, kind: "cluster"},
	"AutoPause.Alerts": {class: value}, "AutoPause.Firing": {class: value}, "AutoPause.Error": {class: prose},
	"RebootRequest.Machines": {class: host}, "ManagementRelease.Version": {class: own}, "ManagementRelease.Supports": {class: own},
	"ManagementUpgrade.Next": {class: own}, "ManagementUpgrade.Message": {class: prose},

	"History.Stages key": {class: id}, "History.Courses key": {class: id}, "History.Locks key": {class: id},
	"History.LocksLately key": {class: id},
	"History.Outages key":     {class: id}, "History.Refused key": {class: id}, "History.Rounds key": {class: id},
	"History.Earlier key":  {class: id},
	"History.Foretold key": {class: prose}, "History.Changes key": {class: id}, "History.Tries key": {class: id},
	"History.Tags key": {class: id}, "History.Stopped key": {class: id}, "History.Cold key": {class: id},
	"History.Overrides key": {class: id}, "History.Silences key": {class: id}, "SilenceRecord.By": {class: person},
	"CourseStage.Why": {class: prose}, "LockRecord.Release": {class: own},
	"RefusalRecord.Text": {class: prose}, "Round.Request": {class: id}, "Round.Update": {class: id},
	"Standstill.Subject": {class: mixed}, "Standstill.Why": {class: prose}, "UpdateRecord.UID": {class: id},
	"UpdateRecord.Release": {class: own}, "UpdateRecord.From": {class: own}, "AnnotationChange.Node": {class: host},
	"AnnotationChange.Key": {class: own}, "AnnotationChange.Old": {class: attempt}, "AnnotationChange.New": {class: attempt},
	"AnnotationChange.By": {class: person}, "TagChange.Instance": {class: name, kind: "instance"}, "TagChange.By": {class: person},
	"StopRecord.Name": {class: name, kind: "instance"}, "StopRecord.By": {class: person},
	"ColdMigration.Name": {class: name, kind: "instance"}, "ColdMigration.From": {class: host}, "ColdMigration.By": {class: person},
	"Override.Text": {class: prose}, "Override.Request": {class: id}, "Override.By": {class: person},
	"Ref.Namespace": {class: namespace}, "Ref.Name": {class: mixed}, "Ref.UID": {class: id},

	"Operation.ID": {class: run}, "Operation.Step": {class: key}, "Operation.Title": {class: prose},
	"Operation.Label": {class: mixed}, "Operation.Node": {class: host}, "Operation.Instance": {class: id},
	"Operation.Text": {class: prose}, "Operation.Elsewhere": {class: person}, "Operation.Run": {class: run},
	"OperationItem.Label": {class: mixed}, "OperationItem.Instance": {class: id}, "OperationItem.Node": {class: host},
	"OperationItem.Text": {class: prose}, "Intent.Node": {class: host}, "Intent.Nodes": {class: host}, "Intent.Instance": {class: id},
	"Intent.Mode": {class: attempt}, "Intent.Reason": {class: remark}, "Intent.Release": {class: own},
	"Intent.Controller": {class: name, kind: "controller"}, "Intent.Workload": {class: mixed}, "Intent.PlanStep": {class: step},
	"Intent.Alerts": {class: value}, "Intent.Group": {class: object}, "WriteMode.Barred": {class: prose},
	"WriteMode.Lease": {class: person}, "WriteMode.Lost": {class: prose}, "Doing.Now": {class: prose}, "Doing.Last": {class: prose},
	"Doing.As": {class: prose}, "Note.ID": {class: id}, "Note.Text": {class: remark}, "Note.By": {class: person},
	"Note.Severity": {class: own}, "Note.Matter": {class: prose}, "NoteOn.Entry": {class: key}, "NoteOn.Node": {class: host},
	"NoteOn.Instance": {class: id}, "NoteOn.Label": {class: mixed}, "Identity.KubernetesUser": {class: person},
	"Identity.KubernetesGroups": {class: person}, "Identity.OpenStackUser": {class: person},
	"Identity.OpenStackProject": {class: name, kind: "project"}, "APIError.Call": {class: prose}, "APIError.Message": {class: prose},
	"APIError.Remedy": {class: prose},

	"ActAs.Controller": {class: name, kind: "controller"}, "ActAs.Namespace": {class: namespace}, "ActAs.Finalizer": {class: own},
	"RoleLabel.Key": {class: label}, "RoleLabel.Value": {class: value}, "ManagementPlace.Kubeconfig": {class: name, kind: "file"},
	"ManagementPlace.Context": {class: name, kind: "context"}, "ManagementPlace.Namespace": {class: namespace},
	"ManagementPlace.Cluster": {class: name, kind: "cluster"}, "ClusterPlace.Kubeconfig": {class: name, kind: "file"},
	"ClusterPlace.Context": {class: name, kind: "context"}, "ClusterPlace.Cloud": {class: name, kind: "cloud"},

	"Head.Version": {class: own}, "Head.Recording": {class: id}, "Head.Cluster": {class: name, kind: "cluster"},
	"Head.Operator": {class: person}, "Event.Kind": {class: own}, "Event.Text": {class: prose},

	"Record.By": {class: person}, "Record.Run": {class: run}, "Record.Cluster": {class: name, kind: "cluster"},
	"Record.UID": {class: id}, "Record.Version": {class: own}, "Record.Operation": {class: run}, "Record.Step": {class: key},
	"Record.Node": {class: host}, "Record.Label": {class: mixed}, "Record.Title": {class: prose}, "Record.Commands": {class: prose},
	"Record.Typed": {class: prose}, "Record.From": {class: prose}, "Record.To": {class: prose}, "Record.State": {class: own},
	"Record.Error": {class: prose}, "Record.Text": {class: prose}, "Record.Project": {class: name, kind: "project"},
	"Fact.Name": {class: prose}, "Fact.Value": {class: prose}, "Fact.Instance": {class: id}, "ActionBegun.Host": {class: host},
	"ActionBegun.Status": {class: own}, "EntryRecord.ID": {class: key}, "EntryRecord.Severity": {class: own},
	"EntryRecord.Label": {class: mixed}, "EntryRecord.Reason": {class: prose}, "EntryRecord.Cause": {class: key},
	"EntryRecord.Instance": {class: id}, "SeenTo.Operation": {class: run}, "SeenTo.By": {class: person},
	"SeenTo.Title": {class: prose}, "MoveRecord.Instance": {class: id}, "MoveRecord.Name": {class: name, kind: "instance"},
	"MoveRecord.Project": {class: name, kind: "project"}, "MoveRecord.Type": {class: own}, "MoveRecord.Status": {class: own},
	"MoveRecord.From": {class: host}, "MoveRecord.To": {class: host}, "MoveRecord.Text": {class: prose},
	"ItemRecord.Label": {class: mixed}, "ItemRecord.Instance": {class: id}, "ItemRecord.Node": {class: host},
	"ItemRecord.Text": {class: prose}, "PlanRecord.Update": {class: id}, "PlanRecord.Name": {class: object},
	"PlanRecord.UID": {class: id}, "PlanRecord.Source": {class: own}, "PlanRecord.Target": {class: own},
	"PlannedPart.ID": {class: step}, "PlannedPart.Title": {class: prose}, "PlannedPart.Granularity": {class: own},
	"PlannedPart.Estimate": {class: own}, "PlanStepRecord.Plan": {class: id}, "PlanStepRecord.ID": {class: step},
	"PlanStepRecord.Message": {class: prose}, "ForecastRecord.Update": {class: id}, "ForecastRecord.Moment": {class: step},
	"ForetoldRecord.Update": {class: id}, "ForetoldRecord.Kind": {class: own}, "ForetoldRecord.ID": {class: step},
	"Foretold.ID": {class: step}, "ForetoldRecord.Title": {class: prose},
	"Foretold.Update": {class: id}, "Foretold.Kind": {class: own}, "Foretold.Title": {class: prose},
	"ForecastPart.ID": {class: step}, "Record.Reconstructed": {class: own},
}
