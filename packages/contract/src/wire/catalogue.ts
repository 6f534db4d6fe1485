/**
 * Every wire type by its name: what is round-tripped by the tests and published as JSON Schema.
 */
import {
  callerFactsWire,
  decisionWire,
  issuedCredentialWire,
  lendJobsWire,
  lentJobsWire,
  openSessionWire,
  openedSessionWire,
  remoteCheckWire,
  remoteDecisionWire,
  remoteRequireWire,
  remoteStateWire,
  remoteWaitWire,
  runtimeGrantWire,
  settleJobWire,
  settledJobWire,
  stateAnswerWire,
  waitAnswerWire,
} from "../call/remote-call.ts";
import { approvalWire, denialWire } from "./approval.ts";
import { errorBodyWire } from "./error-body.ts";
import {
  eventWire,
  permissionEvaluatedWire,
  permissionRequestedWire,
  permissionResolvedWire,
  policyChangedWire,
  policyRefusedWire,
  sandboxAppliedWire,
  sandboxViolationWire,
} from "./event.ts";
import { externalAccessCheckWire } from "./external-access-check.ts";
import { hostRuleWire } from "./host-rule.ts";
import { originWire, resumeWire, runtimeUserWire } from "./origin.ts";
import { pendingRequestWire, requestRecordWire } from "./pending-request.ts";
import {
  destructiveFactsWire,
  permissionDecisionWire,
  permissionStateWire,
  sandboxProfileWire,
} from "./permission-facts.ts";
import { accessRuleWire, requestedResourceWire, resourceWire } from "./resource.ts";
import { subjectFrameWire, subjectWire } from "./subject.ts";

export const WIRES = Object.freeze({
  subject: subjectWire,
  subject_frame: subjectFrameWire,
  resource: resourceWire,
  requested_resource: requestedResourceWire,
  access_rule: accessRuleWire,
  origin: originWire,
  resume: resumeWire,
  runtime_user: runtimeUserWire,
  destructive_facts: destructiveFactsWire,
  permission_state: permissionStateWire,
  permission_decision: permissionDecisionWire,
  sandbox_profile: sandboxProfileWire,
  pending_request: pendingRequestWire,
  request_record: requestRecordWire,
  approval: approvalWire,
  denial: denialWire,
  host_rule: hostRuleWire,
  external_access_check: externalAccessCheckWire,
  permission_evaluated: permissionEvaluatedWire,
  permission_requested: permissionRequestedWire,
  permission_resolved: permissionResolvedWire,
  sandbox_applied: sandboxAppliedWire,
  sandbox_violation: sandboxViolationWire,
  policy_changed: policyChangedWire,
  policy_refused: policyRefusedWire,
  event: eventWire,
  error_body: errorBodyWire,
  runtime_grant: runtimeGrantWire,
  issued_credential: issuedCredentialWire,
  remote_check: remoteCheckWire,
  remote_require: remoteRequireWire,
  remote_wait: remoteWaitWire,
  wait_answer: waitAnswerWire,
  remote_state: remoteStateWire,
  state_answer: stateAnswerWire,
  caller_facts: callerFactsWire,
  remote_decision: remoteDecisionWire,
  decision: decisionWire,
  lend_jobs: lendJobsWire,
  lent_jobs: lentJobsWire,
  settle_job: settleJobWire,
  settled_job: settledJobWire,
  open_session: openSessionWire,
  opened_session: openedSessionWire,
});

export type WireName = keyof typeof WIRES;
